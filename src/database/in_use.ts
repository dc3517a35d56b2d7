import { findEmbeddedServer } from "./embedded.ts";

/**
 * The URL of the database in use: the configured one, or that of the program's own server while it runs.
 *
 * @param databaseUrl `DATABASE_URL`, or null.
 * @param dataDir Where the program's own server would be.
 * @throws {NoDatabaseError} If neither is there.
 */
export async function databaseInUse(databaseUrl: string | null, dataDir: string): Promise<string> {
  const url = databaseUrl ?? await findEmbeddedServer(dataDir);
  if (url !== null) return url;
  throw new NoDatabaseError(
    `DATABASE_URL is not set, and no PostgreSQL of ours runs on ${dataDir}: start the monitor with "deno task start".`,
  );
}

/** There is no database in use; the message says what to do. */
export class NoDatabaseError extends Error {
  override name = "NoDatabaseError";
}
