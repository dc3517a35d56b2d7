import type { Deadline } from "../jobs/deadline.ts";
import { errorText, ProbeFailure } from "../jobs/failure.ts";
import { type Expansion, MissingSecretError } from "../secrets.ts";
import type { DeliveryAnswer } from "./notice.ts";
import { SigningKeyError } from "./signature.ts";

/** A message is cut to this many characters. */
const MESSAGE_LENGTH = 500;

/**
 * What is reported of a notice that got no answer: `secret.missing` also for a signing key that is none, `runtime` if this machine is what
 * failed, else the code of the phase.
 */
export function deliveryFailure(
  error: unknown,
  deadline: Deadline,
  expansion: Expansion,
): NonNullable<DeliveryAnswer["error"]> {
  const { code, message } = failureOf(error, deadline);
  return { code, message: shown(message, expansion) };
}

function failureOf(error: unknown, deadline: Deadline): NonNullable<DeliveryAnswer["error"]> {
  if (error instanceof MissingSecretError) return { code: "secret.missing", message: error.message };
  if (error instanceof SigningKeyError) return { code: "secret.missing", message: error.message };
  if (deadline.stalled()) return { code: "runtime", message: "the runtime stood still during the post" };
  if (error instanceof ProbeFailure) return { code: error.code, message: error.message };
  return { code: "runtime", message: errorText(error) };
}

/** A message as it may be stored and shown: without secrets, in one line, of limited length. */
function shown(message: string, expansion: Expansion): string {
  // deno-lint-ignore no-control-regex -- a message may quote what a server sent
  return expansion.redact(message).replace(/[\x00-\x1f\x7f]+/g, " ").slice(0, MESSAGE_LENGTH);
}
