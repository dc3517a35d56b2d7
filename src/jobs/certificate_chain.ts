import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { issuersOf } from "./certificate.ts";
import type { Trust } from "./tls_settings.ts";

/** Leaf certificates whose chain is remembered, and for how long, in ms. Reading a chain takes 0.3 ms, a third of an HTTPS probe. */
const CHAINS_KEPT = 20_000;
const KEPT_MS = 3_600_000;

interface Kept {
  notAfter: string | null;
  /** By `performance.now()`. */
  until: number;
}

const kept = new WeakMap<Trust, Map<string, Kept>>();

/**
 * Until when the chain of a verified handshake is valid: the earliest end of the leaf and of the intermediates that lead to a trusted
 * authority. Certificates that the server sends beside that way do not count: a root that another, older root has signed as well must
 * not raise an alarm when the older one ends.
 *
 * @param socket A socket whose handshake is done and whose `authorized` is true.
 * @param fingerprint Of the leaf. A chain that was replaced under the same leaf is noticed within an hour.
 * @returns ISO 8601, UTC; null if the way cannot be followed.
 */
export function chainNotAfter(socket: TLSSocket, fingerprint: string, trust: Trust): string | null {
  let chains = kept.get(trust);
  if (chains === undefined) kept.set(trust, chains = new Map());
  const now = performance.now();
  const known = chains.get(fingerprint);
  if (known !== undefined && known.until > now) return known.notAfter;

  chains.delete(fingerprint);
  const [oldest] = chains.keys();
  if (chains.size >= CHAINS_KEPT && oldest !== undefined) chains.delete(oldest);
  const notAfter = earliestEnd(socket, trust.authorities());
  chains.set(fingerprint, { notAfter, until: now + KEPT_MS });
  return notAfter;
}

function earliestEnd(socket: TLSSocket, authorities: ReadonlySet<string>): string | null {
  const shown = socket.getPeerCertificate(true);
  const [leaf, ...others] = [shown, ...issuersOf(shown)].map(({ raw }) => new X509Certificate(raw));
  let current = leaf;
  let earliest = Infinity;
  // Each step takes one certificate out of the others, so that a circle ends.
  while (current !== undefined) {
    earliest = Math.min(earliest, Date.parse(current.validTo));
    const { issuer } = current;
    if (authorities.has(issuer) || authorities.has(current.subject)) break;
    const above = others.findIndex(({ subject }) => subject === issuer);
    if (above < 0) return null;
    [current] = others.splice(above, 1);
  }
  return Number.isFinite(earliest) ? new Date(earliest).toISOString() : null;
}
