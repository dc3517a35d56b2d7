import { ProbeFailure, ProbeStopped, RuntimeFault } from "./failure.ts";
import type { ErrorCode } from "./observation.ts";

/** What a probe is doing, and so what it was doing when its time was over. */
export type Phase = "dns" | "connect" | "tls" | "headers" | "body" | "resolver" | "expect" | "login" | "query";

/** A timer that fires this much too late, in ms, tells of a process that stood still: what it measured means nothing. */
const STALL_MS = 1000;

const TIMEOUTS: Record<Phase, { code: ErrorCode; missing: string }> = {
  dns: { code: "timeout.dns", missing: "the host name was not resolved" },
  connect: { code: "connect.timeout", missing: "no connection was made" },
  tls: { code: "timeout.tls", missing: "the TLS handshake was not finished" },
  headers: { code: "timeout.headers", missing: "the headers of the answer were not complete" },
  body: { code: "timeout.body", missing: "the body of the answer was not complete" },
  resolver: { code: "timeout.dns", missing: "the resolver did not answer" },
  expect: { code: "timeout.expect", missing: "the server was connected to and sent nothing" },
  login: { code: "timeout.expect", missing: "the server did not finish the login" },
  query: { code: "timeout.expect", missing: "the server did not answer the query" },
};

/** The one deadline of a probe, from its start to the last byte that it needs. */
export interface Deadline extends Disposable {
  /** Aborted when the time is over or the runtime stops. Its reason is the error that the probe ends with. */
  readonly signal: AbortSignal;
  /** What is being waited for now. */
  phase: Phase;
  /** Ms since the start, monotonic. */
  elapsed(): number;
  /** Whether the end came so late that the process must have stood still. */
  stalled(): boolean;
}

/**
 * Starts the clock of one probe.
 *
 * @param timeoutMs The time allowed, in ms.
 * @param stop Aborts the probe when the runtime stops.
 */
export function startDeadline(timeoutMs: number, stop: AbortSignal): Deadline {
  const startedAt = performance.now();
  const controller = new AbortController();
  const elapsed = () => performance.now() - startedAt;
  const stalled = () => elapsed() > timeoutMs + STALL_MS;

  const deadline: Deadline = {
    signal: controller.signal,
    phase: "dns",
    elapsed,
    stalled,
    [Symbol.dispose]() {
      clearTimeout(timer);
      stop.removeEventListener("abort", onStop);
    },
  };

  const onStop = () => controller.abort(new ProbeStopped("the runtime stopped"));
  const onTime = () => {
    const late = Math.round(elapsed() - timeoutMs);
    if (stalled()) return controller.abort(new RuntimeFault(`the runtime stood still: a timer fired ${late} ms late`));
    const { code, missing } = TIMEOUTS[deadline.phase];
    controller.abort(new ProbeFailure(code, `${missing} within ${timeoutMs} ms`));
  };
  const timer = setTimeout(onTime, timeoutMs);
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });

  return deadline;
}

/**
 * Waits for what `start` settles, and no longer than `signal` lets it.
 *
 * @param start Begins the work. The function it returns gives up what the work holds; it is called when the signal aborts first.
 * @throws What `start` rejects with, or the reason of the signal.
 */
export function within<T>(
  signal: AbortSignal,
  start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    let giveUp = () => {};
    const onAbort = () => {
      giveUp();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const settled = () => signal.removeEventListener("abort", onAbort);
    giveUp = start(
      (value) => {
        settled();
        resolve(value);
      },
      (reason) => {
        settled();
        reject(reason);
      },
    );
    // The signal may have aborted while the work began, when there was nothing yet to give up.
    if (signal.aborted) giveUp();
  });
}
