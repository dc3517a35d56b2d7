/** The server is older than what Uptuple works with. */
export class ServerTooOldError extends Error {
  override name = "ServerTooOldError";
}

const OLDEST_MAJOR = 15;

/**
 * @param number `server_version_num`, such as 150018.
 * @param version `server_version`, for the message.
 * @throws {ServerTooOldError} If that is older than PostgreSQL 15.
 */
export function refuseOldServer(number: number, version: string): void {
  if (number >= OLDEST_MAJOR * 10_000) return;
  throw new ServerTooOldError(
    `The server is PostgreSQL ${version}, and Uptuple needs ${OLDEST_MAJOR} or newer: use another server, or leave ` +
      `DATABASE_URL unset to run the embedded one.`,
  );
}
