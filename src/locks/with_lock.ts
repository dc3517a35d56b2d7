import { getLogger } from "@logtape/logtape";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";

/** What to lock, and for how long. */
export interface LockOptions {
  database: Database;
  /** The lock's name; one holder at a time over all instances. */
  name: string;
  /** Who holds it, for the view `uptuple.locks`. */
  owner: string;
  /** A holder that died is replaced after this long, in ms. The lock is extended at half of it while the work goes on. */
  atMostMs: number;
  /** Others are held off for this long even if the work is done sooner, in ms. Default 0. */
  atLeastMs?: number;
  /** Aborts the work from outside. */
  signal?: AbortSignal;
}

/** Whether the lock was free, and what the work returned. */
export type LockOutcome<Value> = { acquired: false } | { acquired: true; value: Value };

/** The lock was lost while the work went on, or may have been: somebody else may do the same work already. */
export class LockLostError extends Error {
  override readonly name = "LockLostError";
}

const logger = getLogger(["uptuple", "locks"]);
/** The part of the time that is kept back for the work to stop in. */
const MARGIN = 0.1;
/** Wait before an extension that the database did not answer is asked for again, in ms, or a twentieth of the time if that is less. */
const RETRY_MS = 500;
/** The longest time that a timer can be set to, in ms: 24 days. A longer lock is extended and given up as if it were as long. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs work under a named lock, and gives the lock back. Returns at once if another instance holds it.
 *
 * While the work goes on the lock is extended at half its time. The work's signal aborts when an extension is refused, and else
 * a tenth of the time before the lock could be lost, by this process's monotonic clock counted from before the last call that
 * succeeded: when the database takes the lock for free, the work has been told to stop.
 *
 * @param options What to lock.
 * @param work Must stop when its signal aborts.
 * @returns Whether the lock was free, and the work's value.
 * @throws {LockLostError} If the lock was lost, whatever the work returned.
 * @throws {DatabaseUnavailableError} If the lock cannot be asked for.
 * @throws What the work throws.
 */
export async function withLock<Value>(
  options: LockOptions,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<LockOutcome<Value>> {
  const { database, name, owner, atMostMs, atLeastMs = 0 } = options;
  const askedAt = performance.now();
  const [row] = await database.query<{ token: string | null }>`
    select uptuple.acquire_lock(
      ${name}, make_interval(secs => ${atMostMs / 1000}), make_interval(secs => ${atLeastMs / 1000}), ${owner}
    ) as token`;
  const token = row?.token ?? null;
  if (token === null) return { acquired: false };

  const holding = keepLock({ database, name, token, atMostMs, askedAt });
  try {
    const value = await work(options.signal ? AbortSignal.any([holding.lost, options.signal]) : holding.lost);
    holding.lost.throwIfAborted();
    return { acquired: true, value };
  } catch (error) {
    throw holding.lost.aborted ? holding.lost.reason : error;
  } finally {
    holding.stop();
    await release(database, name, token);
  }
}

interface Holding {
  /** Aborts with a LockLostError. */
  lost: AbortSignal;
  /** Stops extending. */
  stop(): void;
}

interface Held {
  database: Database;
  name: string;
  token: string;
  atMostMs: number;
  /** `performance.now()` before the call that took the lock. */
  askedAt: number;
}

/** Extends a lock until it is stopped or the lock is lost. */
function keepLock({ database, name, token, atMostMs, askedAt }: Held): Holding {
  const controller = new AbortController();
  let stopped = false;
  let extension: ReturnType<typeof setTimeout>;
  let expiry: ReturnType<typeof setTimeout>;

  function stop(): void {
    stopped = true;
    clearTimeout(extension);
    clearTimeout(expiry);
  }

  function lose(why: string): void {
    if (stopped) return;
    stop();
    controller.abort(new LockLostError(`The lock ${name} was lost: ${why}.`));
  }

  function heldSince(since: number): void {
    clearTimeout(expiry);
    const lengthMs = Math.min(atMostMs, LONGEST_TIMER_MS);
    const stopAt = since + lengthMs * (1 - MARGIN);
    expiry = setTimeout(() => lose(`it could not be extended within ${lengthMs} ms`), stopAt - performance.now());
    extension = setTimeout(extend, since + lengthMs / 2 - performance.now());
  }

  async function extend(): Promise<void> {
    const since = performance.now();
    try {
      const [row] = await database.query<{ extended: boolean }>`
        select uptuple.extend_lock(${name}, ${token}, make_interval(secs => ${atMostMs / 1000})) as extended`;
      if (stopped) return;
      if (row?.extended) heldSince(since);
      else lose("another instance may hold it now");
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) {
        logger.warn("Extending {name} failed: {error}", { name, error });
      }
      if (!stopped) extension = setTimeout(extend, Math.min(RETRY_MS, atMostMs / 20));
    }
  }

  heldSince(askedAt);
  return { lost: controller.signal, stop };
}

/** Gives the lock back. One that cannot be given back frees itself. */
async function release(database: Database, name: string, token: string): Promise<void> {
  try {
    await database.query`select uptuple.release_lock(${name}, ${token})`;
  } catch (error) {
    logger.debug("The lock {name} was left to run out: {error}", { name, error });
  }
}
