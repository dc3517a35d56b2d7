/** Sleep that others can cut short. A hint that comes while nobody sleeps makes the next sleep end at once, so that none is lost. */
export interface Wake {
  /** Ends the sleep. */
  now(): void;
  /** Resolves after so many ms, when `now` is called, or when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** A wake for one sleeper. */
export function createWake(): Wake {
  let hinted = false;
  let end: (() => void) | null = null;
  return {
    now() {
      hinted = true;
      end?.();
    },
    async sleep(ms, signal) {
      if (!hinted && !signal.aborted && ms > 0) {
        await new Promise<void>((resolve) => {
          const finish = () => {
            clearTimeout(timer);
            signal.removeEventListener("abort", finish);
            end = null;
            resolve();
          };
          const timer = setTimeout(finish, ms);
          end = finish;
          signal.addEventListener("abort", finish);
        });
      }
      hinted = false;
    },
  };
}
