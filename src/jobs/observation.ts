/** Why a probe has no usable answer. The list is fixed: SQL judges by these codes, and people read them in `uptuple.status`. */
export type ErrorCode =
  | "dns"
  | "connect.refused"
  | "connect.timeout"
  | "connect.reset"
  | "connect.unreachable"
  | "tls.handshake"
  | "tls.expired"
  | "tls.not_yet_valid"
  | "tls.untrusted"
  | "tls.self_signed"
  | "tls.name_mismatch"
  | "protocol"
  | "protocol.header"
  | "protocol.header_too_large"
  | "timeout.dns"
  | "timeout.tls"
  | "timeout.headers"
  | "timeout.body"
  | "redirect.loop"
  | "redirect.limit"
  | "redirect.invalid"
  | "redirect.scheme"
  | "body.truncated"
  | "body.decode"
  | "policy.denied"
  | "secret.missing"
  | "dns.nxdomain"
  | "dns.servfail"
  | "dns.refused"
  | "tcp.closed"
  | "timeout.expect"
  | "postgresql.refused_login"
  | "postgresql.unavailable"
  | "postgresql.query";

/** What a probe saw. It holds facts only; `uptuple.evaluate_observation` decides what they mean. */
export interface Observation {
  /** The HTTP status of the last answer. Absent when there was none. */
  status?: number;
  /** Absent when the answer was complete as far as the probe needed it. */
  error?: { code: ErrorCode; message: string };
  timings: Timings;
  /** The address that gave the answer, or that the probe was connected to when it failed. */
  address?: string;
  family?: 4 | 6;
  /** The headers that `want_headers` lists, names in lower case, several values joined by ", ". */
  headers?: Record<string, string>;
  /** The decoded body, at most 64 KiB of it, if `read_body` asks for it. */
  body?: string;
  /** Whether there was more body than that. */
  body_capped?: boolean;
  /** The answers that were followed, in order, without credentials. */
  redirects?: Redirect[];
  /** The certificate that failed; else, of those met along the redirects, the one that expires first. */
  certificate?: Certificate;
  /** Oddities that are no failure. */
  warnings?: string[];
  /** Of a kind that asks for no more than that: true when the target was reached and did what was wanted of it. */
  connected?: true;
  /** What a TCP server sent, if `expect` asks for it: at most 4 KiB, as text, in which what is no text is U+FFFD. */
  received?: string;
  /** Whether there was more than that. */
  received_capped?: boolean;
  /** Whether what was received is no text: it was not UTF-8, or held control characters. */
  binary?: true;
  /** What a resolver answered, in the text form of zone files without quotes, sorted. Empty: the name has no such record. */
  answers?: string[];
  /** The resolver's response code, whenever it answered. */
  rcode?: string;
  /** Of a PostgreSQL server, such as `18.1`. */
  server_version?: string;
  /**
   * What carried an HTTP probe: fetch only where the platform lets nothing else reach port 443. It sees no address and no certificate.
   * Absent for other kinds.
   */
  transport?: "node" | "fetch";
}

/**
 * How long each phase took, in ms of a monotonic clock. Over redirects, each phase is the sum of all hops. `first_byte` counts from
 * the moment the connection stood to the first byte of the answer. A phase that did not finish is absent.
 */
export interface Timings {
  dns?: number;
  connect?: number;
  tls?: number;
  first_byte?: number;
  /** From the start of the probe to the last byte that it needed. */
  total: number;
}

/** A redirect that was followed. */
export interface Redirect {
  status: number;
  location: string;
  /** ISO 8601, UTC: until when the certificate of the server that sent it is valid. Absent for http. */
  certificate_not_after?: string;
}

/** What a server's leaf certificate says of itself, trusted or not. */
export interface Certificate {
  /** The host name or address that it was shown for. */
  host: string;
  subject: string;
  issuer: string;
  /** ISO 8601, UTC. */
  not_before: string;
  /** ISO 8601, UTC. */
  not_after: string;
  /**
   * ISO 8601, UTC: the earliest end of the leaf and the intermediates through which it was verified. The authority at the top counts by
   * its key, whatever its dates. Absent when nothing was verified.
   */
  chain_not_after?: string;
  fingerprint256: string;
  /** The host names and addresses it is for. */
  names: string[];
}
