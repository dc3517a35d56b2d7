import { getLogger } from "@logtape/logtape";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import { retryUntilLeaseEnds } from "../database/retry.ts";
import type { Shift } from "../shift.ts";
import { createWake } from "../wake.ts";
import { type ClaimedRun, claimedRun, type RunRow } from "./claimed_run.ts";
import { executeRun, type Execution } from "./execute_run.ts";
import { createTasksFile } from "./tasks_file.ts";

/** What the loop works with. */
export interface TaskLoopOptions {
  database: Database;
  /** Where each run connects on its own. */
  url: string;
  worker: string;
  /** The tasks file's path, or null for none. It need not exist. */
  tasksFile: string | null;
  /** Reads an environment variable, for `${NAME}` in the tasks file. */
  variable(name: string): string | undefined;
}

/** Loads the tasks file, claims tasks that are due, runs each on a connection of its own, and records what came of it. */
export interface TaskLoop {
  /** Works until the shift is over. Runs under way are then cancelled after a moment, and recorded. */
  run(shift: Shift): Promise<void>;
  /** Looks for due tasks now; called when NOTIFY `uptuple_tasks` hints at one. */
  wake(): void;
}

const logger = getLogger(["uptuple", "tasks"]);
/** Runs under way at once in this process; each has a connection. */
const SLOTS = 8;
/** The longest sleep between two looks, in ms: an edit of a task takes effect at the next look. */
const POLL_MS = 1000;
/** The shortest, in ms: what is due may be in another runtime's hands at this moment. */
const SHORTEST_POLL_MS = 20;
/** How often the tasks file is looked at, in ms. */
const FILE_MS = 2000;
/** How long runs may still end by themselves when the program stops, in ms. */
const FAREWELL_MS = 1000;

/** @param options What to work with. */
export function createTaskLoop({ database, url, worker, tasksFile, variable }: TaskLoopOptions): TaskLoop {
  const wake = createWake();
  const running = new Set<Promise<void>>();

  /** @returns A run, or null and how long nothing is due, in ms. */
  async function claim(): Promise<{ run: ClaimedRun | null; idleMs: number }> {
    const askedAt = performance.now();
    const [row] = await database.query<RunRow>`select * from uptuple.claim_task(${worker})`;
    if (row !== undefined) return { run: claimedRun(row, askedAt), idleMs: 0 };
    const [next] = await database.query<{ due: number | null }>`select uptuple.next_task_due() as due`;
    return { run: null, idleMs: Math.max(SHORTEST_POLL_MS, Math.min(POLL_MS, next?.due ?? POLL_MS)) };
  }

  async function work(run: ClaimedRun, stop: AbortSignal): Promise<void> {
    const facts = { task: run.task, trace: run.trace, run: run.runId };
    const begun = performance.now();
    logger.debug("{task} is run ({run})", { ...facts, function: run.function, fireAt: run.fireAt });
    const execution = await executeRun(url, run, stop);
    const tookMs = Math.round(performance.now() - begun);
    const taken = await finish(run, execution);
    if ("error" in execution) {
      logger.warn("{task} failed after {tookMs} ms: {error}", { ...facts, tookMs, ...execution });
    } else logger.info("{task} was run in {tookMs} ms", { ...facts, tookMs, ...execution });
    if (!taken) logger.warn("The outcome of {task} came too late: its lock had run out", { ...facts });
  }

  async function finish(run: ClaimedRun, execution: Execution): Promise<boolean> {
    const { error, code } = "error" in execution ? execution : { error: null, code: null };
    const [row] = await retryUntilLeaseEnds(run.leaseEnd, "finish_task", () =>
      database.query<{ taken: boolean }>`
        select uptuple.finish_task(${run.runId}, ${run.token}, ${error}, ${code}) as taken`);
    return row?.taken ?? false;
  }

  function start(run: ClaimedRun, stop: AbortSignal): void {
    const task = work(run, stop)
      .catch((error) => {
        // Its lock runs out, and whoever claims next finds that it is lost.
        logger.warn("A run of {task} was left to its lock: {error}", { task: run.task, trace: run.trace, error });
      })
      .finally(() => {
        running.delete(task);
        wake.now();
      });
    running.add(task);
  }

  async function claimUntilNothingIsDue(stop: AbortSignal): Promise<number> {
    while (running.size < SLOTS) {
      const { run, idleMs } = await claim();
      if (run === null) return idleMs;
      start(run, stop);
    }
    return POLL_MS;
  }

  async function claimTasks(shift: Shift): Promise<void> {
    const stop = new AbortController();
    let shipped = false;
    while (!shift.over) {
      let idleMs = POLL_MS;
      try {
        if (!shipped) await database.query`select uptuple.ensure_builtin_tasks()`;
        shipped = true;
        idleMs = await claimUntilNothingIsDue(stop.signal);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError)) logger.error("Claiming tasks failed: {error}", { error });
      }
      await wake.sleep(idleMs, shift.stopped);
    }
    const farewell = setTimeout(() => stop.abort(), FAREWELL_MS);
    await Promise.all(running);
    clearTimeout(farewell);
  }

  async function watchFile(shift: Shift): Promise<void> {
    if (tasksFile === null) return;
    const file = createTasksFile({ database, path: tasksFile, variable });
    const pause = createWake();
    while (!shift.over) {
      if (await file.look(shift.stopped)) wake.now();
      await pause.sleep(FILE_MS, shift.stopped);
    }
  }

  return {
    async run(shift) {
      await Promise.all([claimTasks(shift), watchFile(shift)]);
    },
    wake: wake.now,
  };
}
