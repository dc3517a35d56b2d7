import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { askPostgresql, PostgresRefusal } from "../../database/ask_postgresql.ts";
import { type ConnectionTarget, DatabaseUrlError, parseDatabaseUrl } from "../../database/url.ts";
import { type Expansion, namesSecret } from "../../secrets.ts";
import { within } from "../deadline.ts";
import { dial, type DialContext, upgradeToTls } from "../dial.ts";
import { errorText, ProbeFailure, RuntimeFault } from "../failure.ts";
import type { ErrorCode } from "../observation.ts";
import { type TlsConfig, type TlsSettings, tlsSettings } from "../tls_settings.ts";
import type { Facts } from "./facts.ts";

/** How the server's certificate is judged. */
export interface PostgresqlConfig {
  /** Given, the connection must be in TLS and the certificate must be trusted, whatever the `sslmode` of the URL. */
  tls?: TlsConfig | null;
  insecure?: boolean;
}

/** Asks a server to go on in TLS: length, and a number that is no version of the protocol. */
const SSL_REQUEST = new Uint8Array([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);
const YES = "S".charCodeAt(0);
const NO = "N".charCodeAt(0);

/**
 * Logs in to a PostgreSQL server, asks `select 1`, and logs out. The connection is made as those of the other kinds are, so that the
 * network policy sees the address; the driver speaks over it.
 *
 * @param target `postgresql://user:password@host:5432/database?sslmode=...`, or `postgresql:` and a secret that is such a URL.
 * @throws {ProbeFailure} For anything that keeps the server from answering the query.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function probePostgresql(
  target: string,
  config: PostgresqlConfig,
  expansion: Expansion,
  context: DialContext,
): Promise<Facts> {
  const server = connectionTarget(target, expansion);
  const hostname = server.hosts[0] ?? "";
  const port = server.ports[0] ?? 5432;
  const { deadline } = context;

  let socket = await dial({ hostname, port }, context);
  try {
    const tls = tlsFor(server, config, expansion);
    if (tls !== null && await agreesToTls(socket, server.tls === "prefer" && !config.tls, context)) {
      socket = await upgradeToTls(socket, { hostname, port, tls }, context);
    }
    deadline.phase = "login";
    const version = await within<string>(deadline.signal, (resolve, reject) => {
      askPostgresql(socket, { target: server, onQuery: () => deadline.phase = "query" })
        .then(resolve, (error) => reject(refusal(error)));
      return () => socket.destroy();
    });
    return { observed: { connected: true, server_version: expansion.redact(version) } };
  } finally {
    socket.destroy();
  }
}

function connectionTarget(target: string, expansion: Expansion): ConnectionTarget {
  const given = target.replace(/^postgres(?:ql)?:(?!\/\/)/i, "");
  // A URL that is one secret has its parts encoded already; a secret within one has not.
  const url = /^\$\{\w+\}$/.test(given) || !namesSecret(given) ? expansion.text(given) : expansion.url(given);
  let server: ConnectionTarget;
  try {
    server = parseDatabaseUrl(url);
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error;
    throw new ProbeFailure("secret.missing", error.message);
  }
  expansion.hide(server.password, "password");
  if (server.hosts.length !== 1 || server.hosts[0]?.startsWith("/")) {
    throw new ProbeFailure(
      "secret.missing",
      "a check takes one server by name or address, not several and no unix socket",
    );
  }
  return server;
}

/** How the certificate is judged, by libpq's rules for `sslmode` unless the service says more; null for no TLS. */
function tlsFor(server: ConnectionTarget, config: PostgresqlConfig, expansion: Expansion): TlsSettings | null {
  if (!config.tls && server.tls === "disable") return null;
  const verified = config.insecure !== true && (Boolean(config.tls) || server.tls.startsWith("verify-"));
  const authorities = server.rootCertificates === null || !verified
    ? {}
    : { ca: readAuthorities(server.rootCertificates) };
  return { ...tlsSettings(config.tls ?? authorities, !verified, expansion), alpn: [] };
}

function readAuthorities(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new RuntimeFault(`the file that sslrootcert names cannot be read: ${errorText(error)}`);
  }
}

/** @param optional Whether a server without TLS will do. */
async function agreesToTls(socket: Socket, optional: boolean, { deadline }: DialContext): Promise<boolean> {
  deadline.phase = "tls";
  const answer = await within<number>(deadline.signal, (resolve, reject) => {
    const gone = () =>
      reject(new ProbeFailure("protocol", "the server ended the connection when it was asked for TLS"));
    const onData = (bytes: Uint8Array) => {
      socket.pause();
      for (const event of ["data", "close", "error"]) socket.off(event, event === "data" ? onData : gone);
      // More than one byte has come from somebody who stands between us and the server (CVE-2021-23222).
      resolve(bytes.length === 1 ? bytes[0] ?? 0 : 0);
    };
    socket.on("data", onData);
    socket.once("close", gone);
    socket.once("error", gone);
    socket.write(SSL_REQUEST);
    return () => {};
  });
  if (answer === YES) return true;
  if (answer !== NO) throw new ProbeFailure("protocol", "the server does not speak PostgreSQL's protocol");
  if (!optional) throw new ProbeFailure("tls.handshake", "the server does not offer TLS");
  // The driver does not do it. Nothing is lost, since the server says nothing more until it is spoken to.
  socket.resume();
  return false;
}

/** Codes of the server's own; of what is not listed, a query's failure. */
const REFUSALS: readonly { states: RegExp; code: ErrorCode; says: string }[] = [
  { states: /^(28...|3D000|42501)$/, code: "postgresql.refused_login", says: "the server refused the login" },
  { states: /^(57P0.|53300|53...)$/, code: "postgresql.unavailable", says: "the server takes no logins now" },
];

function refusal(error: unknown): Error {
  if (!(error instanceof PostgresRefusal)) return error instanceof Error ? error : new Error(String(error));
  const { message, sqlState, atLogin } = error;
  if (sqlState === null) {
    const when = atLogin ? "during the login" : "before it had answered the query";
    return new ProbeFailure(
      "protocol",
      /^write CONN|ECONN|closed|ended|CONNECTION/i.test(message)
        ? `the server ended the connection ${when}`
        : `the server did not keep to PostgreSQL's protocol ${when}: ${message}`,
    );
  }
  const known = REFUSALS.find(({ states }) => states.test(sqlState));
  if (known !== undefined) return new ProbeFailure(known.code, `${known.says}: ${message} (${sqlState})`);
  return new ProbeFailure(
    atLogin ? "postgresql.refused_login" : "postgresql.query",
    `the server answered ${atLogin ? "the login" : "the query"} with an error: ${message} (${sqlState})`,
  );
}
