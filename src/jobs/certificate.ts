import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from "node:tls";
import { ProbeFailure } from "./failure.ts";
import type { Certificate } from "./observation.ts";

/** A certificate may list thousands of names; this many are reported. */
const NAMES_REPORTED = 100;

/** A distinguished name is cut to this many characters. */
const NAME_LENGTH = 300;

/** More certificates than any honest chain has. */
const CHAIN_LENGTH = 10;

/** The facts of a peer's certificate, or null if it shows none that can be read. */
export function certificateFacts(certificate: PeerCertificate): Certificate | null {
  const notBefore = isoTime(certificate.valid_from);
  const notAfter = isoTime(certificate.valid_to);
  if (notBefore === null || notAfter === null) return null;
  return {
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
  const facts = certificateFacts(leaf);
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
  const expired = expiredIntermediate(leaf, now);
  if (expired !== null) {
    return new ProbeFailure(
      "tls.expired",
      `the intermediate certificate ${expired.subject} expired on ${expired.not_after}`,
    );
  }
  return new ProbeFailure(
    "tls.untrusted",
    `the certificate is not signed by an authority that is trusted here (issuer ${facts.issuer})`,
  );
}

/** The first certificate above the leaf, among those the server sent, that is out of date. */
function expiredIntermediate(leaf: DetailedPeerCertificate, now: number): Certificate | null {
  let current = leaf;
  for (let depth = 0; depth < CHAIN_LENGTH; depth++) {
    const issuer = current.issuerCertificate;
    if (issuer === undefined || issuer === current) return null;
    const facts = certificateFacts(issuer);
    if (facts !== null && Date.parse(facts.not_after) <= now) return facts;
    current = issuer;
  }
  return null;
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
  const names = (alternativeNames ?? "").split(", ").flatMap((entry) => {
    const value = /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1];
    return value === undefined ? [] : [value.slice(0, NAME_LENGTH)];
  });
  return names.slice(0, NAMES_REPORTED);
}
