import { Buffer } from "node:buffer";
import { ProbeFailure } from "../failure.ts";
import type { Answer } from "./exchange.ts";
import type { HttpRequest } from "./request.ts";

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/** Headers that are meant for one origin and no other (RFC 9110 15.4). */
const ORIGIN_HEADERS = new Set(["authorization", "proxy-authorization", "cookie", "host", "origin"]);

/** Headers that describe a body, and go with it. */
const BODY_HEADERS = /^content-/;

/** Where an answer leads to, as it says itself; null if it is no redirect. A redirect without a Location is an answer like any other. */
export function redirectLocation({ status, headers }: Pick<Answer, "status" | "headers">): string | null {
  if (!REDIRECT_STATUSES.has(status)) return null;
  return headers.find(([name]) => name === "location")?.[1] ?? null;
}

/**
 * Refuses an answer that leads to two places at once: browsers differ in which one they take, and some take none.
 *
 * @throws {ProbeFailure} `redirect.invalid`.
 */
export function refuseTwoLocations({ headers }: Pick<Answer, "headers">): void {
  const locations = new Set(headers.filter(([name]) => name === "location").map(([, value]) => value));
  if (locations.size > 1) {
    throw new ProbeFailure("redirect.invalid", `the redirect has ${locations.size} different Locations`);
  }
}

/**
 * The request that follows a redirect. Headers that are meant for the old origin, or that hold a secret, do not go to another one.
 *
 * @throws {ProbeFailure} `redirect.invalid` or `redirect.scheme`.
 */
export function nextRequest(request: HttpRequest, status: number, location: string): HttpRequest {
  const url = locationUrl(location, request.url);
  const withBody = keepsBody(request.method, status);
  const sameOrigin = url.origin === request.url.origin;
  if (withBody && !sameOrigin && request.secretBody) {
    throw new ProbeFailure("redirect.invalid", "the redirect would carry a body with a secret to another origin");
  }
  const headers = request.headers.filter(({ name, secret }) => {
    const key = name.toLowerCase();
    if (!withBody && BODY_HEADERS.test(key)) return false;
    return sameOrigin || !(secret || ORIGIN_HEADERS.has(key));
  });
  if (withBody) return { ...request, url, headers };
  return { url, method: request.method === "HEAD" ? "HEAD" : "GET", headers, body: null, secretBody: false };
}

/** Whether the next request has the method and body of this one: 303 never, 301 and 302 not for POST, as every client does it. */
function keepsBody(method: string, status: number): boolean {
  if (status === 303) return false;
  if (status === 301 || status === 302) return method !== "POST";
  return true;
}

function locationUrl(location: string, base: URL): URL {
  const url = URL.parse(utf8IfValid(location), base.href);
  if (url === null) throw new ProbeFailure("redirect.invalid", "the redirect leads to what is not a valid URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ProbeFailure("redirect.scheme", `the redirect leads to ${url.protocol}, which is not http: or https:`);
  }
  return url;
}

/** Headers are read as Latin-1; a Location with bytes above ASCII is UTF-8 more often than not, and is read as browsers read it. */
function utf8IfValid(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}
