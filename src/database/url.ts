/** How a connection uses TLS; libpq's `sslmode`. */
export type TlsMode = "disable" | "prefer" | "require" | "verify-ca" | "verify-full";

/** Where and as whom to connect: a database URL, taken apart. */
export interface ConnectionTarget {
  /** Names, addresses, or one directory of a unix socket (it starts with `/`). Tried in this order. */
  hosts: string[];
  /** One for each host. */
  ports: number[];
  user: string;
  /** Empty when the URL has none. */
  password: string;
  database: string;
  tls: TlsMode;
  /** A file with the certificate authorities to trust (`sslrootcert`), or null for the system's. */
  rootCertificates: string | null;
  /** True when a pooler hands each transaction to another server connection: nothing may outlive a statement. */
  transactionPooler: boolean;
  /** `application_name` of the URL, which wins over the program's own. */
  applicationName: string | null;
  /** `options` of the URL, such as `-c search_path=...` or an endpoint's name. */
  serverOptions: string | null;
  /** Which of several hosts to keep, such as `read-write`; null for the first that answers. */
  targetSessionAttributes: SessionAttributes | null;
}

const SESSION_ATTRIBUTES = ["read-write", "read-only", "primary", "standby", "prefer-standby"] as const;
/** libpq's `target_session_attrs`, without `any`. */
export type SessionAttributes = typeof SESSION_ATTRIBUTES[number];

/** A database URL that cannot be used. The message says what is wrong with it and never holds the password. */
export class DatabaseUrlError extends Error {
  override name = "DatabaseUrlError";
}

const EXAMPLE = "postgres://user:password@host:5432/database";
const TLS_MODES: ReadonlySet<string> = new Set(["disable", "prefer", "require", "verify-ca", "verify-full"]);

/**
 * Takes a database URL apart, the way libpq reads it: several hosts, percent-encoded parts, a unix socket's directory as
 * `?host=/directory` or as the encoded host. Parameters that only other drivers know are ignored.
 *
 * @param url `postgres://user:password@host:5432/database?sslmode=...`
 * @throws {DatabaseUrlError} If it cannot be used; the message names the part and the cure.
 */
export function parseDatabaseUrl(url: string): ConnectionTarget {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    throw new DatabaseUrlError(`The database URL has no scheme: it should look like ${EXAMPLE}.`);
  }
  if (scheme !== "postgres" && scheme !== "postgresql") {
    throw new DatabaseUrlError(
      `The database URL starts with "${scheme}:", and only PostgreSQL is supported: it should look like ${EXAMPLE}.`,
    );
  }
  const parts = /^[a-z]+:\/\/(?:([^@/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(url);
  // An "@" after the host's place: the password holds a character that ended the login too early.
  if (parts === null || (parts[1] === undefined && url.includes("@"))) {
    throw new DatabaseUrlError(
      `The database URL cannot be read: it should look like ${EXAMPLE}, with "@", "/", "?" and "#" in a password ` +
        `written as %40, %2F, %3F and %23.`,
    );
  }
  const [, login = "", authority = "", path = "", query = ""] = parts;
  const parameters = new URLSearchParams(query);
  const colon = login.indexOf(":");
  const user = parameters.get("user") ?? decode(colon < 0 ? login : login.slice(0, colon), "user");
  if (user === "") {
    throw new DatabaseUrlError(`The database URL names no user: it should look like ${EXAMPLE}.`);
  }
  const { hosts, ports } = parseHosts(parameters.get("host"), parameters.get("port"), authority);
  const sslRoot = parameters.get("sslrootcert");
  return {
    hosts,
    ports,
    user,
    password: parameters.get("password") ?? (colon < 0 ? "" : decode(login.slice(colon + 1), "password")),
    database: parameters.get("dbname") ?? (decode(path, "database") || user),
    tls: parseTlsMode(parameters.get("sslmode"), sslRoot, hosts),
    rootCertificates: sslRoot === "system" ? null : sslRoot,
    transactionPooler: parameters.get("pgbouncer") === "true" || ports.includes(6543) ||
      hosts.some((host) => host.includes("-pooler.")),
    applicationName: parameters.get("application_name"),
    serverOptions: parameters.get("options"),
    targetSessionAttributes: parseSessionAttributes(parameters.get("target_session_attrs")),
  };
}

/** The URL with its password replaced by `***`, for logs and messages. Also of a URL that cannot be parsed. */
export function redactDatabaseUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^:/@?#]*):.*@/i, "$1:***@")
    .replace(/([?&]password=)[^&#]*/gi, "$1***");
}

/** The URL of another database of the same server, with the same login. */
export function withDatabase(url: string, database: string): string {
  const [base = "", query] = splitOnce(url, "?");
  const start = base.indexOf("://") + 3;
  const slash = base.indexOf("/", start);
  const server = slash < 0 ? base : base.slice(0, slash);
  return `${server}/${encodeURIComponent(database)}${query === undefined ? "" : `?${query}`}`;
}

/** The URL of the same database with another login. */
export function withLogin(url: string, user: string, password: string): string {
  const start = url.indexOf("://") + 3;
  const rest = url.slice(start).replace(/^[^@/?#]*@/, "");
  return `${url.slice(0, start)}${encodeURIComponent(user)}:${encodeURIComponent(password)}@${rest}`;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

function decode(text: string, part: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlError(
      `The ${part} in the database URL has a "%" that starts no percent-encoded character: write "%" as %25.`,
    );
  }
}

function parseHosts(
  hostParameter: string | null,
  portParameter: string | null,
  authority: string,
): { hosts: string[]; ports: number[] } {
  const hosts: string[] = [];
  const ports: number[] = [];
  const commonPort = portParameter === null ? 5432 : parsePort(portParameter);
  for (const entry of (hostParameter ?? authority).split(",")) {
    const [, bracketed, plain = "", port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/.exec(entry) ?? [];
    const host = decode(bracketed ?? plain, "host");
    hosts.push(host === "" ? "localhost" : host);
    ports.push(port === undefined || port === "" ? commonPort : parsePort(port));
  }
  if (hosts.length > 1 && hosts.some((host) => host.startsWith("/"))) {
    throw new DatabaseUrlError("The database URL mixes a socket directory with other hosts: name only one of them.");
  }
  return { hosts, ports };
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port >= 1 && port <= 65535)) {
    throw new DatabaseUrlError(`The port in the database URL is "${text}": it must be a number from 1 to 65535.`);
  }
  return port;
}

/** As libpq: TLS is tried where a network lies between, and never forced unless the URL asks for it. */
function parseTlsMode(mode: string | null, sslRoot: string | null, hosts: string[]): TlsMode {
  if (mode === null) {
    if (sslRoot !== null) return "verify-full";
    return hosts.every(isLocal) ? "disable" : "prefer";
  }
  if (mode === "allow") return "prefer";
  if (!TLS_MODES.has(mode)) {
    throw new DatabaseUrlError(
      `sslmode in the database URL is "${mode}": it must be disable, prefer, require, verify-ca or verify-full.`,
    );
  }
  return mode as TlsMode;
}

function parseSessionAttributes(value: string | null): SessionAttributes | null {
  if (value === null || value === "any") return null;
  const known = SESSION_ATTRIBUTES.find((attribute) => attribute === value);
  if (known === undefined) {
    throw new DatabaseUrlError(
      `target_session_attrs in the database URL is "${value}": it must be any, ${SESSION_ATTRIBUTES.join(", ")}.`,
    );
  }
  return known;
}

function isLocal(host: string): boolean {
  return host.startsWith("/") || host === "localhost" || host === "::1" || host.startsWith("127.");
}
