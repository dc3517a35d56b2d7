/**
 * How long a loop works on. Each cron tick moves the end of the shift; in a container the ticks never stop and neither does the shift, and
 * an edge isolate stops by itself when they do.
 */
export interface Shift {
  /** Moves the end to so many ms from now. */
  extend(ms: number): void;
  /** True once the end has passed, or `stop` was called. */
  readonly over: boolean;
  /** Aborts when `stop` is called. */
  readonly stopped: AbortSignal;
  /** Ends it now, for good. */
  stop(): void;
}

/** A shift that ends when nobody extends it. */
export function createShift(): Shift {
  const controller = new AbortController();
  let end = 0;
  return {
    extend(ms) {
      end = performance.now() + ms;
    },
    get over() {
      return controller.signal.aborted || performance.now() >= end;
    },
    stopped: controller.signal,
    stop() {
      controller.abort();
    },
  };
}
