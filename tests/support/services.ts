import assert from "node:assert/strict";
import type { TestSql } from "./database.ts";

/** An observation as a runtime reports it. */
export type Observation = Record<string, unknown>;

/** What a probe reports of a service that answers well. */
export const ANSWERED: Observation = { status: 200, timings: { total: 12.5 } };

/** What a probe reports of a service that refuses connections. */
export const REFUSED: Observation = {
  error: { code: "connect.refused", message: "connection refused" },
  timings: { total: 0.7 },
};

/** A job as `claim_jobs` hands it out, as far as tests need it. */
export interface ClaimedJob {
  job_id: string;
  scheduled_slot: string;
  owner_token: string;
  service: string;
  service_id: string;
  purpose: string;
  revision: number;
  target: string;
  config: Record<string, unknown>;
  timeout_ms: number;
  attempt: number;
  lease_ms: number;
  late_ms: number;
  took_over: boolean;
}

/** What a test may say about its service; durations as PostgreSQL writes them. */
export interface ServiceOptions {
  every?: string;
  failureThreshold?: number;
  recoveryThreshold?: number;
  /** Left out, it is as long as the interval, so that no jobs outside the grid appear. */
  confirmEvery?: string;
  /** Whether it may be taken for flapping. Left out, it is not. */
  damping?: boolean;
  region?: string;
  url?: string;
}

/** Adds a service and returns its id. Its first check is there, and due, as the only job. */
export async function addService(sql: TestSql, name: string, options: ServiceOptions = {}): Promise<string> {
  const every = options.every ?? "30 seconds";
  const [added] = await sql<[{ id: string }]>`
    select uptuple.add_service(
      name => ${name},
      url => ${options.url ?? "http://127.0.0.1:8081/health"},
      every => ${every},
      failure_threshold => ${options.failureThreshold ?? 3},
      recovery_threshold => ${options.recoveryThreshold ?? 1},
      confirm_every => ${options.confirmEvery ?? every},
      regions => ${[options.region ?? "default"]}
    ) as id`;
  // Most tests make in seconds what takes hours elsewhere.
  if (options.damping !== true) await sql`select uptuple.set_damping(${name}, false)`;
  return added.id;
}

/** Adds a service whose first check has been answered well, so that only its windows are left to come. */
export async function addCheckedService(sql: TestSql, name: string, options: ServiceOptions = {}): Promise<string> {
  const id = await addService(sql, name, options);
  const [first] = await claim(sql, 1, options.region);
  assert.equal(first?.service, name, "another job was due before the first check");
  assert.equal(await complete(sql, first, ANSWERED), true);
  return id;
}

/** Claims up to `count` jobs. */
export async function claim(sql: TestSql, count = 1, region = "default", worker = "tester"): Promise<ClaimedJob[]> {
  return [...await sql<ClaimedJob[]>`select * from uptuple.claim_jobs(${worker}, ${count}, ${region})`];
}

/** Claims the one job that is due, and fails the test if there is none or another. */
export async function claimOne(sql: TestSql, worker = "tester"): Promise<ClaimedJob> {
  const [job, another] = await claim(sql, 2, "default", worker);
  assert.ok(job, "no job was due");
  assert.equal(another, undefined, "more than one job was due");
  return job;
}

/** A job of a given slot that runs, as if it had just been claimed. */
export async function startJob(sql: TestSql, serviceId: string, slot: number, purpose = "GRID"): Promise<ClaimedJob> {
  const [job] = await sql<[ClaimedJob]>`
    insert into uptuple.job (
      scheduled_slot, service_id, due_at, revision, interval_seconds, attempts, region, purpose, state, owner_token, worker
    )
    select ${slot}, service.id, clock_timestamp() + interval '30 s', service.revision, service.interval_seconds, 1,
      service.regions[1], ${purpose}, 'RUNNING', gen_random_uuid(), 'tester'
    from uptuple.service
    where service.id = ${serviceId}
    returning id as job_id, scheduled_slot, owner_token, service_id, purpose, revision`;
  return job;
}

/** `complete_job` for a claimed job. */
export async function complete(sql: TestSql, job: ClaimedJob, observation: Observation): Promise<boolean> {
  const [answer] = await sql<[{ completed: boolean }]>`
    select uptuple.complete_job(${job.job_id}, ${job.owner_token}, ${sql.json(observation as never)}) as completed`;
  return answer.completed;
}

