import { getLogger } from "@logtape/logtape";
import type { Database } from "../database/connect.ts";
import { retryUntilLeaseEnds } from "../database/retry.ts";
import type { ClaimedJob } from "./claimed_job.ts";
import type { Observation } from "./observation.ts";

/** What a runtime found out about a job it had leased. */
export interface Completion {
  job: ClaimedJob;
  observation: Observation;
}

/** Collects completions and reports them in batches, one round trip each. */
export interface Completions {
  /** Queues a completion; it is reported within a few ms. */
  add(completion: Completion): void;
  /** Reports what is queued, and resolves when everything is answered or its lease is over. */
  drain(): Promise<void>;
}

interface Answer {
  job_id: string;
  outcome: "ACCEPTED" | "DUPLICATE" | "REFUSED" | "BROKEN";
  became: string | null;
}

const logger = getLogger(["uptuple", "jobs"]);
/** A batch is sent when it is this large, or this many ms after its first completion. */
const BATCH_SIZE = 200;
const BATCH_MS = 5;
/** Batches under way at once: one is being committed while the next one is parsed. */
const BATCHES_IN_FLIGHT = 2;

/**
 * @param database Where `uptuple.complete_jobs` is.
 * @param beforeFailures Called before a batch with failures in it is reported, which waits for it. It never rejects.
 * @param answered Called with what each completion was answered.
 */
export function createCompletions(
  database: Database,
  beforeFailures: () => Promise<void>,
  answered: (outcome: Answer["outcome"]) => void,
): Completions {
  const queue: Completion[] = [];
  const underWay = new Set<Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  function send(): void {
    timer = null;
    while (queue.length > 0 && underWay.size < BATCHES_IN_FLIGHT) {
      const work = report(queue.splice(0, BATCH_SIZE)).finally(() => {
        underWay.delete(work);
        send();
      });
      underWay.add(work);
    }
  }

  async function report(batch: Completion[]): Promise<void> {
    if (batch.some(({ observation }) => observation.error !== undefined)) await beforeFailures();
    const answers = await completeUntilLeaseEnds(database, batch);
    for (const [index, answer] of answers.entries()) {
      const completion = batch[index];
      if (completion === undefined) continue;
      answered(answer.outcome);
      logAnswer(completion, answer);
    }
  }

  return {
    add(completion) {
      queue.push(completion);
      if (queue.length >= BATCH_SIZE) send();
      else timer ??= setTimeout(send, BATCH_MS);
    },
    async drain() {
      if (timer !== null) clearTimeout(timer);
      send();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Reports a batch, as long as there is a lease left in it for which that is worth while. */
async function completeUntilLeaseEnds(database: Database, batch: Completion[]): Promise<Answer[]> {
  const lastLeaseEnd = Math.max(...batch.map(({ job }) => job.leaseEnd));
  const completions = batch.map(({ job, observation }) => ({
    job_id: job.jobId,
    scheduled_slot: job.scheduledSlot,
    owner_token: job.ownerToken,
    observation,
  }));
  try {
    return await retryUntilLeaseEnds(
      lastLeaseEnd,
      "complete_jobs",
      () => database.query<Answer>`select * from uptuple.complete_jobs(${completions})`,
    );
  } catch (error) {
    logger.error("{count} results are lost, since their leases ended before the database took them: {error}", {
      count: batch.length,
      error,
    });
    return [];
  }
}

function logAnswer({ job, observation }: Completion, { outcome, became }: Answer): void {
  const facts = {
    service: job.service,
    trace: job.trace,
    job: job.jobId,
    outcome,
    observed: observation.error?.code ?? observation.status,
    latencyMs: observation.timings.total,
  };
  if (became !== null) {
    logger.info("{service} became {became} ({observed}, {latencyMs} ms)", { ...facts, became });
  } else if (outcome === "ACCEPTED") logger.debug("{service}: {observed}, {latencyMs} ms", facts);
  else logger.warn("The completion of a check of {service} was answered {outcome}", facts);
}
