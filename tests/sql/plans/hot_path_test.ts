import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import type { Sql } from "../../../src/database/client.ts";
import { makePartitions } from "./many_checks.ts";
import { type ExplainedConnection, explainedConnection, forgetStatistics, type Work } from "./plans.ts";

const SERVICES = 2000;
const WINDOWS_EACH = 100;
const MANY = SERVICES * WINDOWS_EACH;
const BATCH = 50;

/** Pages that a call may take, however few rows there are: mostly of catalogs, where plans are made first. */
const PAGES_FOR_NOTHING = 4000;
/** Pages for each job that is claimed or completed: some 10 rows written or read, through indexes of up to three levels. */
const PAGES_A_JOB = 60;
/** Jobs that the claimer is to leave to another worker, in one of the checks. */
const LEFT_TO_OTHERS = 300;
/** Twice its 20,000 jobs, and those that were due in the very moment of the last one. */
const END_JOBS_LOOKS_AT = 40_000 + SERVICES;
/** Tables of a row or a few, which may be read in any way. */
const SMALL_TABLES = new Set(["enqueue_cursor", "region", "channel", "second_look", "worker"]);

/** Services with a day between windows, so that none of their jobs is MISSED; all but a few far from their next window. */
async function addServices(sql: TestSql): Promise<void> {
  await sql`
    with added as (
      insert into uptuple.service (name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold)
      select 'service ' || number, 86400, number, number % 1000, 0, 3, 1 from generate_series(1, ${SERVICES}) number
      returning id
    ),
    revised as (
      insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
      select id, 1, 'http', 'http://127.0.0.1/', uptuple.http_config('GET', '{}', null, '200-299', 0, false), 10000 from added
    )
    insert into uptuple.service_state (service_id, region) select id, 'default' from added`;
}

/** Jobs whose windows began some minutes ago; `each` for every one of the first `services`. */
async function addWaiting(sql: TestSql, services: number, each: number): Promise<void> {
  await sql`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
    select slot, service.id, to_timestamp(slot), 1, 86400, 'default'
    from generate_series(1, ${each}) age
    cross join lateral (select extract(epoch from clock_timestamp())::bigint - 60 - age as slot) given
    cross join (select id from uptuple.service order by id limit ${services}) service
    order by slot, service.id
    on conflict do nothing`;
}

async function addFuture(sql: TestSql): Promise<void> {
  await sql`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
    select slot, service.id, to_timestamp(slot) + interval '10 minutes', 1, 86400, 'default'
    from generate_series(1, ${WINDOWS_EACH}) ahead
    cross join lateral (select extract(epoch from clock_timestamp())::bigint + 50 - ahead as slot) given
    cross join uptuple.service
    on conflict do nothing`;
}

/** The first windows of a day come through `enqueue_jobs`, which sees to it that plans from before are made anew. */
async function enqueueOne(sql: TestSql): Promise<void> {
  await sql`
    update uptuple.service set phase_seconds = mod(extract(epoch from clock_timestamp())::bigint + 2, 86400)
    where id = (select min(id) from uptuple.service)`;
  await sql`update uptuple.enqueue_cursor set enqueued_until = extract(epoch from clock_timestamp()) - 1`;
  const [row] = await sql`select uptuple.enqueue_jobs() as made`;
  assert.equal(row.made, 1);
}

/** What a queue looks like after it was worked off: every row is still there, and the claim's index has been cleaned. */
async function workOff(sql: TestSql): Promise<void> {
  await sql`update uptuple.job set state = 'DONE', finished_at = clock_timestamp(), owner_token = null where state <> 'DONE'`;
  await sql`vacuum uptuple.job`;
}

function assertByIndex(work: Work, what: string): void {
  assert.deepEqual([...work.scannedTables].filter((table) => !SMALL_TABLES.has(table)), [], `${what} scans tables`);
  assert.deepEqual([...work.otherJoins], [], `${what} joins otherwise than by nested loops`);
}

/** Rows that were read through an index, for each row that the call was for. */
function assertRows(work: Work, index: string, atMost: number, what: string): void {
  const rows = work.rowsByIndex.get(index) ?? 0;
  assert.ok(rows <= atMost, `${what} reads ${rows} rows through ${index}, and ${atMost} would do`);
}

interface Claimed {
  job_id: string;
  scheduled_slot: string;
  owner_token: string;
}

async function claim(sql: Sql): Promise<Claimed[]> {
  return [
    ...await sql<Claimed[]>`select job_id, scheduled_slot, owner_token from uptuple.claim_jobs('tester', ${BATCH})`,
  ];
}