/** An entry of a batch for `complete_jobs`. */
export function completion(job: ClaimedJob, observation: Observation): Record<string, unknown> {
  const { job_id, scheduled_slot, owner_token } = job;
  return { job_id, scheduled_slot, owner_token, observation };
}

/** `complete_jobs`; gives the outcomes in order. */
export async function completeBatch(sql: TestSql, batch: unknown[]): Promise<string[]> {
  const answers = await sql<{ outcome: string }[]>`select * from uptuple.complete_jobs(${sql.json(batch as never)})`;
  return answers.map((answer) => answer.outcome);
}

/** `enqueue_jobs`; gives how many jobs it made. */
export async function enqueue(sql: TestSql): Promise<number> {
  const [answer] = await sql<[{ enqueued: number }]>`select uptuple.enqueue_jobs() as enqueued`;
  return answer.enqueued;
}

/** Lets time pass until the next window of a service has just begun, and returns its slot. Nobody has made its job yet. */
export async function openWindow(sql: TestSql, service: string): Promise<string> {
  const [next] = await sql<[{ slot: string; wait: number }]>`
    select slot, ceil(slot - extract(epoch from clock_timestamp()))::integer + 1 as wait
    from uptuple.service
    cross join lateral (
      select floor(extract(epoch from clock_timestamp()))::bigint as now_second
    ) clock
    cross join lateral (
      select greatest(
        first_slot,
        now_second - mod(now_second - phase_seconds, interval_seconds) + interval_seconds
      ) as slot
    ) next_window
    where name = ${service} and removed_at is null`;
  await letTimePass(sql, next.wait);
  return String(Number(next.slot) - next.wait);
}

/** Lets time pass until the next window of a service has just begun, makes its job, which is due, and returns its slot. */
export async function makeWindowDue(sql: TestSql, service: string): Promise<string> {
  const slot = await openWindow(sql, service);
  await enqueue(sql);
  return slot;
}

/** Makes the next window of a service due, and completes its job with an observation. Returns the job. */
export async function checkNextWindow(sql: TestSql, service: string, observation: Observation): Promise<ClaimedJob> {
  const slot = await makeWindowDue(sql, service);
  const job = (await claim(sql, 100)).find((each) => each.service === service && each.scheduled_slot === slot);
  assert.ok(job, `the window ${slot} of ${service} could not be claimed`);
  assert.equal(await complete(sql, job, observation), true);
  return job;
}

/**
 * Lets time pass without waiting: moves everything that is stored into the past, grids included.
 *
 * @param seconds Whole seconds; negative for a clock that is set back.
 */
