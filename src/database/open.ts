import type { Config } from "../config.ts";
import { connect, type Database, explainConnectionError } from "./connect.ts";
import { type EmbeddedServer, EmbeddedServerError, startEmbeddedServer } from "./embedded.ts";
import { migrate, type MigrationReport, verifySchema } from "./migrate.ts";
import { MigrationError } from "./migration_error.ts";
import { ServerTooOldError } from "./server_version.ts";
import { SqlFilesError } from "./sql_files.ts";
import { DatabaseUrlError } from "./url.ts";

/** The database is open, and its schema is one that this program can run on. */
export interface OpenDatabase {
  database: Database;
  /** Where it is, for connections of one's own. */
  url: string;
  /** What was done to the schema, or null if it was only verified. */
  migration: MigrationReport | null;
  /** The program's own server, or null if `DATABASE_URL` names one. */
  server: EmbeddedServer | null;
}

/** The program cannot go on. The message is one sentence with the cure. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/**
 * Starts the program's own PostgreSQL unless the configuration names a server, brings the schema to this release or verifies it, and
 * connects.
 *
 * @param stopping Ends it early: what was begun is undone.
 * @throws {StartError} If anything of that fails, or is ended; nothing is left running.
 */
export async function openDatabase(config: Config, stopping: AbortSignal): Promise<OpenDatabase> {
  let server: EmbeddedServer | null = null;
  let url = config.databaseUrl;
  try {
    if (url === null) {
      server = await startEmbeddedServer({ dataDir: config.dataDir });
      url = server.socketUrl ?? server.url;
    }
    stopping.throwIfAborted();
    const migration = config.migrate ? await unlessStopped(migrate(url), stopping) : null;
    const database = connect({ url, applicationName: `uptuple ${config.worker}` });
    if (migration === null) await verifyOrClose(database);
    return { database, url, migration, server };
  } catch (error) {
    await server?.stop();
    throw explainStart(error, url ?? "");
  }
}

/** @throws The signal's reason, as soon as it aborts. */
async function unlessStopped<Result>(work: Promise<Result>, stopping: AbortSignal): Promise<Result> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(stopping.reason);
  stopping.addEventListener("abort", stop);
  // Both may fail when nobody waits for them any more.
  work.catch(() => {});
  stopped.catch(() => {});
  try {
    return await Promise.race([work, stopped]);
  } finally {
    stopping.removeEventListener("abort", stop);
  }
}

async function verifyOrClose(database: Database): Promise<void> {
  try {
    await verifySchema(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function explainStart(error: unknown, url: string): StartError {
  const known = [EmbeddedServerError, MigrationError, ServerTooOldError, SqlFilesError, DatabaseUrlError];
  const message = error instanceof Error && known.some((kind) => error instanceof kind)
    ? error.message
    : explainConnectionError(error, url);
  return new StartError(message, { cause: error });
}
