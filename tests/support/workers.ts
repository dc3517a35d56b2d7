import type { TestSql } from "./database.ts";
import { claim, type ClaimedJob, complete, type Observation, startJob } from "./services.ts";

/** What a test says about a runtime. */
export interface WorkerReport {
  region?: string;
  roles?: string[];
  /** Probes in a row that nothing answered. */
  unanswered?: number;
  /** What its canary answers: a status, or the error code it ends with. Left out: no news. */
  canary?: number | string;
}

/** A runtime reports that it lives. */
export async function reportWorker(sql: TestSql, worker: string, report: WorkerReport = {}): Promise<void> {
  const { canary } = report;
  const observation = typeof canary === "number" ? { status: canary } : { error: { code: canary, message: "no way" } };
  const heard = canary === undefined ? null : sql.json([{ host: "canary.example", observation }] as never);
  await sql`
    select uptuple.report_worker(
      ${worker}, ${report.region ?? "default"}, ${report.roles ?? ["probe"]}, 1, 0, ${
    report.unanswered ?? null
  }, ${heard}
    )`;
}

/** A check by a worker, in the second after the last window of the service. */
export async function checkBy(
  sql: TestSql,
  worker: string,
  service: string,
  observation: Observation,
): Promise<ClaimedJob> {
  const job = await startedBy(sql, worker, service);
  await complete(sql, job, observation);
  return job;
}

/** A job of a service that a worker runs, in the second after the last window of the service. */
export async function startedBy(sql: TestSql, worker: string, service: string): Promise<ClaimedJob> {
  const [next] = await sql<[{ id: string; slot: number }]>`
    select service.id,
      coalesce(
        (
          select max(job.scheduled_slot) + 1 from uptuple.job
          where job.service_id = service.id and (job.owner_token is not null or job.finished_at is not null)
        ),
        extract(epoch from clock_timestamp()) - 50
      )::integer as slot
    from uptuple.service
    where name = ${service} and removed_at is null`;
  await sql`delete from uptuple.job where service_id = ${next.id} and scheduled_slot = ${next.slot}`;
  const job = await startJob(sql, next.id, next.slot);
  await sql`update uptuple.job set worker = ${worker} where id = ${job.job_id}`;
  return job;
}

/** The services whose jobs a worker gets when it claims all that is due. */
export async function claimedBy(sql: TestSql, worker: string): Promise<string[]> {
  return (await claim(sql, 1000, "default", worker)).map(({ service }) => service).sort();
}

/** What was told of runtimes, oldest first. */
export async function toldOfWorkers(sql: TestSql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select format('%s %s %s', replace(kind, 'worker.', ''), data ->> 'worker', data ->> 'cause') as line
    from uptuple.event where kind like 'worker.%' order by id`;
  return rows.map(({ line }) => line);
}

/** Whether a worker is believed, as people see it. */
export async function trustIn(sql: TestSql, worker: string): Promise<string> {
  const [row] = await sql`select trust from uptuple.workers where worker = ${worker}`;
  return row.trust;
}
