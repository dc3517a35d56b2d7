import type { Certificate, Redirect, Timings } from "./observation.ts";

/** What a probe has seen up to now. It goes into the observation whether the probe ends well or not. */
export interface Trail {
  readonly timings: Omit<Timings, "total">;
  readonly redirects: Redirect[];
  readonly warnings: Set<string>;
  status?: number;
  address?: string;
  family?: 4 | 6;
  certificate?: Certificate;
  /** The certificate of the connection that is in use. */
  lastCertificate?: Certificate;
}

export function emptyTrail(): Trail {
  return { timings: {}, redirects: [], warnings: new Set() };
}

/** Adds ms to a phase, which may have been gone through on an earlier hop. */
export function addTime(trail: Trail, phase: "dns" | "connect" | "tls" | "first_byte", ms: number): void {
  trail.timings[phase] = milliseconds((trail.timings[phase] ?? 0) + ms);
}

/** Notes a certificate that was met: of several, the one that expires first is the one to know about. */
export function noteCertificate(trail: Trail, certificate: Certificate): void {
  trail.lastCertificate = certificate;
  if (trail.certificate === undefined || certificate.not_after < trail.certificate.not_after) {
    trail.certificate = certificate;
  }
}

/** Rounds to microseconds; more digits only take room. */
export function milliseconds(value: number): number {
  return Math.round(value * 1000) / 1000;
}
