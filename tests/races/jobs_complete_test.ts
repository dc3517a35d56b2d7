import assert from "node:assert/strict";
import type { TestDatabase } from "../support/database.ts";
import { emptiedDatabase } from "../support/emptied_database.ts";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  type ClaimedJob,
  claimOne,
  complete,
  completeBatch,
  completion,
  jobRow,
  letTimePass,
  makeWindowDue,
  REFUSED,
  startJob,
  stateOf,
} from "../support/services.ts";

/**
 * Runs `first` in a transaction that stays open, then `second` on another connection until it waits for the first or has its
 * answer, then commits the first. Gives both answers.
 */
async function interleave<First, Second>(
  database: TestDatabase,
  first: (sql: TestDatabase["owner"]) => Promise<First>,
  second: (sql: TestDatabase["owner"]) => Promise<Second>,
): Promise<[First, Second]> {
  const one = await database.connect();
  const other = await database.connect();
  const otherPid = await backendOf(other);
  await one`begin`;
  const early = await first(one);
  const late = second(other);
  await untilBlocked(database.owner, otherPid, late);
  await one`commit`;
  return [early, await late];
}

async function retry(sql: TestDatabase["owner"], job: ClaimedJob): Promise<string> {
  const [answer] = await sql`select uptuple.retry_job(${job.job_id}, ${job.owner_token}, 'stalled') as outcome`;
  return answer.outcome;
}

async function cancel(sql: TestDatabase["owner"], service: string): Promise<number> {
  const [answer] = await sql`select uptuple.cancel_jobs(service => ${service}) as count`;
  return answer.count;
}

/** Two windows of a service that run at the same time, the older one first. */
async function twoWindows(database: TestDatabase, serviceId: string): Promise<[ClaimedJob, ClaimedJob]> {
  const [clock] = await database.owner`select floor(extract(epoch from clock_timestamp()))::integer + 1 as slot`;
  return [
    await startJob(database.owner, serviceId, clock.slot),
    await startJob(database.owner, serviceId, clock.slot + 1),
  ];
}

Deno.test("complete against rescue: an owner that completes while its heir claims is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const late = await claimOne(owner, "late");
  await letTimePass(owner, 31);

  const [[heir], completed] = await interleave(
    database,
    (sql) => claim(sql, 1, "default", "heir"),
    (sql) => complete(sql, late, REFUSED),
  );

  assert.equal(completed, false);
  assert.ok(heir);
  assert.equal(await complete(owner, heir, ANSWERED), true);
  const [result] = await owner`select worker, status from uptuple.result`;
  assert.deepEqual({ ...result }, { worker: "heir", status: "UP" });
  await assertNoViolations(owner);
});

Deno.test("complete against rescue: a claim passes by a job whose completion is being written", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);
  const worker = await database.connect();
  const other = await database.connect();

  await worker`begin`;
  assert.equal(await complete(worker, job, ANSWERED), true);
  await neverWait(other);
  assert.deepEqual(await claim(other, 10), []);
  await worker`commit`;

  assert.equal((await jobRow(owner, job.job_id)).state, "DONE");
});

Deno.test("a lease that ends while its owner waits for the row is no longer good", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  const [, completed] = await interleave(
    database,
    (sql) => sql`update uptuple.job set due_at = clock_timestamp() where id = ${job.job_id}`,
    (sql) => complete(sql, job, ANSWERED),
  );

  assert.equal(completed, false);
  assert.equal((await jobRow(owner, job.job_id)).state, "RUNNING");
});

Deno.test("complete against end_jobs: a job that is being given up cannot be completed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await owner`update uptuple.job set attempts = 2`;
  const job = await claimOne(owner);
  await letTimePass(owner, 31);

  const [[ended], completed] = await interleave(
    database,
    (sql) => sql`select uptuple.end_jobs() as count`,
    (sql) => complete(sql, job, ANSWERED),
  );

  assert.deepEqual([ended.count, completed], [1, false]);
  assert.equal((await jobRow(owner, job.job_id)).state, "FAILED");
});

