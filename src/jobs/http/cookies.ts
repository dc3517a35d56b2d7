import type { ReceivedHeader } from "./head_lines.ts";

/** Servers that set more cookies than this within one probe are playing. */
const COOKIES_LIMIT = 50;

/** What they may take together, in characters of names and values: more than servers accept in a request. */
const COOKIES_LENGTH = 16_384;

/** Longer cookies are dropped, as browsers do; in characters of name and value. */
const COOKIE_LENGTH = 4096;

interface Cookie {
  name: string;
  value: string;
  domain: string;
  /** Whether hosts below the domain get it too. */
  subdomains: boolean;
  path: string;
  secure: boolean;
}

/** The cookies of one probe. They end with it. */
export interface CookieJar {
  /** Takes the cookies that an answer sets. */
  store(url: URL, headers: readonly ReceivedHeader[]): void;
  /** The cookies for a request, as `a=1; b=2`, or an empty text. */
  header(url: URL): string;
}

/** A jar as RFC 6265 and what became of it (6265bis) describe it, for as long as a chain of redirects lasts. */
export function cookieJar(): CookieJar {
  const cookies = new Map<string, Cookie>();
  let length = 0;

  function forget(key: string, cookie: Cookie): void {
    cookies.delete(key);
    length -= lengthOf(cookie);
  }

  function store(url: URL, headers: readonly ReceivedHeader[]): void {
    for (const [name, value] of headers) {
      if (name !== "set-cookie") continue;
      const parsed = parseCookie(url, value);
      if (parsed === null) continue;
      const key = `${parsed.cookie.domain};${parsed.cookie.path};${parsed.cookie.name}`;
      const known = cookies.get(key);
      if (known !== undefined) forget(key, known);
      if (parsed.expired || cookies.size >= COOKIES_LIMIT || length + lengthOf(parsed.cookie) > COOKIES_LENGTH) {
        continue;
      }
      cookies.set(key, parsed.cookie);
      length += lengthOf(parsed.cookie);
    }
  }

  function header(url: URL): string {
    const sent = [...cookies.values()].filter((cookie) => belongsTo(cookie, url));
    sent.sort((a, b) => b.path.length - a.path.length);
    return sent.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  return { store, header };
}

function lengthOf({ name, value }: Cookie): number {
  return name.length + value.length;
}

function parseCookie(url: URL, line: string): { cookie: Cookie; expired: boolean } | null {
  const [pair = "", ...attributes] = line.split(";");
  const equals = pair.indexOf("=");
  const name = pair.slice(0, Math.max(equals, 0)).trim();
  const value = pair.slice(equals + 1).trim();
  if (name === "" || name.length + value.length > COOKIE_LENGTH) return null;

  const set = new Map(attributes.map((attribute) => {
    const [key = "", ...rest] = attribute.split("=");
    return [key.trim().toLowerCase(), rest.join("=").trim()];
  }));
  const domain = (set.get("domain") ?? "").replace(/^\./, "").toLowerCase();
  if (domain !== "" && !mayName(url.hostname, domain)) return null;
  if (set.has("secure") && url.protocol !== "https:") return null;
  const path = set.get("path") ?? "";
  return {
    cookie: {
      name,
      value,
      domain: domain === "" ? url.hostname : domain,
      subdomains: domain !== "",
      path: path.startsWith("/") ? path : defaultPath(url),
      secure: set.has("secure"),
    },
    expired: isOver(set.get("max-age"), set.get("expires")),
  };
}

function isOver(maxAge: string | undefined, expires: string | undefined): boolean {
  if (maxAge !== undefined && /^-?\d+$/.test(maxAge)) return Number(maxAge) <= 0;
  return expires !== undefined && Date.parse(expires) <= Date.now();
}

/** The directory of the URL that set the cookie. */
function defaultPath({ pathname }: URL): string {
  return pathname.slice(0, Math.max(pathname.lastIndexOf("/"), 1));
}

function belongsTo(cookie: Cookie, url: URL): boolean {
  if (cookie.secure && url.protocol !== "https:") return false;
  const host = cookie.subdomains ? isWithin(url.hostname, cookie.domain) : url.hostname === cookie.domain;
  const below = url.pathname === cookie.path ||
    (url.pathname.startsWith(cookie.path) && (cookie.path.endsWith("/") || url.pathname[cookie.path.length] === "/"));
  return host && below;
}

/** Whether a host may set cookies for a domain: its own name, or one above it that is not a top-level domain. */
function mayName(hostname: string, domain: string): boolean {
  return hostname === domain || (domain.includes(".") && isWithin(hostname, domain));
}

/** Whether a host is a domain or below it. An address is only itself. */
function isWithin(hostname: string, domain: string): boolean {
  if (hostname === domain) return true;
  return hostname.endsWith(`.${domain}`) && !/^[\d.]+$/.test(hostname);
}
