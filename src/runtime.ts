import { getLogger } from "@logtape/logtape";
import { createAlertLoop } from "./alerts/alert_loop.ts";
import { tellDue } from "./alerts/tell_loop.ts";
import type { Config } from "./config.ts";
import type { OpenDatabase } from "./database/open.ts";
import { callHeartbeat } from "./heartbeat.ts";
import { enqueueJobs } from "./jobs/enqueue_loop.ts";
import { createJobLoop } from "./jobs/job_loop.ts";
import { transportChoice } from "./jobs/http/transport.ts";
import { networkPolicy } from "./jobs/network_policy.ts";
import { createSight } from "./jobs/sight.ts";
import { RELEASE } from "./release.ts";
import { secretStore } from "./secrets.ts";
import { createShift, type Shift } from "./shift.ts";
import { createTaskLoop } from "./tasks/task_loop.ts";
import { createWake } from "./wake.ts";

/** The work of one runtime: probing, delivering and scheduled tasks while cron ticks come. */
export interface Runtime {
  /** A tick of the minute's cron: the loops work on for 75 s. Resolves after 55 s, before the next tick, or when the runtime stops. */
  tick(): Promise<void>;
  /** Calls the watcher's watcher, if the monitor vouches for itself. */
  heartbeat(): Promise<void>;
  /** Stops claiming, finishes or gives back what is under way, and resolves. */
  stop(): Promise<void>;
}

const logger = getLogger(["uptuple", "runtime"]);
/** Longer than the time between two ticks: a container works without a gap. */
const SHIFT_MS = 75_000;
/** Deno skips a tick whose predecessor still runs. */
const TICK_MS = 55_000;
/** A runtime is shown as lost after 45 s of silence. */
const REPORT_MS = 10_000;

/**
 * @param config What this runtime may do.
 * @param opened A database with a schema that fits.
 * @param variable Reads an environment variable: secrets, and what a tasks file names.
 */
export function createRuntime(
  config: Config,
  { database, url }: Pick<OpenDatabase, "database" | "url">,
  variable: (name: string) => string | undefined,
): Runtime {
  const { worker, region, roles } = config;
  const stopping = new AbortController();
  const secrets = secretStore(variable);
  const transport = transportChoice(config.onDeploy);
  const policy = networkPolicy(config.networks);
  const sight = createSight({
    canaries: roles.has("probe") ? config.canaryUrls : [],
    secrets,
    policy,
    transport,
    signal: stopping.signal,
  });
  const jobs = createJobLoop({ database, worker, region, secrets, transport, policy, sight, beforeFailures });
  const alerts = createAlertLoop({ database, worker, secrets, transport, policy });
  const tasks = createTaskLoop({ database, url, worker, tasksFile: config.tasksFile, variable });
  let shift: Shift | null = null;
  let working: Promise<void> | null = null;
  let isAnotherShiftWanted = false;
  let listening = false;

  async function listen(): Promise<void> {
    if (listening) return;
    listening = true;
    if (roles.has("probe")) await database.listen("uptuple_jobs", jobs.wake, jobs.wake);
    if (roles.has("deliver")) await database.listen("uptuple_alerts", alerts.wake, alerts.wake);
    await database.listen("uptuple_tasks", tasks.wake, tasks.wake);
  }

  async function reportOnce(): Promise<void> {
    const facts = sight.facts();
    const done = jobs.tally.take();
    try {
      await database.query`
        select uptuple.report_worker(
          ${worker}, ${region}, ${[
        ...roles,
      ]}, ${RELEASE}, ${done.outcomes.ACCEPTED ?? 0}, ${facts.unanswered}, ${facts.canary}::jsonb
        )`;
      sight.reported(facts);
      if (done.lateMs.length > 0 || Object.keys(done.outcomes).length > 0) {
        await database.query`
          select uptuple.report_work(${region}, ${done.lateMs}::integer[], ${done.leasesExpired}, ${done.outcomes}::jsonb)`;
      }
    } catch (error) {
      jobs.tally.giveBack(done);
      logger.debug("This runtime could not report itself: {error}", { error });
    }
  }

  /** What says that this runtime may be blind reaches the database before what it may have been blind to. */
  async function beforeFailures(): Promise<void> {
    if (await sight.lookTwice()) await reportOnce();
  }

  async function report(shift: Shift): Promise<void> {
    const pause = createWake();
    while (!shift.over) {
      await sight.refresh();
      await reportOnce();
      await pause.sleep(REPORT_MS, shift.stopped);
    }
  }

  async function work(shift: Shift): Promise<void> {
    const loops = [report(shift), enqueueJobs(database, shift, jobs.wake), tellDue(database, shift), tasks.run(shift)];
    if (roles.has("probe")) loops.push(jobs.run(shift));
    if (roles.has("deliver")) loops.push(alerts.run(shift));
    await Promise.all(loops);
  }

  /** A tick that comes too late to extend a shift begins another, as soon as the work of the old one is done. */
  async function workInShifts(): Promise<void> {
    try {
      do {
        isAnotherShiftWanted = false;
        shift = createShift();
        shift.extend(SHIFT_MS);
        await work(shift);
      } while (isAnotherShiftWanted && !stopping.signal.aborted);
    } finally {
      working = null;
    }
  }

  return {
    async tick() {
      if (!roles.has("probe") && !roles.has("deliver") || stopping.signal.aborted) return;
      await listen();
      if (shift?.extend(SHIFT_MS) !== true) isAnotherShiftWanted = true;
      working ??= workInShifts();
      await createWake().sleep(TICK_MS, stopping.signal);
    },
    async heartbeat() {
      if (config.heartbeatUrl !== null) await callHeartbeat(config.heartbeatUrl, database);
    },
    async stop() {
      stopping.abort();
      shift?.stop();
      await working;
      try {
        await database.query`select uptuple.retire_worker(${worker})`;
      } catch (error) {
        logger.debug("This runtime could not say that it stops: {error}", { error });
      }
    },
  };
}
