import assert from "node:assert/strict";
import type { ClaimedNotice, DeliveryAnswer } from "../../src/alerts/notice.ts";
import type { PostOptions } from "../../src/alerts/post_notice.ts";
import { sendNotice } from "../../src/alerts/send_notice.ts";
import { secretStore } from "../../src/secrets.ts";

/** What a test may set of a notice and of the post. */
export interface PostingOptions extends Partial<PostOptions> {
  notice?: Partial<ClaimedNotice>;
  /** Added to the headers that SQL renders. */
  headers?: Record<string, string>;
  body?: string;
  /** The environment that secrets come from. Default: empty. */
  environment?: Record<string, string>;
}

/** A body as SQL renders it, with what JSON and UTF-8 make difficult. */
export const BODY =
  `{"type": "service.failed", "timestamp": "2026-01-02T03:04:05.678Z", "data": {"reason": "\\"caf\u00e9\\" \ud83d\udd25 \\u0000"}}`;

/** A claimed notice for a URL. */
export function noticeFor(url: string, options: PostingOptions = {}): ClaimedNotice {
  const eventId = options.notice?.eventId ?? "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
  return {
    deliveryId: "1",
    claimToken: "0b1e6f0a-3f67-4e3c-9a0e-5d8f6a1b2c3d",
    eventId,
    kind: "service.failed",
    channel: "ops",
    attempt: 1,
    request: {
      method: "POST",
      url,
      headers: {
        "webhook-id": eventId,
        "Content-Type": "application/json",
        "Idempotency-Key": eventId,
        ...options.headers,
      },
      body: options.body ?? BODY,
    },
    signingSecrets: [],
    connectTimeoutMs: 2000,
    timeoutMs: 5000,
    leaseEnd: performance.now() + 30_000,
    trace: "0b1e6f0a3f674e3c9a0e5d8f6a1b2c3d",
    ...options.notice,
  };
}

/** Posts a notice once. */
export function post(url: string, options: PostingOptions = {}): Promise<DeliveryAnswer> {
  const { notice: _notice, headers: _headers, body: _body, environment = {}, ...rest } = options;
  return sendNotice(noticeFor(url, options), {
    signal: new AbortController().signal,
    secrets: secretStore((name) => environment[name]),
    ...rest,
  });
}

/** Asserts that the receiver answered, and with which status. */
export function assertAnswered(answer: DeliveryAnswer, status: number): void {
  assert.equal(answer.error, undefined, answer.error?.message);
  assert.equal(answer.status, status);
}

/** Asserts with which error a post ended, and what its message says. */
export function assertFailed(answer: DeliveryAnswer, code: string, message?: RegExp): void {
  assert.equal(answer.error?.code, code, `${answer.status} ${answer.error?.code}: ${answer.error?.message}`);
  assert.equal(answer.status, undefined);
  if (message !== undefined) assert.match(answer.error.message, message);
}
