import type { Expansion } from "../../secrets.ts";
import { dial, type DialContext } from "../dial.ts";
import { ProbeFailure } from "../failure.ts";
import { type TlsSettings, tlsSettings } from "../tls_settings.ts";
import { cookieJar } from "./cookies.ts";
import { type Answer, exchange, type WantsBody } from "./exchange.ts";
import { nextRequest, redirectLocation, refuseTwoLocations } from "./redirect.ts";
import { firstRequest, type HttpConfig, type HttpRequest, wireRequest, withoutUserinfo } from "./request.ts";

/** Redirects are shown up to this many characters. */
const LOCATION_LENGTH = 500;

/** What carries a request to its server and brings the answer back. */
export type Visit = (request: HttpRequest, cookies: string, settings: VisitSettings) => Promise<Answer>;

/** What a visit needs to know beside the request. */
export interface VisitSettings {
  config: HttpConfig;
  /** How to shake hands with the server of a URL. */
  tlsFor: (url: URL) => TlsSettings;
  wantsBody: WantsBody;
  /** No more of the body is read than this, in bytes after decoding. Default: 64 KiB. */
  bodyLimit?: number;
  context: DialContext;
}

/**
 * Makes the request of an HTTP check and follows its redirects, as many as the configuration allows. Each hop resolves, connects and
 * verifies anew, for the URL it goes to. What is seen goes into the trail; the last answer is returned.
 *
 * @throws {MissingSecretError} If a secret is missing.
 * @throws {ProbeFailure} For anything that keeps the target from giving a complete answer.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function probeHttp(
  target: string,
  config: HttpConfig,
  visit: Visit,
  expansion: Expansion,
  context: DialContext,
): Promise<Answer> {
  const { trail } = context;
  const limit = config.follow_redirects ?? 0;
  const cookies = cookieJar();
  const visited = new Set<string>();
  const mayFollow = () => trail.redirects.length < limit;
  let request = firstRequest(target, config, expansion);
  const settings: VisitSettings = {
    config,
    tlsFor: tlsByHost(request.url.hostname, config, expansion),
    wantsBody: (status, headers) =>
      config.read_body === true && !(mayFollow() && redirectLocation({ status, headers }) !== null),
    context,
  };

  for (;;) {
    const cookie = cookies.header(request.url);
    visited.add(visitKey(request, cookie));
    delete trail.status;
    const answer = await visit(request, cookie, settings);

    const location = limit > 0 ? redirectLocation(answer) : null;
    if (location === null) return answer;
    refuseTwoLocations(answer);
    cookies.store(request.url, answer.headers);
    request = withoutUserinfo(nextRequest(request, answer.status, location), expansion);
    const shown = request.url.href.slice(0, LOCATION_LENGTH);
    if (!mayFollow()) {
      throw new ProbeFailure(
        "redirect.limit",
        `there are more than ${limit} redirects; the last one leads to ${shown}`,
      );
    }
    trail.redirects.push({
      status: answer.status,
      location: shown,
      ...(trail.lastCertificate === undefined ? {} : { certificate_not_after: trail.lastCertificate.not_after }),
    });
    if (visited.has(visitKey(request, cookies.header(request.url)))) {
      throw new ProbeFailure("redirect.loop", `the redirects lead back to ${shown}`);
    }
  }
}

/** Requests that are equal in this will be answered in the same way. */
function visitKey({ method, url }: HttpRequest, cookie: string): string {
  return `${method} ${url.href} ${cookie}`;
}

/**
 * How the hosts of one probe are shaken hands with. The configured server name and client certificate are for the configured host: the host
 * of a redirect is asked for and verified by its own name, and does not learn who asks.
 */
export function tlsByHost(configured: string, config: HttpConfig, expansion: Expansion): (url: URL) => TlsSettings {
  const insecure = config.insecure === true;
  return ({ hostname }) => {
    const { ca = null } = config.tls ?? {};
    return tlsSettings(hostname === configured ? config.tls : { ca }, insecure, expansion);
  };
}

/** Carries a request over node's sockets, on a new connection. */
export const visitByNode: Visit = async (request, cookies, { config, tlsFor, wantsBody, bodyLimit, context }) => {
  const { url } = request;
  const secure = url.protocol === "https:";
  const socket = await dial({
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    ...(config.ip_family === undefined ? {} : { family: config.ip_family }),
    ...(secure ? { tls: tlsFor(url) } : {}),
  }, context);
  return await exchange(socket, wireRequest(request, cookies, config.read_body === true), wantsBody, {
    ...context,
    bodyLimit,
  });
};