Deno.test("retry against complete: whichever comes first stands, and the other is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "retried");
  await addService(owner, "completed");
  const jobs = await claim(owner, 2);
  const [retried, completed] = ["retried", "completed"].map((name) => jobs.find((job) => job.service === name));
  assert.ok(retried && completed);

  assert.deepEqual(
    await interleave(database, (sql) => retry(sql, retried), (sql) => complete(sql, retried, ANSWERED)),
    ["READY", false],
  );
  assert.deepEqual(
    await interleave(database, (sql) => complete(sql, completed, ANSWERED), (sql) => retry(sql, completed)),
    [true, "REFUSED"],
  );

  assert.equal((await jobRow(owner, retried.job_id)).state, "READY");
  assert.equal((await jobRow(owner, completed.job_id)).state, "DONE");
  await assertNoViolations(owner);
});

Deno.test("extend against rescue: a lease that an heir takes cannot be extended", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const late = await claimOne(owner);
  await letTimePass(owner, 31);

  const [[heir], [answer]] = await interleave(
    database,
    (sql) => claim(sql),
    (sql) => sql`select uptuple.extend_job(${late.job_id}, ${late.owner_token}) as until`,
  );

  assert.equal(answer.until, null);
  assert.equal((await jobRow(owner, late.job_id)).owner_token, heir?.owner_token);
});

Deno.test("complete against complete: the same completion on two connections is accepted by one of them", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  const outcomes = await interleave(
    database,
    (sql) => completeBatch(sql, [completion(job, REFUSED)]),
    (sql) => completeBatch(sql, [completion(job, ANSWERED)]),
  );

  assert.deepEqual(outcomes, [["ACCEPTED"], ["DUPLICATE"]]);
  assert.equal((await stateOf(owner, "inventory")).applied_count, "1");
});

Deno.test("complete against complete: two windows of one service are counted one after the other", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await addCheckedService(owner, "inventory", { failureThreshold: 2 });
  const [older, newer] = await twoWindows(database, id);

  await interleave(database, (sql) => complete(sql, older, REFUSED), (sql) => complete(sql, newer, REFUSED));

  const { status, failure_streak, applied_count } = await stateOf(owner, "inventory");
  assert.deepEqual([status, failure_streak, applied_count], ["DOWN", 2, "3"]);
  await assertNoViolations(owner);
});

Deno.test("batch against batch: the same jobs in reversed order do not deadlock, and each is accepted once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (let n = 0; n < 6; n++) await addService(owner, `service ${n}`);
  const jobs = await claim(owner, 6);
  const [holder, one, other] = [await database.connect(), await database.connect(), await database.connect()];
  const [onePid, otherPid] = [await backendOf(one), await backendOf(other)];

  // Both have to stop in the middle: with locks in the order of the batches, each would then wait for the other.
  await holder`begin`;
  await holder`select from uptuple.job where id = ${(jobs[3] as ClaimedJob).job_id} for update`;
  const forward = completeBatch(one, jobs.map((job) => completion(job, ANSWERED)));
  forward.catch(() => {});
  await untilBlocked(owner, onePid);
  const backward = completeBatch(other, jobs.toReversed().map((job) => completion(job, ANSWERED)));
  backward.catch(() => {});
  await untilBlocked(owner, otherPid);
  await holder`commit`;

  assert.deepEqual(await forward, jobs.map(() => "ACCEPTED"));
  assert.deepEqual(await backward, jobs.map(() => "DUPLICATE"));
  await assertNoViolations(owner);
});

Deno.test("batch against batch: different windows of the same services in reversed order do not deadlock", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const ids = [];
  for (const name of ["first", "middle", "last"]) ids.push(await addCheckedService(owner, name));
  const windows = [];
  for (const id of ids) windows.push(await twoWindows(database, id));
  const [holder, one, other] = [await database.connect(), await database.connect(), await database.connect()];
  const [onePid, otherPid] = [await backendOf(one), await backendOf(other)];

  // As above, with the locks of the services' states.
  await holder`begin`;
  await holder`select from uptuple.service_state where service_id = ${ids[1] as string} for update`;
  const forward = completeBatch(one, windows.map(([older]) => completion(older, REFUSED)));
  forward.catch(() => {});
  await untilBlocked(owner, onePid);
  const backward = completeBatch(other, windows.toReversed().map(([_older, newer]) => completion(newer, REFUSED)));
  backward.catch(() => {});
  await untilBlocked(owner, otherPid);
  await holder`commit`;

  assert.deepEqual([...await forward, ...await backward], Array(6).fill("ACCEPTED"));
  for (const service of ["first", "middle", "last"]) assert.equal((await stateOf(owner, service)).failure_streak, 2);
  await assertNoViolations(owner);
});

