import type { Sql } from "./client.ts";
import { classifyConnectionError, codeOf } from "./connection_errors.ts";
import { MigrationError } from "./migration_error.ts";
import type { SqlFile } from "./sql_files.ts";

/** A piece of a step's SQL, and the file it is the text of. */
export interface Piece {
  text: string;
  file?: SqlFile;
}

/** What steps run on. */
export interface StepContext {
  sql: Sql;
  /** How long a statement may wait for a lock on an object in use, in ms. */
  lockTimeoutMs: number;
  /** The file whose statements the server was last heard to reach; `noteReached` writes it. */
  reached: { path: string | null };
}

/** One migrator at a time in a database. The number spells "uptuple". */
const LOCK = "33056217763966053";
/** How long to wait for another migrator to finish its step, in ms. */
const OTHER_MIGRATOR_TIMEOUT_MS = 300_000;
/** Raised by a step that finds another generation than it was planned for. */
const OVERTAKEN = "UT900";
/** What passes by itself: a lock held too long, a deadlock, a catalog row that a sibling database's migrator wrote too. */
const PASSING = new Set(["55P03", "40P01", "XX000", "23505", "42710"]);
const ATTEMPTS = 10;
/** Starts the notices by which a step tells which file it has come to. */
const REACHED = "uptuple migrator reached ";

/** Takes note of a server's notice that a step has come to a file. */
export function noteReached(reached: StepContext["reached"], message: string | undefined): void {
  if (message?.startsWith(REACHED)) reached.path = message.slice(REACHED.length);
}

/**
 * Runs SQL as one transaction, which is one message to the server, under the migrators' lock.
 *
 * @param planned The state that the SQL was planned for; null for SQL that fits any.
 * @returns False if another migrator has changed that state, and nothing was done.
 * @throws {MigrationError} If the SQL fails.
 */
export async function step(
  { sql, lockTimeoutMs, reached }: StepContext,
  planned: { generation: string } | null,
  pieces: Piece[],
): Promise<boolean> {
  const message = compose([
    { text: "set local client_min_messages = notice" },
    { text: "set local statement_timeout = 0" },
    { text: "set local search_path = pg_catalog, pg_temp" },
    { text: `set local lock_timeout = ${OTHER_MIGRATOR_TIMEOUT_MS}` },
    { text: `select pg_advisory_xact_lock(${LOCK})` },
    { text: `set local lock_timeout = ${lockTimeoutMs}` },
    ...(planned === null ? [] : [{ text: refuseOtherGeneration(planned.generation) }]),
    ...pieces,
  ]);
  for (let attempt = 1;; attempt++) {
    reached.path = null;
    try {
      await sql.unsafe(message.text);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === OVERTAKEN) return false;
      if (code === null || classifyConnectionError(error) !== null) throw error;
      if (attempt >= ATTEMPTS || !PASSING.has(code)) throw explainFailure(error, message, reached.path);
      await new Promise((done) => setTimeout(done, 100 + Math.random() * 400));
    }
  }
}

/** The SQL of a step, and where in it each file begins. */
interface Message {
  text: string;
  starts: { file: SqlFile; at: number; end: number }[];
}

function compose(pieces: Piece[]): Message {
  const message: Message = { text: "", starts: [] };
  for (const { text, file } of pieces) {
    if (file !== undefined) {
      message.text += `do $reached$ begin raise notice '%', ${quote(REACHED + file.path)}; end $reached$;\n`;
      message.starts.push({ file, at: message.text.length, end: message.text.length + text.length });
    }
    message.text += `${text}\n;\n`;
  }
  return message;
}

function explainFailure(error: unknown, message: Message, reached: string | null): MigrationError {
  const { position, detail, hint, where } = error as {
    position?: string;
    detail?: string;
    hint?: string;
    where?: string;
  };
  // The server counts characters, JavaScript UTF-16 units.
  const at = position === undefined ? -1 : Array.from(message.text).slice(0, Number(position) - 1).join("").length;
  const start = message.starts.find((candidate) => candidate.at <= at && at < candidate.end);
  const line = start === undefined ? "" : `:${message.text.slice(start.at, at).split("\n").length}`;
  const place = start !== undefined ? `sql/${start.file.path}${line}: ` : reached !== null ? `sql/${reached}: ` : "";
  const more = [["detail", detail], ["hint", hint], ["where", where]].filter(([, text]) => text !== undefined)
    .map(([name, text]) => `\n  ${name}: ${text}`).join("");
  return new MigrationError(`${place}${(error as Error).message}${more}`, { cause: error });
}

function refuseOtherGeneration(generation: string): string {
  return `do $guard$
begin
  if (select generation from uptuple.installation) <> ${generation} then
    raise exception 'another migrator was quicker' using errcode = '${OVERTAKEN}';
  end if;
end
$guard$`;
}

/** A string literal. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A quoted name. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