/** Runs every function of the hot path and checks what it read. */
async function checkHotPath({ sql, explain }: ExplainedConnection, waiting: number, when: string): Promise<void> {
  const due = Math.min(BATCH, waiting);

  const nextDue = await explain((sql) => sql`select uptuple.next_job_due()`);
  assertByIndex(nextDue, `next_job_due ${when}`);
  assertRows(nextDue, "job_claim", 1, `next_job_due ${when}`);
  assert.ok(nextDue.buffers < PAGES_FOR_NOTHING, `next_job_due ${when} looks at ${nextDue.buffers} pages`);

  const overdue = await explain((sql) => sql`select uptuple.overdue('1 second')`);
  assertByIndex(overdue, `overdue ${when}`);
  assertRows(overdue, "job_claim", 1, `overdue ${when}`);
  assert.ok(overdue.buffers < PAGES_FOR_NOTHING, `overdue ${when} looks at ${overdue.buffers} pages`);

  let jobs: Claimed[] = [];
  const claimed = await explain(async (sql) => jobs = await claim(sql));
  assert.equal(jobs.length, due, `jobs claimed ${when}`);
  assertByIndex(claimed, `claim_jobs ${when}`);
  for (const index of ["job_claim", "job_pkey", "service_revision_pkey", "service_pkey"]) {
    assertRows(claimed, index, due, `claim_jobs ${when}`);
  }
  assert.equal(claimed.largestSort, 0, `claim_jobs ${when} sorts`);
  assert.ok(
    claimed.buffers < PAGES_FOR_NOTHING + due * PAGES_A_JOB,
    `claim_jobs ${when} looks at ${claimed.buffers} pages`,
  );

  await checkLeaseFunctions({ sql, explain }, jobs, when);
  await checkFailures({ sql, explain }, jobs, when);

  const certificate = { fingerprint256: "AA:01", not_after: "2099-12-31T23:59:59Z", names: [] };
  const completions = jobs.map((job) => ({ ...job, observation: { status: 200, timings: { total: 5 }, certificate } }));
  let outcomes: string[] = [];
  const completed = await explain(async (sql) => {
    const answers = await sql<{ outcome: string }[]>`select * from uptuple.complete_jobs(${sql.json(completions)})`;
    outcomes = answers.map(({ outcome }) => outcome);
  });
  assert.deepEqual(outcomes, jobs.map(() => "ACCEPTED"), when);
  assertByIndex(completed, `complete_jobs ${when}`);
  assertRows(completed, "job_claim", 0, `complete_jobs ${when}`);
  assertRows(completed, "job_pkey", 2 * due, `complete_jobs ${when}`);
  // Once, to lock the state; then it is found by ctid, with the rules of its service.
  assertRows(completed, "service_state_pkey", due, `complete_jobs ${when}`);
  // For the foreign key of a certificate that is new.
  assertRows(completed, "service_pkey", due, `complete_jobs ${when}`);
  assertRows(completed, "service_certificate_pkey", due, `complete_jobs ${when}`);
  assertRows(completed, "service_revision_pkey", due, `complete_jobs ${when}`);
  assert.ok(completed.largestSort <= BATCH, `complete_jobs ${when} sorts ${completed.largestSort} rows`);
  assert.ok(
    completed.buffers < PAGES_FOR_NOTHING + due * PAGES_A_JOB,
    `complete_jobs ${when} looks at ${completed.buffers} pages`,
  );

  const ended = await explain((sql) => sql`select uptuple.end_jobs()`);
  assertByIndex(ended, `end_jobs ${when}`);
  assertRows(ended, "job_claim", Math.min(2 * waiting, END_JOBS_LOOKS_AT), `end_jobs ${when}`);
  assertRows(ended, "job_pkey", 0, `end_jobs ${when}`);
  assert.ok(
    ended.buffers < PAGES_FOR_NOTHING + 2 * Math.min(2 * waiting, END_JOBS_LOOKS_AT),
    `end_jobs ${when} looks at ${ended.buffers} pages`,
  );

  // Taken back afterwards, so that the next step finds the queue as it was.
  let made = 0;
  await sql.unsafe("begin");
  await sql`update uptuple.service set phase_seconds = mod(extract(epoch from clock_timestamp())::bigint + 1, 86400) where id in (
    select id from uptuple.service order by id limit 5)`;
  await sql`update uptuple.enqueue_cursor set enqueued_until = extract(epoch from clock_timestamp()) - 1`;
  const enqueued = await explain(async (sql) => {
    const [row] = await sql<{ made: number }[]>`select uptuple.enqueue_jobs() as made`;
    made = row?.made ?? 0;
  });
  await sql.unsafe("rollback");
  assertByIndex(enqueued, `enqueue_jobs ${when}`);
  assert.ok(made < 20, `${made} windows were made ${when}`);
  assertRows(enqueued, "service_schedule", made + 20, `enqueue_jobs ${when}`);
}

