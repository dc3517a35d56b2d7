import { openClient, type Sql } from "../../src/database/client.ts";
import { cannedObservation } from "./observations.ts";

/** What driving the whole cycle for a while came to. */
export interface Driven {
  /** Checks that were completed, with result, state and streak. */
  checks: number;
  seconds: number;
  /** How long after they were due the jobs were claimed, in ms. Of a sample. */
  latenessP50: number;
  latenessP99: number;
  /** Windows that nobody claimed in time. */
  missed: number;
}

/** The largest batch that the runtime sends. */
const BATCH_SIZE = 200;
/** How long a client that found nothing due waits, in ms, as the runtime does when it does not know better. */
const PAUSE_MS = 20;

/**
 * Runs the whole cycle in place of runtimes: one producer that enqueues once a second, and clients that claim what is due and complete
 * it with canned observations.
 *
 * @param clients How many claim and complete at the same time.
 */
export async function drive(url: string, seconds: number, clients: number): Promise<Driven> {
  const connections = Array.from(
    { length: clients + 1 },
    () => openClient(url, { maxConnections: 1, applicationName: "bench drive" }),
  );
  const [producer, ...workers] = connections;
  if (producer === undefined) throw new Error("There is no producer.");
  const [start] = await producer<{ second: number }[]>`select extract(epoch from clock_timestamp())::float8 as second`;
  const until = performance.now() + seconds * 1000;
  const counts = await Promise.all([
    enqueueUntil(producer, until),
    ...workers.map((worker) => workUntil(worker, until)),
  ]);
  const report = await describe(producer, start?.second ?? 0);
  await Promise.all(connections.map((connection) => connection.end()));
  return { checks: counts.reduce((sum, count) => sum + count, 0), seconds, ...report };
}

async function enqueueUntil(sql: Sql, until: number): Promise<number> {
  for (let next = performance.now(); next < until; next += 1000) {
    await sql`select uptuple.enqueue_jobs()`;
    await pause(next + 1000 - performance.now());
  }
  return 0;
}

async function workUntil(sql: Sql, until: number): Promise<number> {
  let completed = 0;
  while (performance.now() < until) {
    const jobs = await sql<{ job_id: string; scheduled_slot: string; owner_token: string }[]>`
      select job_id, scheduled_slot, owner_token, service, kind, target, config, timeout_ms, attempt, lease_ms
      from uptuple.claim_jobs('bench', ${BATCH_SIZE})`;
    if (jobs.length === 0) {
      await pause(PAUSE_MS);
      continue;
    }
    const completions = jobs.map(({ job_id, scheduled_slot, owner_token }) => ({
      ...{ job_id, scheduled_slot, owner_token },
      observation: cannedObservation(Number(job_id)),
    }));
    await sql`select * from uptuple.complete_jobs(${sql.json(completions as never)})`;
    completed += jobs.length;
  }
  return completed;
}

/** A job that is DONE still says when its lease would have ended, 30 s after its claim. */
async function describe(
  sql: Sql,
  sinceSecond: number,
): Promise<Pick<Driven, "latenessP50" | "latenessP99" | "missed">> {
  const [row] = await sql<{ p50: number; p99: number; missed: number }[]>`
    select
      percentile_disc(0.5) within group (order by late) filter (where state = 'DONE') as p50,
      percentile_disc(0.99) within group (order by late) filter (where state = 'DONE') as p99,
      (select count(*)::integer from uptuple.job where state = 'MISSED' and finished_at >= to_timestamp(${sinceSecond})) as missed
    from (
      select job.state, extract(epoch from job.due_at - interval '30 s')::float8 * 1000
        - (job.scheduled_slot * 1000 + service.phase_ms) as late
      from uptuple.job
      join uptuple.service on service.id = job.service_id
      where job.state = 'DONE' and job.purpose = 'GRID' and job.finished_at >= to_timestamp(${sinceSecond}) and mod(job.id, 7) = 0
    ) sampled`;
  return { latenessP50: row?.p50 ?? NaN, latenessP99: row?.p99 ?? NaN, missed: row?.missed ?? 0 };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
