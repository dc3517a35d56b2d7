import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from "node:tls";
import { ProbeFailure } from "./failure.ts";
import type { Certificate } from "./observation.ts";

/** A certificate may list thousands of names; this many are reported, and no more than take this many characters together. */
const NAMES_REPORTED = 100;
const NAMES_LENGTH = 4000;

/** A distinguished name is cut to this many characters. */
const NAME_LENGTH = 300;

/** More certificates than any honest chain has. */
const CHAIN_LENGTH = 10;

/**
 * The facts of a peer's certificate, or null if it shows none that can be read.
 *
 * @param host The name or address that it was shown for.
 */
export function certificateFacts(certificate: PeerCertificate, host: string): Certificate | null {
  const notBefore = isoTime(certificate.valid_from);
  const notAfter = isoTime(certificate.valid_to);
  if (notBefore === null || notAfter === null) return null;
  return {
    host: host.slice(0, NAME_LENGTH),
    subject: distinguishedName(certificate.subject),
    issuer: distinguishedName(certificate.issuer),
    not_before: notBefore,
    not_after: notAfter,
    fingerprint256: certificate.fingerprint256,
    names: subjectNames(certificate.subjectaltname),
  };
}

/**
 * Tells why a handshake's certificate is not accepted. The TLS library says only that it could not verify the chain; dates and names are
 * looked at here, an expired certificate being reported as expired whatever else is wrong with it.
 *
 * @param socket A socket whose handshake is done and whose `authorized` is false.
 * @param hostname The name that was asked for, as it stands in the URL.
 * @param now Ms since the epoch.
 */
export function certificateFailure(socket: TLSSocket, hostname: string, now: number): ProbeFailure {
  const leaf = socket.getPeerCertificate(true);
  const facts = certificateFacts(leaf, hostname);
  if (facts === null) return new ProbeFailure("tls.untrusted", "the server showed no certificate that can be read");
  if (Date.parse(facts.not_after) <= now) {
    return new ProbeFailure("tls.expired", `the certificate expired on ${facts.not_after}`);
  }
  if (Date.parse(facts.not_before) > now) {
    return new ProbeFailure("tls.not_yet_valid", `the certificate is not valid before ${facts.not_before}`);
  }

  const reason = String(socket.authorizationError);
  if (reason === "DEPTH_ZERO_SELF_SIGNED_CERT") {
    return new ProbeFailure("tls.self_signed", `the certificate is signed by itself (${facts.subject})`);
  }
  if (reason === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const names = facts.names.slice(0, 10).join(", ") || facts.subject;
    return new ProbeFailure("tls.name_mismatch", `the certificate is for ${names}, not for ${hostname}`);
  }
  for (const issuer of issuersOf(leaf)) {
    const { subject, not_before, not_after } = certificateFacts(issuer, hostname) ?? {};
    if (not_after !== undefined && Date.parse(not_after) <= now) {
      return new ProbeFailure("tls.expired", `the intermediate certificate ${subject} expired on ${not_after}`);
    }
    if (not_before !== undefined && Date.parse(not_before) > now) {
      return new ProbeFailure(
        "tls.not_yet_valid",
        `the intermediate certificate ${subject} is not valid before ${not_before}`,
      );
    }
  }
  const alone = issuersOf(leaf).length === 0 ? ", and the server sends no intermediate certificate" : "";
  return new ProbeFailure(
    "tls.untrusted",
    `the certificate cannot be verified by an authority that is trusted here (issuer ${facts.issuer})${alone}`,
  );
}

/** The certificates above the leaf, in the order in which the TLS library knows them: as the server sent them, and the authority. */
export function issuersOf(leaf: DetailedPeerCertificate): DetailedPeerCertificate[] {
  const issuers: DetailedPeerCertificate[] = [];
  for (let current = leaf; issuers.length < CHAIN_LENGTH;) {
    const issuer = current.issuerCertificate;
    if (issuer === undefined || issuer === current) break;
    issuers.push(issuer);
    current = issuer;
  }
  return issuers;
}

function isoTime(text: string | undefined): string | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** Writes a name as `CN=example.com, O=Example`, the common name first. A repeated attribute is repeated. */
function distinguishedName(name: PeerCertificate["subject"] | undefined): string {
  const attributes = Object.entries(name ?? {});
  const ordered = [...attributes.filter(([key]) => key === "CN"), ...attributes.filter(([key]) => key !== "CN")];
  const parts = ordered.flatMap(([key, value]) => [value].flat().map((single) => `${key}=${single}`));
  return parts.join(", ").slice(0, NAME_LENGTH);
}

/** Takes the names out of `DNS:example.com, IP Address:192.0.2.1`. */
function subjectNames(alternativeNames: string | undefined): string[] {
  const names: string[] = [];
  let length = 0;
  for (const entry of (alternativeNames ?? "").split(", ")) {
    const name = /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1]?.slice(0, NAME_LENGTH);
    if (name === undefined) continue;
    length += name.length;
    if (names.length >= NAMES_REPORTED || length > NAMES_LENGTH) break;
    names.push(name);
  }
  return names;
}
