import type { ErrorCode } from "../jobs/observation.ts";

/** A row of `uptuple.claim_alerts`. */
export interface NoticeRow {
  delivery_id: string;
  claim_token: string;
  event_id: string;
  kind: string;
  channel: string;
  attempt: number;
  request: NoticeRequest;
  signing_secrets: string[];
  connect_timeout_ms: number;
  timeout_ms: number;
  lease_ms: number;
}

/** The request as SQL rendered it for the channel's kind. URL and headers may hold `${UPTUPLE_SECRET_NAME}`, not yet expanded. */
export interface NoticeRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Sent byte for byte as it is: what looks like a secret's name in it is text that a target wrote. */
  body: string;
}

/** A notice that this runtime has leased. */
export interface ClaimedNotice {
  deliveryId: string;
  claimToken: string;
  /** The same in every attempt; receivers see it as `Idempotency-Key` and `webhook-id`. */
  eventId: string;
  /** Such as `service.failed`. */
  kind: string;
  channel: string;
  /** Counts from 1. */
  attempt: number;
  request: NoticeRequest;
  /** The keys to sign with, as `${UPTUPLE_SECRET_NAME}`; two while one is rotated, none for no signature. */
  signingSecrets: string[];
  connectTimeoutMs: number;
  timeoutMs: number;
  /** When the lease ends, by this process's monotonic clock, in ms: counted from before the claim, so never too late. */
  leaseEnd: number;
  /** Ties the lines of a claim to those of its answer; 32 hex digits. */
  trace: string;
}

/**
 * What came of a post, in the form that `uptuple.finish_alert` takes as `response`, without secrets. It has a status if the receiver
 * answered, and an error if not.
 */
export interface DeliveryAnswer {
  status?: number;
  /** The header as it was received, seconds or a date. */
  retry_after?: string;
  /** The beginning of the answer's body, of at most 512 bytes. */
  excerpt?: string;
  /** `code` is one of a probe's, or `runtime` if this machine is what failed. */
  error?: { code: ErrorCode | "runtime"; message: string };
  /** From the start to the last byte that was needed. */
  latency_ms: number;
}

/**
 * @param row As SQL gave it.
 * @param askedAt `performance.now()` before the claim was sent.
 */
export function claimedNotice(row: NoticeRow, askedAt: number): ClaimedNotice {
  return {
    deliveryId: row.delivery_id,
    claimToken: row.claim_token,
    eventId: row.event_id,
    kind: row.kind,
    channel: row.channel,
    attempt: row.attempt,
    request: row.request,
    signingSecrets: row.signing_secrets,
    connectTimeoutMs: row.connect_timeout_ms,
    timeoutMs: row.timeout_ms,
    leaseEnd: askedAt + row.lease_ms,
    trace: row.claim_token.replaceAll("-", ""),
  };
}