/** What a failure costs where another runtime is to look next, and what that one leaves to others; taken back afterwards. */
async function checkFailures(
  { sql, explain }: Pick<ExplainedConnection, "sql" | "explain">,
  jobs: Claimed[],
  when: string,
): Promise<void> {
  await sql.unsafe("begin");
  try {
    await sql`
    insert into uptuple.worker (name, region, roles, release)
    select unnest(array['tester', 'other']), 'default', '{probe}', 1`;
    const observation = { error: { code: "connect.refused" }, timings: { total: 5 } };
    const failures = jobs.map((job) => ({ ...job, observation }));
    const failed = await explain((sql) => sql`select * from uptuple.complete_jobs(${sql.json(failures)})`);
    assertByIndex(failed, `complete_jobs of failures ${when}`);
    assertRows(failed, "job_claim", 0, `complete_jobs of failures ${when}`);
    assertRows(failed, "service_state_pkey", 3 * jobs.length, `complete_jobs of failures ${when}`);
    assert.ok(
      failed.buffers < 2 * PAGES_FOR_NOTHING + jobs.length * 4 * PAGES_A_JOB,
      `complete_jobs of failures ${when} looks at ${failed.buffers} pages`,
    );

    await sql`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region, avoid_worker)
    select extract(epoch from clock_timestamp())::bigint - 3, id, clock_timestamp() - interval '3 s', 1, 86400, 'default', 'tester'
    from uptuple.service order by id limit ${LEFT_TO_OTHERS}
    on conflict do nothing`;
    const claimed = await explain(claim);
    assertByIndex(claimed, `claim_jobs beside jobs left to others ${when}`);
    assertRows(claimed, "job_claim", LEFT_TO_OTHERS + 2 * BATCH, `claim_jobs beside jobs left to others ${when}`);
  } finally {
    await sql.unsafe("rollback");
  }
}

/** What else one may do with leased jobs, each taken back afterwards. */
async function checkLeaseFunctions(
  { sql, explain }: Pick<ExplainedConnection, "sql" | "explain">,
  jobs: Claimed[],
  when: string,
): Promise<void> {
  const ids = jobs.map(({ job_id }) => job_id);
  const tokens = jobs.map(({ owner_token }) => owner_token);
  const retries = jobs.map((job) => ({ ...job, error: "the runtime stood still" }));
  const calls: Record<string, (sql: Sql) => Promise<unknown>> = {
    retry_jobs: (sql) => sql`select * from uptuple.retry_jobs(${sql.json(retries)})`,
    extend_jobs: (sql) => sql`select * from uptuple.extend_jobs(${sql.json(retries)})`,
    release_jobs: (sql) => sql`select uptuple.release_jobs(${ids}, ${tokens})`,
    cancel_jobs: (sql) => sql`select uptuple.cancel_jobs(job_ids => ${ids})`,
  };
  for (const [name, call] of Object.entries(calls)) {
    await sql.unsafe("begin");
    const work = await explain(call);
    await sql.unsafe("rollback");
    assertByIndex(work, `${name} ${when}`);
    assertRows(work, "job_claim", 0, `${name} ${when}`);
    // Looked at to find, to lock and to change; the calls before, taken back, left dead versions of each row.
    assertRows(work, "job_pkey", 8 * jobs.length, `${name} ${when}`);
    assert.ok(work.largestSort <= jobs.length, `${name} ${when} sorts ${work.largestSort} rows`);
    assert.ok(
      work.buffers < PAGES_FOR_NOTHING + jobs.length * PAGES_A_JOB,
      `${name} ${when} looks at ${work.buffers} pages`,
    );
  }
}

Deno.test("the hot path reads what it works on, through the intended indexes, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await makePartitions(owner);
  // Its plans are made while there is nothing, and then kept, as those of a runtime that has been up for long.
  await using early = await explainedConnection(database.url);

  await t.step("no statistics, nothing waits, the first calls", () => checkHotPath(early, 0, "at first"));

  /** By plans that were made long ago and by plans made now. */
  async function check(waiting: number, when: string): Promise<void> {
    await t.step(when, async () => {
      await checkHotPath(early, waiting, `${when}, by an old plan`);
      await using late = await explainedConnection(database.url);
      await checkHotPath(late, waiting === 1 ? 0 : waiting, `${when}, by a new plan`);
    });
  }

  await check(0, "no statistics, nothing waits");
  await owner`analyze`;
  await check(0, "analysed, nothing waits");
  await addServices(owner);
  await addWaiting(owner, 1, 1);
  await check(1, "analysed while it was empty, one job waits");
  await addWaiting(owner, SERVICES, WINDOWS_EACH);
  await enqueueOne(owner);
  await check(MANY, "analysed while it was empty, 200,000 jobs wait");
  await owner`analyze`;
  await check(MANY, "analysed, 200,000 jobs wait");
  await forgetStatistics(owner);
  await check(MANY, "no statistics, 200,000 jobs wait");
  await owner`analyze`;
  await workOff(owner);
  await check(0, "analysed while 200,000 waited, nothing waits");
  await addFuture(owner);
  await check(0, "analysed while 200,000 waited, 200,000 lie ahead");
  await owner`analyze uptuple.job`;
  await check(0, "analysed, 200,000 lie ahead");
});
