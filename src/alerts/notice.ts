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

/** The request as SQL rendered it for the channel's kind. */
export type NoticeRequest = HttpNoticeRequest | MailRequest | FailedRendering;

/** A request over HTTP. URL and headers may hold `${UPTUPLE_SECRET_NAME}`, not yet expanded. */
export interface HttpNoticeRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /**
   * Sent byte for byte as it is: what looks like a secret's name in it is text that a target wrote. Only the members that `secrets_at`
   * names are otherwise.
   */
  body: string;
  /** Members of the body, which is then a JSON object, whose values come from the channel's options and may name secrets. */
  secrets_at?: string[];
}

/** A mail, and the server that takes it. */
export interface MailRequest {
  /** `smtp://host:port`, or `smtps://host:port` for TLS from the start. */
  url: string;
  /** Whether a plain connection must, may or must not be upgraded to TLS. */
  starttls: "required" | "offered" | "never";
  /** The password names a secret. */
  login?: { user: string; password: string };
  /** Authorities in PEM that are trusted instead of the system's; names a secret. */
  ca?: string;
  /** Sent as it is: nothing in it is expanded. */
  mail: {
    from: string;
    to: string[];
    subject: string;
    text: string;
    html: string;
    /** ISO 8601. */
    date: string;
    /** The same in every attempt. */
    message_id: string;
    references: string;
  };
}

/** What stands in the place of a request that could not be rendered. */
export interface FailedRendering {
  error: string;
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
  /** The step that a mail server's status answers, such as `RCPT TO`. */
  command?: string;
  /** The header as it was received, seconds or a date. */
  retry_after?: string;
  /** The beginning of the answer's body, of at most 512 bytes. */
  excerpt?: string;
  /** `code` is one of a probe's, `runtime` if this machine is what failed, or `render` if there was no request to send. */
  error?: { code: ErrorCode | "runtime" | "render"; message: string };
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
