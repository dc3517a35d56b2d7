import postgres from "postgres";
import { surviveDriverCrashes } from "./driver_crash.ts";
import { type ConnectionTarget, parseDatabaseUrl } from "./url.ts";

/** A postgres.js client: a tagged template that runs one statement on one of its connections. */
// deno-lint-ignore ban-types
export type Sql = postgres.Sql<{}>;

/** What a client may be told beside its URL. */
export interface ClientOptions {
  /** How many connections it may open. */
  maxConnections: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** The server ends a statement after this long, in ms; 0 for never. Not sent to a transaction pooler, which refuses it. */
  statementTimeoutMs?: number;
  /** How long to wait for a connection, in ms. */
  connectTimeoutMs?: number;
  /** Close a connection that was idle for this long, in ms; 0 for never. */
  idleTimeoutMs?: number;
  /** Called with each notice of the server; they are dropped otherwise. */
  onNotice?: (notice: { severity?: string; message?: string }) => void;
}

/** Options of postgres.js 3.4 that its types do not have like this; left out, it would take them from the environment. */
export const UNTYPED_OPTIONS: object = { max_pipeline: 100, sslnegotiation: null, target_session_attrs: null };

/**
 * Opens a client. Nothing connects before the first statement. Every option is given here, so that neither the process's
 * `PG*` variables nor parameters of the URL that the server does not know can change a connection.
 *
 * @throws {DatabaseUrlError} If the URL cannot be used.
 */
export function openClient(url: string, options: ClientOptions): Sql {
  const target = parseDatabaseUrl(url);
  surviveDriverCrashes();
  const seconds = (ms: number | undefined, otherwise: number) => ms === undefined ? otherwise : ms / 1000;
  return postgres({
    // Lists, although the types say one: postgres.js would split a single IPv6 address at its colons.
    host: target.hosts as unknown as string,
    port: target.ports as unknown as number,
    ...(target.hosts[0]?.startsWith("/") ? { path: `${target.hosts[0]}/.s.PGSQL.${target.ports[0]}` } : {}),
    user: target.user,
    // As a function, or an empty one would be taken from the environment.
    password: () => target.password,
    database: target.database,
    ssl: tlsOptions(target),
    max: options.maxConnections,
    connect_timeout: seconds(options.connectTimeoutMs, 10),
    idle_timeout: seconds(options.idleTimeoutMs, 0),
    max_lifetime: 45 * 60,
    keep_alive: 30,
    prepare: !target.transactionPooler,
    backoff: () => 0.1 + Math.random() * 0.2,
    debug: false,
    fetch_types: true,
    publications: "",
    ...UNTYPED_OPTIONS,
    ...(target.targetSessionAttributes === null ? {} : { target_session_attrs: target.targetSessionAttributes }),
    onnotice: options.onNotice ?? (() => {}),
    connection: {
      application_name: target.applicationName ?? options.applicationName,
      ...(target.serverOptions === null ? {} : { options: target.serverOptions }),
      ...(target.transactionPooler || !options.statementTimeoutMs
        ? {}
        : { statement_timeout: options.statementTimeoutMs }),
    },
  });
}

function tlsOptions(target: ConnectionTarget): boolean | "prefer" | "require" | Record<string, unknown> {
  if (target.tls === "disable" || target.hosts[0]?.startsWith("/")) return false;
  if (target.tls === "prefer" || target.tls === "require") return target.tls;
  return {
    ...(target.rootCertificates === null ? {} : { ca: Deno.readTextFileSync(target.rootCertificates) }),
    ...(target.tls === "verify-ca" ? { checkServerIdentity: () => undefined } : {}),
  };
}
