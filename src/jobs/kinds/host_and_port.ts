import { isIP } from "node:net";
import { ProbeFailure } from "../failure.ts";

/** Where a target of `scheme://host:port` is. */
export interface HostAndPort {
  /** A name in ASCII, or an address without brackets. */
  hostname: string;
  port: number;
}

/**
 * Reads `host:port`, with or without a scheme before it, after its secrets have been put in. SQL has seen the text before that; what a
 * secret made of it can still be nonsense, which says nothing about any target.
 *
 * @param text Such as `tcp://mail.example.com:25`, `[2001:db8::1]:53` or `1.1.1.1`.
 * @param defaultPort Used where the text has none; without it, a port must be there.
 * @throws {ProbeFailure} `secret.missing`, if it is no host and port.
 */
export function hostAndPort(text: string, defaultPort?: number): HostAndPort {
  const parts = /^(?:[a-z]+:\/\/)?(\[[^\]]+\]|[^:/?#@\s]+)(?::(\d{1,5}))?\/?$/i.exec(text);
  const port = parts?.[2] === undefined ? defaultPort : Number(parts[2]);
  const host = parts?.[1] === undefined ? null : canonicalHost(parts[1]);
  if (host === null || port === undefined || port < 1 || port > 65535) {
    throw new ProbeFailure("secret.missing", "the target with its secrets is no host and port, as in example.com:5432");
  }
  return { hostname: host, port };
}

/** Writes a name in ASCII and an IPv4 address with its four numbers, as browsers do. */
function canonicalHost(host: string): string | null {
  const url = `http://${host}/`;
  if (!URL.canParse(url)) return null;
  const hostname = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return hostname === "" || hostname.includes(":") && isIP(hostname) === 0 ? null : hostname;
}
