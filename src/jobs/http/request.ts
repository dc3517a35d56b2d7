import { Buffer } from "node:buffer";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { RELEASE } from "../../release.ts";
import { type Expansion, namesSecret } from "../../secrets.ts";
import { errorText, ProbeFailure } from "../failure.ts";
import type { TlsConfig } from "../tls_settings.ts";
import { ACCEPTED_ENCODINGS } from "./content_encoding.ts";
import type { WireRequest } from "./exchange.ts";

/** The configuration of an HTTP check, as a revision of its service holds it. Texts may hold `${UPTUPLE_SECRET_NAME}`. */
export interface HttpConfig {
  /** Default GET. */
  method?: string;
  headers?: Record<string, string>;
  body?: string | null;
  /** At most this many redirects are followed; 0, the default, reports the first answer. */
  follow_redirects?: number;
  /** Whether the body is read, decoded and reported. */
  read_body?: boolean;
  /** The names of the headers to report. */
  want_headers?: string[];
  /** Whether a certificate that cannot be trusted is accepted, with a warning. */
  insecure?: boolean;
  tls?: TlsConfig;
  /** Only addresses of this family are used. */
  ip_family?: 4 | 6;
}

/** A header to send. */
export interface SentHeader {
  name: string;
  value: string;
  /** Whether a secret was put into it. */
  secret: boolean;
}

/** A request to one URL, before the connection, cookies and defaults are added. */
export interface HttpRequest {
  /** Without userinfo and fragment. */
  url: URL;
  method: string;
  headers: SentHeader[];
  body: Uint8Array | null;
  /** Whether a secret was put into the body. */
  secretBody: boolean;
}

/** Headers that say how the body is sent, which is decided here. */
const FRAMING_HEADERS = new Set(["content-length", "transfer-encoding"]);

/** Methods whose requests never have a body (RFC 9110 9.3). */
const BODILESS_METHODS = new Set(["HEAD", "TRACE", "CONNECT"]);

/** Methods for which a missing body is announced as an empty one. */
const BODY_METHODS = new Set(["POST", "PUT", "PATCH"]);

/**
 * Makes the first request of a probe: puts in secrets, and turns userinfo into a header.
 *
 * @throws {MissingSecretError} If a secret is missing.
 * @throws {ProbeFailure} `protocol` if the request cannot be sent as it is configured.
 */
export function firstRequest(target: string, config: HttpConfig, expansion: Expansion): HttpRequest {
  const method = (config.method ?? "GET").toUpperCase();
  const headers = Object.entries(config.headers ?? {}).map(([name, value]) => sentHeader(name, value, expansion));
  const url = parseUrl(expansion.url(target));
  const body = config.body ?? null;
  return withoutUserinfo({
    url,
    method,
    headers: headers.filter(({ name }) => !FRAMING_HEADERS.has(name.toLowerCase())),
    body: body === null || BODILESS_METHODS.has(method) ? null : Buffer.from(expansion.text(body)),
    secretBody: body !== null && namesSecret(body),
  }, expansion);
}

/**
 * Moves the userinfo of a request's URL into an Authorization header, unless the request has one already, so that a URL that is shown
 * holds no password.
 */
export function withoutUserinfo(request: HttpRequest, expansion: Expansion): HttpRequest {
  const { username, password, hash } = request.url;
  if (username === "" && password === "" && hash === "") return request;
  const url = new URL(request.url);
  url.username = "";
  url.password = "";
  url.hash = "";
  if (username === "" && password === "") return { ...request, url };

  const credentials = Buffer.from(`${percentDecoded(username)}:${percentDecoded(password)}`).toString("base64");
  expansion.hide(percentDecoded(password), "password");
  expansion.hide(password, "password");
  expansion.hide(credentials, "credentials");
  const given = request.headers.some(({ name }) => name.toLowerCase() === "authorization");
  const headers = given ? request.headers : [...request.headers, authorization(credentials)];
  return { ...request, url, headers };
}

/** Adds what each request carries, and gives it the form in which it goes over a connection. */
export function wireRequest(request: HttpRequest, cookies: string, readBody: boolean): WireRequest {
  const own = new Map(request.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const headers: [string, string][] = [["Host", own.get("host") ?? request.url.host]];
  if (!own.has("user-agent")) headers.push(["User-Agent", `uptuple/${RELEASE}`]);
  if (!own.has("accept")) headers.push(["Accept", "*/*"]);
  if (!own.has("accept-encoding")) headers.push(["Accept-Encoding", readBody ? ACCEPTED_ENCODINGS : "identity"]);
  for (const { name, value } of request.headers) {
    if (!["host", "cookie"].includes(name.toLowerCase())) headers.push([name, value]);
  }
  const cookie = [own.get("cookie") ?? "", cookies].filter((part) => part !== "").join("; ");
  if (cookie !== "") headers.push(["Cookie", cookie]);
  if (request.body !== null) headers.push(["Content-Length", String(request.body.length)]);
  else if (BODY_METHODS.has(request.method)) headers.push(["Content-Length", "0"]);
  return { method: request.method, path: request.url.pathname + request.url.search, headers, body: request.body };
}

/** Takes user names and passwords out of the URLs in a text. */
export function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/?#\s"'<>\\]*@/g, "//");
}

function sentHeader(name: string, value: string, expansion: Expansion): SentHeader {
  const expanded = expansion.text(value);
  try {
    validateHeaderName(name);
    validateHeaderValue(name, expanded);
  } catch (error) {
    throw new ProbeFailure("protocol", `the request cannot be sent: ${errorText(error)}`);
  }
  return { name, value: expanded, secret: namesSecret(value) };
}

function authorization(credentials: string): SentHeader {
  return { name: "Authorization", value: `Basic ${credentials}`, secret: true };
}

/** The parser's own message would show the URL, and with it a password. */
function parseUrl(text: string): URL {
  if (!URL.canParse(text)) {
    throw new ProbeFailure("protocol", "the request cannot be sent: the target is not a valid URL");
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ProbeFailure(
      "protocol",
      `the request cannot be sent: the target begins with ${url.protocol} and not with http: or https:`,
    );
  }
  return url;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
