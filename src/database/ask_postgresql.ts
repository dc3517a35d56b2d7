import type { Socket } from "node:net";
import postgres from "postgres";
import { surviveDriverCrashes } from "./driver_crash.ts";
import { UNTYPED_OPTIONS } from "./client.ts";
import type { ConnectionTarget } from "./url.ts";

/** Why a PostgreSQL server was of no use. */
export class PostgresRefusal extends Error {
  override readonly name = "PostgresRefusal";

  /**
   * @param sqlState The server's code, such as `28P01`; null if the connection broke.
   * @param atLogin Whether that was before the server had let anybody in.
   */
  constructor(message: string, readonly sqlState: string | null, readonly atLogin: boolean) {
    super(message);
  }
}

/** A question to a PostgreSQL server that is no database of this program's own. */
export interface PostgresQuestion {
  target: ConnectionTarget;
  /** Called when the server has let us in and is asked. */
  onQuery: () => void;
}

/**
 * Logs in over a socket that is connected already, asks `select 1`, and logs out. The socket is closed whatever comes of it.
 *
 * @param socket Connected, in TLS where that is wanted. Destroying it ends the call.
 * @returns The server's version, such as `18.1`.
 * @throws {PostgresRefusal} If the server refuses the login or the query, or the connection breaks.
 */
export async function askPostgresql(socket: Socket, { target, onQuery }: PostgresQuestion): Promise<string> {
  surviveDriverCrashes();
  const seen = { version: "", letIn: false };
  let taken = false;
  const sql = postgres(
    {
      host: target.hosts as unknown as string,
      port: target.ports as unknown as number,
      // The driver would connect a second time where the first connection ended.
      socket: () => {
        if (taken) throw new Error("the connection ended");
        taken = true;
        return socket;
      },
      user: target.user,
      password: () => target.password,
      database: target.database,
      ssl: false,
      max: 1,
      connect_timeout: 0,
      idle_timeout: 0,
      max_lifetime: null,
      keep_alive: null,
      prepare: false,
      fetch_types: false,
      publications: "",
      debug: false,
      backoff: () => 0,
      ...UNTYPED_OPTIONS,
      connection: { application_name: "uptuple check" },
      onnotice: () => {},
      onparameter: (name, value) => {
        if (name === "server_version") seen.version = String(value);
        // Parameters are told once the login is done.
        if (seen.letIn) return;
        seen.letIn = true;
        onQuery();
      },
    } as postgres.Options<Record<never, never>> & { socket: () => Socket },
  );
  try {
    await sql`select 1`.simple();
    return seen.version;
  } catch (error) {
    const sqlState = error instanceof postgres.PostgresError ? error.code : null;
    throw new PostgresRefusal(error instanceof Error ? error.message : String(error), sqlState, !seen.letIn);
  } finally {
    // Not waited for: what a server does with a farewell is no part of the check.
    sql.end({ timeout: 0 }).catch(() => {});
    socket.destroy();
  }
}
