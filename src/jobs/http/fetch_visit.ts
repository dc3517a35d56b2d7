import { isIP } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { within } from "../deadline.ts";
import type { DialContext } from "../dial.ts";
import { errorText, ProbeFailure } from "../failure.ts";
import type { ErrorCode } from "../observation.ts";
import { addTime } from "../trail.ts";
import { type Body, collectBody } from "./body.ts";
import type { Answer } from "./exchange.ts";
import type { Visit } from "./http_probe.ts";
import { type HttpRequest, wireRequest } from "./request.ts";
import type { ReceivedHeader } from "./head_lines.ts";

/** What fetch's errors say, which have no codes, and what it means. The first that matches counts. */
const FETCH_ERRORS: readonly [pattern: RegExp, code: ErrorCode][] = [
  [/dns error|failed to lookup/i, "dns"],
  [/connection refused/i, "connect.refused"],
  [/certificate expired|certificate: expired/i, "tls.expired"],
  [/not valid yet|NotValidYet/i, "tls.not_yet_valid"],
  [/not valid for name|NotValidForName/i, "tls.name_mismatch"],
  [/CaUsedAsEndEntity/, "tls.self_signed"],
  [/invalid peer certificate/i, "tls.untrusted"],
  [/head is too large/i, "protocol.header_too_large"],
  [/invalid HTTP header/i, "protocol.header"],
  [/timed out/i, "connect.timeout"],
  [/unreachable|no route to host/i, "connect.unreachable"],
  [/corrupt message|handshake|fatal alert|\btls\b/i, "tls.handshake"],
  [/connection reset|broken pipe|connection closed|unexpected eof/i, "connect.reset"],
];

/**
 * Carries a request by fetch, where the platform lets nothing else reach port 443. Fetch resolves names by itself and shows neither the
 * address nor the certificate, so the network policy is asked about every address of the name before, and `insecure` has no effect.
 */
export const visitByFetch: Visit = async (request, cookies, { config, tlsFor, wantsBody, bodyLimit, context }) => {
  await refuseDenied(request.url, context);
  const { serverName, trust: { pem } } = tlsFor(request.url);
  if (serverName !== undefined) context.trail.warnings.add("fetch_ignores_server_name");
  if (config.ip_family !== undefined) context.trail.warnings.add("fetch_ignores_ip_family");
  const wire = wireRequest(request, cookies, config.read_body === true);
  const { deadline, trail } = context;
  deadline.phase = "headers";
  const sentAt = performance.now();
  // Names its own Host header, which fetch drops otherwise; keeps no connection, since a probe measures a new one.
  using client = Deno.createHttpClient({
    allowHost: true,
    poolMaxIdlePerHost: 0,
    ...(pem.ca === undefined ? {} : { caCerts: [pem.ca] }),
    ...(pem.clientCertificate === undefined ? {} : { cert: pem.clientCertificate, key: pem.clientKey ?? "" }),
  });
  try {
    const response = await fetch(request.url, {
      method: wire.method,
      // Fetch asks for the encodings that it undoes, and counts the body, by itself.
      headers: wire.headers.filter(([name]) => !/^(?:accept-encoding|content-length)$/i.test(name)).map(([...header]) =>
        header
      ),
      body: requestBody(request),
      redirect: "manual",
      signal: deadline.signal,
      client,
    });
    addTime(trail, "first_byte", performance.now() - sentAt);
    trail.status = response.status;
    return await readAnswer(response, wantsBody, bodyLimit, context);
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : fetchFailure(error);
  }
};

/** Fetch can be bound to no address; a name of which one address is denied is therefore denied as a whole. */
async function refuseDenied(url: URL, { deadline, policy, resolve }: DialContext): Promise<void> {
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  deadline.phase = "dns";
  const addresses = isIP(hostname) === 0 ? await resolved(hostname, deadline.signal, resolve) : [hostname];
  for (const address of addresses) {
    const denied = policy(address);
    if (denied !== null) throw new ProbeFailure("policy.denied", `${hostname} may not be connected to: ${denied}`);
  }
}

function resolved(hostname: string, signal: AbortSignal, resolve: DialContext["resolve"]): Promise<string[]> {
  return within(signal, (found, failed) => {
    resolve(hostname).then(
      (addresses) => found(addresses.map(({ address }) => address)),
      (error) => failed(new ProbeFailure("dns", `${hostname} cannot be resolved: ${errorText(error)}`)),
    );
    return () => {};
  });
}

function requestBody({ body }: HttpRequest): Uint8Array<ArrayBuffer> | null {
  return body === null ? null : new Uint8Array(body);
}

async function readAnswer(
  response: Response,
  wantsBody: (status: number, headers: readonly ReceivedHeader[]) => boolean,
  bodyLimit: number | undefined,
  { deadline }: DialContext,
): Promise<Answer> {
  const { status } = response;
  const headers: ReceivedHeader[] = [...response.headers];
  if (response.body === null || !wantsBody(status, headers)) {
    await response.body?.cancel();
    return { status, headers, ...(wantsBody(status, headers) ? { body: { text: "", capped: false } } : {}) };
  }
  deadline.phase = "body";
  const source = Readable.fromWeb(response.body as NodeReadableStream);
  // Fetch has decoded it.
  const plain = headers.filter(([name]) => name !== "content-encoding" && name !== "transfer-encoding");
  try {
    const body = await within<Body>(deadline.signal, (done) => {
      const cut = collectBody(source, plain, done, bodyLimit);
      source.once("error", (error) => cut(bodyFailure(error)));
      return () => {};
    });
    return { status, headers, body };
  } finally {
    source.destroy();
  }
}

function bodyFailure(error: unknown): ProbeFailure {
  const text = errorText(error);
  if (/invalid gzip header|corrupt|decompress|brotli/i.test(text)) {
    return new ProbeFailure("body.decode", `the body is not encoded as it is labelled: ${text}`);
  }
  return new ProbeFailure("body.truncated", `the body did not come to its end: ${text}`);
}

function fetchFailure(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  const text = error.cause instanceof Error ? error.cause.message : error.message;
  const code = FETCH_ERRORS.find(([pattern]) => pattern.test(text))?.[1] ?? "protocol";
  return new ProbeFailure(code, text);
}
