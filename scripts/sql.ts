import { readConfig } from "../src/config.ts";
import { openClient, type Sql } from "../src/database/client.ts";
import { explainConnectionError } from "../src/database/connect.ts";
import { databaseInUse } from "../src/database/in_use.ts";
import { splitStatements } from "../src/database/sql_text.ts";

/** What one statement gave, as text. */
interface Outcome {
  command: string;
  /** How many rows it concerned; null where that means nothing. */
  count: number | null;
  /** Empty if the statement gives no rows. */
  columns: { name: string; type: number }[];
  rows: (string | null)[][];
}

/** What the server says of a statement that failed. */
interface ServerError {
  message: string;
  code: string;
  detail?: string;
  hint?: string;
  where?: string;
  /** In characters, from 1. */
  position?: string;
}

const USAGE = 'deno task sql "select * from uptuple.status"    or SQL on standard input';
/** Types whose values are aligned to the right: integers, floats, numeric, oid. */
const NUMERIC_TYPES = new Set([20, 21, 23, 26, 700, 701, 1700]);

/** Runs SQL statements one after another, up to the first that fails, and prints what psql would. */
async function main(args: string[]): Promise<number> {
  const asksForHelp = args.length === 1 && (args[0] === "--help" || args[0] === "-h");
  if (asksForHelp || args.length === 0 && Deno.stdin.isTerminal()) {
    console.error(USAGE);
    return 2;
  }
  const text = args.length > 0 ? args.join(" ") : await new Response(Deno.stdin.readable).text();
  const { databaseUrl, dataDir } = readConfig((name) => Deno.env.get(name));
  const url = await databaseInUse(databaseUrl, dataDir);
  const sql = openClient(url, {
    maxConnections: 1,
    applicationName: "uptuple sql",
    onNotice: ({ severity, message }) => console.error(`${severity}:  ${message}`),
  });
  try {
    for (const statement of splitStatements(text)) {
      try {
        console.log(formatOutcome(await run(sql, statement.text)));
      } catch (error) {
        console.error(
          isServerError(error) ? formatError(error, text, statement.start) : explainConnectionError(error, url),
        );
        return 1;
      }
    }
    return 0;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function run(sql: Sql, statement: string): Promise<Outcome> {
  const result = await sql.unsafe(statement).raw();
  // In raw mode a value is the bytes of its text; the driver's types put the list at the wrong place.
  const rows = Array.from(result) as unknown as (Uint8Array | null)[][];
  const decoder = new TextDecoder();
  return {
    command: result.command,
    count: result.count,
    columns: (result.columns ?? []).map(({ name, type }) => ({ name, type })),
    rows: rows.map((row) => row.map((value) => value === null ? null : decoder.decode(value))),
  };
}

/** A table as psql prints it, or the command's tag for a statement without rows. */
export function formatOutcome({ command, count, columns, rows }: Outcome): string {
  if (columns.length === 0) return count === null ? command : `${command} ${count}`;
  const cells = rows.map((row) => row.map((value) => (value ?? "null").split("\n")));
  const widths = columns.map(({ name }, index) =>
    Math.max(width(name), ...cells.flatMap((row) => (row[index] ?? []).map(width)))
  );
  const line = (values: string[], right: boolean) =>
    values.map((value, index) => {
      const gap = " ".repeat((widths[index] ?? 0) - width(value));
      return right && NUMERIC_TYPES.has(columns[index]?.type ?? 0) ? ` ${gap}${value} ` : ` ${value}${gap} `;
    }).join("|").trimEnd();
  const body = cells.flatMap((row) => {
    const height = Math.max(...row.map((cell) => cell.length));
    return Array.from({ length: height }, (_, at) => line(row.map((cell) => cell[at] ?? ""), true));
  });
  return [
    line(columns.map(({ name }) => name), false),
    widths.map((size) => "-".repeat(size + 2)).join("+"),
    ...body,
    `(${rows.length} ${rows.length === 1 ? "row" : "rows"})\n`,
  ].join("\n");
}

/**
 * The error as psql shows it, with the line it is in.
 *
 * @param text All that was asked for.
 * @param start Where in it the statement that failed begins.
 */
export function formatError(error: ServerError, text: string, start: number): string {
  const lines = [`ERROR:  ${error.message} (${error.code})`];
  if (error.position !== undefined) {
    const before = text.slice(0, start) + Array.from(text.slice(start)).slice(0, Number(error.position) - 1).join("");
    const number = before.split("\n").length;
    const column = before.length - before.lastIndexOf("\n") - 1;
    const label = `LINE ${number}: `;
    lines.push(label + (text.split("\n")[number - 1] ?? ""), " ".repeat(label.length + column) + "^");
  }
  if (error.detail !== undefined) lines.push(`DETAIL:  ${error.detail}`);
  if (error.hint !== undefined) lines.push(`HINT:  ${error.hint}`);
  if (error.where !== undefined) lines.push(`CONTEXT:  ${error.where}`);
  return lines.join("\n");
}

function width(text: string): number {
  return Array.from(text).length;
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && error.name === "PostgresError" && "routine" in error;
}

if (import.meta.main) {
  try {
    Deno.exit(await main(Deno.args));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