export async function letTimePass(sql: TestSql, seconds: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      select uptuple.ensure_partitions(min(slot) - greatest(${seconds}, 0), max(slot) - least(${seconds}, 0))
      from (select scheduled_slot as slot from uptuple.job union all select scheduled_slot from uptuple.result) stored
      having count(*) > 0`;
    // Removed and put back, sorted in between: row by row, a slot would meet its neighbour's in the unique key.
    await tx`
      with old as (delete from uptuple.job returning *)
      insert into uptuple.job
      select (jsonb_populate_record(null::uptuple.job, to_jsonb(old) || jsonb_build_object(
        'scheduled_slot', scheduled_slot - ${seconds},
        'due_at', due_at - make_interval(secs => ${seconds}),
        'finished_at', finished_at - make_interval(secs => ${seconds})
      ))).*
      from old
      order by scheduled_slot`;
    await tx`
      with old as (delete from uptuple.result returning *)
      insert into uptuple.result
      select (jsonb_populate_record(null::uptuple.result, to_jsonb(old) || jsonb_build_object(
        'scheduled_slot', scheduled_slot - ${seconds},
        'recorded_at', recorded_at - make_interval(secs => ${seconds})
      ))).*
      from old
      order by scheduled_slot`;
    await tx`
      update uptuple.region
      set queue_head = queue_head - make_interval(secs => ${seconds}),
          queue_searched_at = queue_searched_at - make_interval(secs => ${seconds})`;
    await tx`
      update uptuple.service
      set first_slot = first_slot - ${seconds},
          phase_seconds = mod(mod(phase_seconds - ${seconds}, interval_seconds) + interval_seconds, interval_seconds)`;
    await tx`
      update uptuple.service_active
      set during = tstzrange(lower(during) - make_interval(secs => ${seconds}), upper(during) - make_interval(secs => ${seconds})),
          phase_seconds = mod(mod(phase_seconds - ${seconds}, interval_seconds) + interval_seconds, interval_seconds)`;
    await tx`
      update uptuple.service_state
      set since = since - make_interval(secs => ${seconds}),
          streak_started_at = streak_started_at - make_interval(secs => ${seconds}),
          last_slot = last_slot - ${seconds},
          last_at = last_at - make_interval(secs => ${seconds}),
          verdict_at = verdict_at - make_interval(secs => ${seconds}),
          checked_at = checked_at - make_interval(secs => ${seconds})`;
    await tx`
      update uptuple.incident
      set started_at = started_at - make_interval(secs => ${seconds}),
          opened_at = opened_at - make_interval(secs => ${seconds}),
          waiting_since = waiting_since - make_interval(secs => ${seconds}),
          look_at = look_at - make_interval(secs => ${seconds}),
          acknowledged_at = acknowledged_at - make_interval(secs => ${seconds}),
          closed_at = closed_at - make_interval(secs => ${seconds})`;
    await tx`
      update uptuple.flapping
      set opened_at = opened_at - make_interval(secs => ${seconds}),
          closed_at = closed_at - make_interval(secs => ${seconds}),
          look_at = look_at - make_interval(secs => ${seconds})`;
    await tx`update uptuple.event set occurred_at = occurred_at - make_interval(secs => ${seconds})`;
    await tx`
      update uptuple.worker
      set started_at = started_at - make_interval(secs => ${seconds}),
          seen_at = seen_at - make_interval(secs => ${seconds}),
          completed_at = completed_at - make_interval(secs => ${seconds}),
          canary_at = canary_at - make_interval(secs => ${seconds}),
          quarantined_at = quarantined_at - make_interval(secs => ${seconds}),
          trusted_at = trusted_at - make_interval(secs => ${seconds}),
          sampled_at = sampled_at - make_interval(secs => ${seconds})`;
    await tx`
      update uptuple.maintenance_window
      set starts_at = starts_at - make_interval(secs => ${seconds}),
          ends_at = ends_at - make_interval(secs => ${seconds}),
          made_until = made_until - make_interval(secs => ${seconds})`;
    for (const table of ["maintenance_occurrence", "maintenance_scope", "service_membership"]) {
      await tx`
        update uptuple.${tx(table)}
        set during = tstzrange(lower(during) - make_interval(secs => ${seconds}), upper(during) - make_interval(secs => ${seconds}))`;
    }
    await tx`
      update uptuple.delivery
      set held_until = held_until - make_interval(secs => ${seconds}),
          due_at = due_at - make_interval(secs => ${seconds})
      where held_until is not null`;
    await tx`update uptuple.worker_contradiction set noted_at = noted_at - make_interval(secs => ${seconds})`;
    await tx`update uptuple.second_look set noted_at = noted_at - make_interval(secs => ${seconds})`;
    await tx`update uptuple.enqueue_cursor set enqueued_until = enqueued_until - ${seconds}`;
    // What was added up belongs to hours that are others now: it is to be added up anew.
    await tx`delete from uptuple.service_hour`;
    await tx`delete from uptuple.service_day`;
    await tx`delete from uptuple.unfinished_hour`;
    await tx`update uptuple.roll_up_mark set rolled_until = rolled_from, done_to_service = null`;
  });
}

/** A job's row. */
export async function jobRow(sql: TestSql, id: string): Promise<Record<string, unknown>> {
  const [row] = await sql`select * from uptuple.job where id = ${id}`;
  return row;
}

/** The state of a service, with what tests compare. */
export async function stateOf(sql: TestSql, service: string): Promise<Record<string, unknown>> {
  const [row] = await sql`
    select state.status, state.failure_streak, state.success_streak, state.last_slot, state.applied_count, state.incident_id
    from uptuple.service_state state
    join uptuple.service on service.id = state.service_id
    where service.name = ${service} and service.removed_at is null`;
  return { ...row };
}

/** Fails the test if any promise is broken that SQL can see. */
export async function assertNoViolations(sql: TestSql): Promise<void> {
  assert.deepEqual([...await sql<object[]>`select * from uptuple.invariant_violations`], []);
}
