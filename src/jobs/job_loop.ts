import { getLogger } from "@logtape/logtape";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import type { SecretStore } from "../secrets.ts";
import type { Shift } from "../shift.ts";
import { createWake } from "../wake.ts";
import { type ClaimedJob, claimedJob, type JobRow } from "./claimed_job.ts";
import { createCompletions } from "./completions.ts";
import type { Transport } from "./http/transport.ts";
import type { NetworkPolicy } from "./network_policy.ts";
import { probe } from "./probe.ts";
import { type WorkTally, workTally } from "./work_tally.ts";
import type { Sight } from "./sight.ts";

/** What the loop works with. */
export interface JobLoopOptions {
  database: Database;
  worker: string;
  region: string;
  secrets: SecretStore;
  /** Chooses how requests are carried. */
  transport: () => Promise<Transport>;
  /** What may be connected to. */
  policy: NetworkPolicy;
  /** Takes note of what each probe saw. */
  sight: Pick<Sight, "note">;
  /** Called before failures are reported, which wait for it. It never rejects. */
  beforeFailures: () => Promise<void>;
  /** Probes under way at once. Default 1000. */
  slots?: number;
}

/** Claims due jobs into free slots, probes, and reports, until its shift is over. */
export interface JobLoop {
  /** Works until the shift is over. Everything claimed is then answered or given back. */
  run(shift: Shift): Promise<void>;
  /** Looks for due jobs now; called when NOTIFY hints at one. */
  wake(): void;
  /** What was claimed and completed, for the report. */
  tally: Pick<WorkTally, "take" | "giveBack">;
}

const logger = getLogger(["uptuple", "jobs"]);
/** The longest sleep between two looks, in ms: NOTIFY is a hint only, and windows are made a little ahead. */
const POLL_MS = 1000;
/**
 * The shortest one. Jobs that come due meanwhile are claimed together: at 333 checks a second the server took 425 us of CPU a check, and
 * 700 us when a claim that had found jobs was followed by the next one at once; claims were 19 ms late (p50) and not 6 ms.
 */
const PAUSE_MS = 25;
/**
 * Probes that began in the last half second, at once; and so jobs per claim, since more would make one transaction long. What takes longer
 * waits for its target and hardly for this process, and leaves its place to others: a thousand services that hang must not hold up
 * those that answer, and a thousand handshakes that begin together would measure each other.
 */
const YOUNG_LIMIT = 200;
const YOUNG_MS = 500;
/** A probe is not started with less than its timeout and this many ms of its lease left. */
const LEASE_MARGIN_MS = 5000;
/** How long probes may still finish when the program stops, in ms; then they are given back. */
const FAREWELL_MS = 2000;
/** Wait after the database could not be reached, in ms, doubled up to the second. */
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 5000;

/** @param options What to work with. */
export function createJobLoop(options: JobLoopOptions): JobLoop {
  const { database, worker, region } = options;
  const slots = options.slots ?? 1000;
  const wake = createWake();
  const tally = workTally();
  const completions = createCompletions(database, options.beforeFailures, tally.completed);
  /** When each of the jobs under way was started, by `performance.now()`. */
  const running = new Map<Promise<void>, number>();

  function freeSlots(): number {
    const youngSince = performance.now() - YOUNG_MS;
    let young = 0;
    for (const startedAt of running.values()) if (startedAt > youngSince) young += 1;
    return Math.min(slots - running.size, YOUNG_LIMIT - young);
  }

  async function claim(free: number): Promise<ClaimedJob[]> {
    const askedAt = performance.now();
    const rows = await database.query<JobRow>`
      select job_id, scheduled_slot, owner_token, service, kind, target, config, timeout_ms, attempt, lease_ms, late_ms, took_over
      from uptuple.claim_jobs(${worker}, ${free}, ${region})`;
    return rows.map((row) => {
      tally.claimed(row);
      return claimedJob(row, askedAt);
    });
  }

  /** How long to sleep: until the next due time that SQL names, and not longer than a poll. */
  async function untilNextDue(): Promise<number> {
    const [next] = await database.query<{ ms: number | null }>`select uptuple.next_job_due(${region}, ${worker}) as ms`;
    return Math.min(Math.max(next?.ms ?? POLL_MS, PAUSE_MS), POLL_MS);
  }

  async function work(job: ClaimedJob, stop: AbortSignal): Promise<void> {
    if (job.leaseEnd - performance.now() < job.timeoutMs + LEASE_MARGIN_MS) return await giveBack(job);
    const transport = await options.transport();
    const outcome = await probe(job, { signal: stop, secrets: options.secrets, policy: options.policy, transport });
    if ("observation" in outcome) {
      options.sight.note(outcome.observation);
      completions.add({ job, observation: outcome.observation });
    } else if ("aborted" in outcome) await giveBack(job);
    else await retry(job, outcome.stalled);
  }

  async function giveBack(job: ClaimedJob): Promise<void> {
    await database.query`select uptuple.release_jobs(${[job.jobId]}, ${[job.ownerToken]})`;
  }

  async function retry(job: ClaimedJob, error: string): Promise<void> {
    logger.warn("A check of {service} broke and is retried: {error}", {
      service: job.service,
      trace: job.trace,
      error,
    });
    await database.query`select uptuple.retry_job(${job.jobId}, ${job.ownerToken}, ${error})`;
  }

  function start(job: ClaimedJob, stop: AbortSignal): void {
    const task = work(job, stop)
      // The lease runs out, and whoever claims the job then takes over.
      .catch((error) =>
        logger.warn("A job of {service} was left to its lease: {error}", {
          service: job.service,
          trace: job.trace,
          error,
        })
      )
      .finally(() => running.delete(task));
    running.set(task, performance.now());
  }

  async function run(shift: Shift): Promise<void> {
    const stop = new AbortController();
    let retryMs = RETRY_MS;
    while (!shift.over) {
      let pauseMs: number;
      try {
        const free = freeSlots();
        const jobs = free > 0 ? await claim(free) : [];
        for (const job of jobs) start(job, stop.signal);
        // With every free slot taken there may be more that is due, for the slots that come free meanwhile.
        pauseMs = jobs.length === free ? PAUSE_MS : await untilNextDue();
        retryMs = RETRY_MS;
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError)) logger.error("Claiming jobs failed: {error}", { error });
        pauseMs = retryMs;
        retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
      }
      await wake.sleep(pauseMs, shift.stopped);
    }
    if (shift.stopped.aborted) {
      const farewell = setTimeout(() => stop.abort(), FAREWELL_MS);
      await Promise.all(running.keys());
      clearTimeout(farewell);
    } else await Promise.all(running.keys());
    await completions.drain();
  }

  return { run, wake: wake.now, tally };
}