Deno.test("poisoned batches in reversed order do not deadlock either", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (let n = 0; n < 6; n++) await addService(owner, `service ${n}`);
  const jobs = await claim(owner, 6);
  const [one, other] = [await database.connect(), await database.connect()];
  const entries = jobs.map((job, index) => completion(job, index === 2 ? {} : ANSWERED));

  const [forward, backward] = await Promise.all([
    completeBatch(one, entries),
    completeBatch(other, entries.toReversed()),
  ]);

  jobs.forEach((_job, index) => {
    const outcomes = [forward[index], backward[jobs.length - 1 - index]].sort();
    assert.deepEqual(outcomes, index === 2 ? ["BROKEN", "REFUSED"] : ["ACCEPTED", "DUPLICATE"]);
  });
  await assertNoViolations(owner);
});

Deno.test("complete against cancel: what was completed first is not cancelled", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  assert.deepEqual(
    await interleave(database, (sql) => complete(sql, job, ANSWERED), (sql) => cancel(sql, "inventory")),
    [true, 0],
  );

  assert.equal((await jobRow(owner, job.job_id)).state, "DONE");
});

Deno.test("complete against cancel: what was cancelled first is refused and leaves no result", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  assert.deepEqual(
    await interleave(database, (sql) => cancel(sql, "inventory"), (sql) => complete(sql, job, ANSWERED)),
    [1, false],
  );

  assert.equal((await jobRow(owner, job.job_id)).state, "CANCELED");
  assert.deepEqual([...await owner<object[]>`select * from uptuple.result`], []);
  await assertNoViolations(owner);
});

Deno.test("claim against cancel: a job that is being claimed is cancelled as running, or not at all if running ones are left alone", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  const [[job], [left]] = await interleave(
    database,
    (sql) => claim(sql),
    (sql) => sql`select uptuple.cancel_jobs(service => 'inventory', running => false) as count`,
  );

  assert.ok(job);
  assert.equal(left.count, 0);
  assert.equal(await complete(owner, job, ANSWERED), true);
});

Deno.test("complete against disable: an incident that was opened meanwhile is withdrawn", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  await makeWindowDue(owner, "inventory");
  const job = await claimOne(owner);

  await interleave(
    database,
    (sql) => complete(sql, job, REFUSED),
    (sql) => sql`select uptuple.disable_service('inventory')`,
  );

  const [incident] = await owner`select closed_by from uptuple.incident`;
  assert.equal(incident.closed_by, "withdrawn");
  assert.equal((await stateOf(owner, "inventory")).status, "UNKNOWN");
  await assertNoViolations(owner);
});

Deno.test("disable against complete: a result that arrives while the service is being disabled moves nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  await makeWindowDue(owner, "inventory");
  const job = await claimOne(owner);

  const [, completed] = await interleave(
    database,
    (sql) => sql`select uptuple.disable_service('inventory')`,
    (sql) => complete(sql, job, REFUSED),
  );

  assert.equal(completed, true);
  const [result] = await owner`select applied_order from uptuple.result where purpose = 'GRID'`;
  assert.equal(result.applied_order, null);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.incident`], []);
  await assertNoViolations(owner);
});

Deno.test("remove against record_health: a record for a service that is being removed is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");

  await assert.rejects(
    interleave(
      database,
      (sql) => sql`select uptuple.remove_service('inventory')`,
      (sql) => sql`select uptuple.record_health('inventory', 'DOWN')`,
    ),
    { code: "UT001", message: "there is no service named 'inventory'" },
  );

  const [results] = await owner`select count(*)::integer from uptuple.result where purpose = 'MANUAL'`;
  assert.equal(results.count, 0);
});

Deno.test("record_health against remove: an incident that was opened meanwhile is withdrawn with the service", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });

  await interleave(
    database,
    (sql) => sql`select uptuple.record_health('inventory', 'DOWN')`,
    (sql) => sql`select uptuple.remove_service('inventory')`,
  );

  const [incident] = await owner`select closed_by from uptuple.incident`;
  assert.equal(incident.closed_by, "withdrawn");
  await assertNoViolations(owner);
});
