import { mailNotice } from "./mail_notice.ts";
import type { ClaimedNotice, DeliveryAnswer } from "./notice.ts";
import { postNotice, type PostOptions } from "./post_notice.ts";

/**
 * Sends one claimed notice in the way that its request asks for, and reports what came of it. A notice that SQL could not render is reported
 * as failed, and counts as an attempt like any other.
 *
 * @throws {PostStoppedError} If the signal aborted before the receiver answered.
 */
export async function sendNotice(notice: ClaimedNotice, options: PostOptions): Promise<DeliveryAnswer> {
  const { request } = notice;
  if ("error" in request) return { error: { code: "render", message: request.error }, latency_ms: 0 };
  if ("mail" in request) return await mailNotice({ ...notice, request }, options);
  return await postNotice({ ...notice, request }, options);
}
