import { ServerTooOldError } from "./server_version.ts";
import { DatabaseUrlError, parseDatabaseUrl, redactDatabaseUrl } from "./url.ts";

/**
 * The database cannot be reached or does not answer. The call may or may not have taken effect; later calls use new
 * connections. The cause is what the driver said.
 */
export class DatabaseUnavailableError extends Error {
  override name = "DatabaseUnavailableError";
}

/** Errors of the driver that are about the call and not about the connection. */
const USAGE_CODES = new Set([
  "UNDEFINED_VALUE",
  "MAX_PARAMETERS_EXCEEDED",
  "NOT_TAGGED_CALL",
  "UNSAFE_TRANSACTION",
  "COPY_IN_PROGRESS",
]);

/**
 * Whether an error says that there is no usable connection, and with `kind` what to do about it: `broken` connections are
 * to be replaced, a `refused` login will be refused again on any connection. Null for errors of the statement itself.
 */
export function classifyConnectionError(error: unknown): "broken" | "refused" | null {
  const code = codeOf(error);
  if (code === null) return null;
  if (isServerError(error)) {
    // 25006: the server became a standby, and a pool may be tied to it while the primary is elsewhere.
    if (code.startsWith("08") || code.startsWith("57P") || code === "25006") return "broken";
    return code.startsWith("28") || code === "3D000" || code === "53300" ? "refused" : null;
  }
  return USAGE_CODES.has(code) ? null : "broken";
}

/**
 * Says in one sentence why a connection to a database failed, with the cure. The password is not in it.
 *
 * @param error What `connect`, `migrate` or the driver threw.
 * @param url The database URL that was used.
 */
export function explainConnectionError(error: unknown, url: string): string {
  if (error instanceof DatabaseUrlError || error instanceof ServerTooOldError) return error.message;
  if (error instanceof DatabaseUnavailableError && error.cause !== undefined) {
    return explainConnectionError(error.cause, url);
  }
  const message = withoutPassword(error instanceof Error ? error.message : String(error), url);
  let target;
  try {
    target = parseDatabaseUrl(url);
  } catch {
    return `The database cannot be used: ${message} (${redactDatabaseUrl(url)}).`;
  }
  const place = target.hosts.map((host, index) => `${host}:${target.ports[index]}`).join(", ");
  const code = codeOf(error);
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EAI_NONAME":
      return `The database host ${target.hosts.join(", ")} is not known: check the host in DATABASE_URL and your DNS.`;
    case "ECONNREFUSED":
      return `Nothing listens on ${place}: start PostgreSQL there, or correct host and port in DATABASE_URL.`;
    case "ENOENT":
      return `There is no server socket ${place}: start PostgreSQL there, or correct the host in DATABASE_URL.`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `There is no route to the database at ${place}: check the address in DATABASE_URL and the network.`;
    case "CONNECT_TIMEOUT":
    case "ETIMEDOUT":
    case "DEADLINE":
      return `The database at ${place} does not answer: check the address in DATABASE_URL, firewalls, and the server's load.`;
    case "28P01":
      return `The database at ${place} refused the password of user "${target.user}": correct it in DATABASE_URL, ` +
        `or set it there (alter role ... password ...).`;
    case "28000":
      return explainRefusedLogin(message, target.user, place);
    case "3D000":
      return `The database "${target.database}" does not exist at ${place}: create it (create database ...), ` +
        `or correct its name in DATABASE_URL.`;
    case "53300":
      return `The database at ${place} has no connection left (${message}): raise max_connections there, ` +
        `use a pooler, or run fewer programs.`;
    case "25006":
      return `The database at ${place} is read-only, as a standby is: point DATABASE_URL at the primary.`;
    case "57P03":
      return `The database at ${place} is starting up or shutting down: wait, or see its log.`;
    case "42501":
      return `User "${target.user}" lacks a privilege in "${target.database}" at ${place}: ${message}.`;
  }
  if (error instanceof Deno.errors.NotCapable) {
    return `Deno was not given the right to connect to ${place}: start with "deno run -P" or add --allow-net.`;
  }
  if (code === "08P01" && /ssl|tls/i.test(message) || code === "SSL_REQUIRED") return explainTlsRequired(place);
  if (/certificate|self.signed|CERT_|UNABLE_TO_|ALTNAME/i.test(`${code} ${message}`)) {
    return `The TLS certificate of the database at ${place} is not trusted (${message}): give its authority with ` +
      `sslrootcert=<file> in DATABASE_URL, or use sslmode=require to encrypt without checking it.`;
  }
  if (target.tls !== "disable" && target.tls !== "prefer" && isTlsFailure(code, message)) {
    return `The database at ${place} does not speak TLS, and DATABASE_URL asks for it (sslmode=${target.tls}): ` +
      `turn it on at the server (ssl = on), or use sslmode=disable on a network you trust.`;
  }
  if (code === "ECONNRESET" || code === "EPIPE" || code?.startsWith("CONNECTION_")) {
    return `The database at ${place} closed the connection (${message}): see its log, and that of any pooler before it.`;
  }
  return `The database at ${place} cannot be used: ${message}.`;
}

/** The code that the server or the driver gave an error, or null. */
export function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : null;
}

function isServerError(error: unknown): boolean {
  return error instanceof Error && error.name === "PostgresError";
}

function explainRefusedLogin(message: string, user: string, place: string): string {
  if (/no encryption|SSL off/i.test(message)) return explainTlsRequired(place);
  if (/does not exist/.test(message)) {
    return `The database at ${place} has no user "${user}": create it (create role ... login password ...), ` +
      `or correct the user in DATABASE_URL.`;
  }
  if (/not permitted to log in/.test(message)) {
    return `User "${user}" may not log in to the database at ${place}: alter role ... login, or use another user.`;
  }
  return `The database at ${place} refused user "${user}" (${message}): allow it in pg_hba.conf, ` +
    `or correct the user in DATABASE_URL.`;
}

function explainTlsRequired(place: string): string {
  return `The database at ${place} accepts only TLS connections from here: add sslmode=require to DATABASE_URL.`;
}

/** What a TLS handshake with a server that does not speak TLS looks like. */
function isTlsFailure(code: string | null, message: string): boolean {
  return /ECONNRESET|EPROTO|ERR_SSL|ERR_TLS|CONNECTION_CLOSED/.test(code ?? "") ||
    /tls|ssl|handshake|eof/i.test(message);
}

function withoutPassword(message: string, url: string): string {
  let password = "";
  try {
    password = parseDatabaseUrl(url).password;
  } catch {
    // Nothing is known of a URL that cannot be parsed; it is redacted as text.
  }
  const redacted = message.replaceAll(url, redactDatabaseUrl(url)).replace(/\.$/, "");
  return password.length < 3 ? redacted : redacted.replaceAll(password, "***");
}
