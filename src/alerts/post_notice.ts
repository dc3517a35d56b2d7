import { Buffer } from "node:buffer";
import type { Deadline } from "../jobs/deadline.ts";
import { type Resolver, systemResolver } from "../jobs/dial.ts";
import { ProbeStopped } from "../jobs/failure.ts";
import type { Answer } from "../jobs/http/exchange.ts";
import { firstRequest, type HttpRequest } from "../jobs/http/request.ts";
import { NODE_TRANSPORT, type Transport } from "../jobs/http/transport.ts";
import { type NetworkPolicy, networkPolicy } from "../jobs/network_policy.ts";
import { tlsSettings } from "../jobs/tls_settings.ts";
import { emptyTrail, milliseconds } from "../jobs/trail.ts";
import type { Expansion, SecretStore } from "../secrets.ts";
import { deliveryFailure } from "./delivery_failure.ts";
import type { ClaimedNotice, DeliveryAnswer, HttpNoticeRequest } from "./notice.ts";
import { startPostDeadline } from "./post_deadline.ts";
import { sign, signingKey } from "./signature.ts";

/** Only as much of a receiver's answer is read as a person needs to see what it said, in bytes. */
const EXCERPT_LIMIT = 512;

/** A date is shorter than this, in characters. */
const RETRY_AFTER_LENGTH = 100;

const DEFAULT_POLICY = networkPolicy();

/** What a post works with. */
export interface PostOptions {
  secrets: SecretStore;
  /** Aborts the post when the runtime stops. */
  signal: AbortSignal;
  /** Default: node's sockets. */
  transport?: Transport;
  /** Default: link-local and cloud metadata addresses are denied. */
  policy?: NetworkPolicy;
  /** Default: the system's resolver. */
  resolve?: Resolver;
}

/** The runtime stopped before the receiver answered. */
export class PostStoppedError extends Error {
  override readonly name = "PostStoppedError";

  /**
   * @param sent Whether the notice may have arrived. If so, its lease must run out, and it is sent again under the same id; if not, it
   *   can be given back with `uptuple.release_alerts`.
   */
  constructor(readonly sent: boolean) {
    super(sent ? "the runtime stopped before the receiver answered" : "the runtime stopped before the notice was sent");
  }
}

/**
 * Posts one claimed notice and reports what the receiver said. What the answer means, and whether and when to try again,
 * `uptuple.finish_alert` decides.
 *
 * A receiver that sent a status has answered, whatever becomes of the rest: an answer without end, or one that breaks off, costs no more
 * than its excerpt. Redirects are answers like others. Each post makes a connection of its own.
 *
 * @param notice The request as `uptuple.claim_alerts` rendered it, with `${UPTUPLE_SECRET_NAME}` not yet expanded.
 * @returns Status, `Retry-After`, an excerpt and the time taken; or the code of what failed: that of the phase, `secret.missing` also for
 *   a signing key that is none.
 * @throws {PostStoppedError} If the signal aborted before the receiver answered.
 */
export async function postNotice(
  notice: ClaimedNotice & { request: HttpNoticeRequest },
  options: PostOptions,
): Promise<DeliveryAnswer> {
  const expansion = options.secrets.expansion();
  using deadline = startPostDeadline(notice, options.signal);
  try {
    deadline.signal.throwIfAborted();
    const request = await signedRequest(notice, expansion);
    const answer = await exchangeNotice(request, deadline, options);
    return { ...reported(answer, expansion), latency_ms: milliseconds(deadline.elapsed()) };
  } catch (error) {
    if (error instanceof ProbeStopped) throw new PostStoppedError(isSent(deadline));
    return { error: deliveryFailure(error, deadline, expansion), latency_ms: milliseconds(deadline.elapsed()) };
  }
}

/** The request with its secrets, and with the headers that are of this attempt. */
async function signedRequest(
  notice: ClaimedNotice & { request: HttpNoticeRequest },
  expansion: Expansion,
): Promise<HttpRequest> {
  const body = Buffer.from(expandedBody(notice.request, expansion));
  const timestamp = Math.floor(Date.now() / 1000);
  const headers = { ...notice.request.headers, "webhook-timestamp": String(timestamp) };
  if (notice.signingSecrets.length > 0) {
    const keys = notice.signingSecrets.map((secret) => signingKey(expansion.text(secret), secret));
    Object.assign(headers, { "webhook-signature": await sign({ id: notice.eventId, timestamp, body }, keys) });
  }
  const { method, url } = notice.request;
  return { ...firstRequest(url, { method, headers }, expansion), body };
}

/**
 * The body with the secrets that its channel's options name. Everything else in it stays as it is: a target may write
 * `${UPTUPLE_SECRET_NAME}` into the reason it gives, and must not have it read to others. JSON escapes the values.
 */
function expandedBody({ body, secrets_at: members = [] }: HttpNoticeRequest, expansion: Expansion): string {
  if (members.length === 0) return body;
  const parsed: Record<string, unknown> = JSON.parse(body);
  for (const member of members) {
    const template = parsed[member];
    if (typeof template === "string") parsed[member] = expansion.text(template);
  }
  return JSON.stringify(parsed);
}

/** Posts, and keeps what came of the answer if the rest of it does not come. */
async function exchangeNotice(request: HttpRequest, deadline: Deadline, options: PostOptions): Promise<Answer> {
  const { visit } = options.transport ?? NODE_TRANSPORT;
  let head: Answer | undefined;
  const settings = {
    config: {},
    tlsFor: () => tlsSettings(undefined, false, options.secrets.expansion()),
    bodyLimit: EXCERPT_LIMIT,
    wantsBody(status: number, headers: Answer["headers"]): boolean {
      head = { status, headers };
      return true;
    },
    context: {
      deadline,
      trail: emptyTrail(),
      policy: options.policy ?? DEFAULT_POLICY,
      resolve: options.resolve ?? systemResolver,
    },
  };
  try {
    return await visit(request, "", settings);
  } catch (error) {
    if (head === undefined) throw error;
    return head;
  }
}

function reported({ status, headers, body }: Answer, expansion: Expansion): Omit<DeliveryAnswer, "latency_ms"> {
  const retryAfter = headers.find(([name]) => name === "retry-after")?.[1];
  const isWhole = body !== undefined && !body.capped && body.failure === undefined;
  const text = body?.text ?? "";
  return {
    status,
    ...(retryAfter === undefined ? {} : { retry_after: expansion.redact(retryAfter).slice(0, RETRY_AFTER_LENGTH) }),
    excerpt: isWhole ? expansion.redact(text) : expansion.redactCut(text),
  };
}

/** Whether the request has gone out, or may have. */
function isSent({ phase }: Deadline): boolean {
  return phase === "headers" || phase === "body";
}
