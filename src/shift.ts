/**
 * How long loops work on. Each cron tick moves the end of the shift; in a container the ticks never stop and neither does the shift, and
 * an edge isolate stops by itself when they do.
 */
export interface Shift {
  /**
   * Moves the end to so many ms from now, unless it has passed: loops that have gone home do not come back.
   *
   * @returns Whether the shift goes on.
   */
  extend(ms: number): boolean;
  /** True, and from then on for good, once the end has passed or `stop` was called. */
  readonly over: boolean;
  /** Aborts when `stop` is called. */
  readonly stopped: AbortSignal;
  /** Ends it now. */
  stop(): void;
}

/** A shift that begins when it is extended first, and ends when nobody extends it. */
export function createShift(): Shift {
  const controller = new AbortController();
  let end = Infinity;
  let over = false;
  const isOver = () => over ||= controller.signal.aborted || performance.now() >= end;
  return {
    extend(ms) {
      if (isOver()) return false;
      end = performance.now() + ms;
      return true;
    },
    get over() {
      return isOver();
    },
    stopped: controller.signal,
    stop() {
      controller.abort();
    },
  };
}
