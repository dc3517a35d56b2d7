import { readConfig } from "../src/config.ts";
import { explainConnectionError } from "../src/database/connect.ts";
import { EmbeddedServerError, findEmbeddedServer, startEmbeddedServer } from "../src/database/embedded.ts";
import { migrate, MigrationError, type MigrationReport } from "../src/database/migrate.ts";
import { SqlFilesError } from "../src/database/sql_files.ts";

/**
 * Brings the schema to this program's release, and says what it did. Without DATABASE_URL it does so in the program's own
 * server, which it starts for the purpose if it does not run.
 */
async function main(): Promise<number> {
  if (Deno.args.length > 0) {
    console.error("deno task migrate    takes no arguments: DATABASE_URL says which database is meant");
    return 2;
  }
  let url = "";
  try {
    const { databaseUrl, dataDir } = readConfig((name) => Deno.env.get(name));
    const running = databaseUrl ?? await findEmbeddedServer(dataDir);
    const server = running === null ? await startEmbeddedServer({ dataDir }) : null;
    url = running ?? server?.url ?? "";
    try {
      for (const line of describe(await migrate(url))) console.log(line);
    } finally {
      await server?.stop();
    }
    return 0;
  } catch (error) {
    console.error(explain(error, url));
    return 1;
  }
}

/** What a migration did, for a person. */
function describe(report: MigrationReport): string[] {
  const lines = report.applied.map((path) => `applied ${path}`);
  if (report.defined.length > 0) {
    lines.push(`defined ${count(report.defined.length, "function or view", "functions and views")}`);
  }
  lines.push(...report.dropped.map((identity) => `dropped ${identity}`));
  if (report.missingRoles.length > 0) {
    lines.push(
      `${
        report.missingRoles.join(", ")
      } could not be created: what they would have been granted went to ${report.owner}. ` +
        `Migrate as a role with CREATEROLE to have them.`,
    );
  }
  switch (report.outcome) {
    case "migrated":
      lines.push(`The schema is of release ${report.release} now.`);
      break;
    case "current":
      lines.push(`The schema is of release ${report.release} already: nothing to do.`);
      break;
    case "newer":
      lines.push(
        `The schema is of release ${report.release}, newer than this program, which may run on it: nothing to do.`,
      );
      break;
    case "verified":
      lines.push("This login does not own the schema; its release fits this program.");
  }
  return lines;
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}

function explain(error: unknown, url: string): string {
  const speaksForItself = error instanceof MigrationError || error instanceof SqlFilesError ||
    error instanceof EmbeddedServerError;
  if (speaksForItself || url === "") return error instanceof Error ? error.message : String(error);
  return explainConnectionError(error, url);
}

if (import.meta.main) Deno.exit(await main());
