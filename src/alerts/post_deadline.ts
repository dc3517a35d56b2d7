import { type Deadline, startDeadline } from "../jobs/deadline.ts";

/** How long a post may take, in ms. */
export interface PostTimeouts {
  /** To a connection that a request can be sent over, the TLS handshake included. */
  connectTimeoutMs: number;
  /** To the end of the answer. */
  timeoutMs: number;
}

/**
 * Starts the clock of one post: a deadline for all of it, and an earlier one for the connection, which is over when the request goes out.
 *
 * @param stop Aborts the post when the runtime stops.
 */
export function startPostDeadline({ connectTimeoutMs, timeoutMs }: PostTimeouts, stop: AbortSignal): Deadline {
  const whole = startDeadline(timeoutMs, stop);
  const connection = startDeadline(connectTimeoutMs, stop);
  return {
    signal: AbortSignal.any([connection.signal, whole.signal]),
    get phase() {
      return whole.phase;
    },
    set phase(phase) {
      whole.phase = phase;
      connection.phase = phase;
      if (phase === "headers") connection[Symbol.dispose]();
    },
    elapsed: whole.elapsed,
    stalled: whole.stalled,
    [Symbol.dispose]() {
      connection[Symbol.dispose]();
      whole[Symbol.dispose]();
    },
  };
}
