import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  claimOne,
  complete,
  letTimePass,
  makeWindowDue,
  REFUSED,
  stateOf,
} from "../../support/services.ts";

const SECRET_MISSING = { error: { code: "secret.missing", message: "UPTUPLE_SECRET_TOKEN is not set" } };

/** The ids of the confirmations that wait. */
async function confirmations(sql: TestSql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from uptuple.job where purpose = 'CONFIRM' and state = 'READY'`;
  return rows.map((row) => row.id);
}

Deno.test("a service checked daily is announced after minutes and not after three days", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "30 seconds" });
  await complete(owner, await claimOne(owner), REFUSED);

  for (const streak of [2, 3]) {
    assert.equal((await stateOf(owner, "inventory")).status, "UNKNOWN");
    await letTimePass(owner, 31);
    const job = await claimOne(owner);
    assert.equal(job.purpose, "CONFIRM");
    assert.equal(await complete(owner, job, REFUSED), true);
    assert.equal((await stateOf(owner, "inventory")).failure_streak, streak);
  }

  assert.equal((await stateOf(owner, "inventory")).status, "DOWN");
  assert.deepEqual(await confirmations(owner), [], "at the threshold nothing is left to confirm");
  await assertNoViolations(owner);
});

/** How many seconds after its result each service has its confirmation. */
async function waits(sql: TestSql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; wait: number }[]>`
    select service.name, (job.scheduled_slot - floor(extract(epoch from result.recorded_at)))::integer as wait
    from uptuple.job
    join uptuple.service on service.id = job.service_id
    join uptuple.result on result.service_id = service.id
    where job.purpose = 'CONFIRM'`;
  return Object.fromEntries(rows.map((row) => [row.name, row.wait]));
}

Deno.test("by default the next check after a failure comes after thirty seconds, or in the grid if that is as near", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'slow', url => 'http://127.0.0.1/', every => '1 day')`;
  await owner`select uptuple.add_service(name => 'usual', url => 'http://127.0.0.1/')`;
  await owner`update uptuple.service set first_slot = first_slot - 30 where name = 'usual'`;

  for (const job of await claim(owner, 2)) await complete(owner, job, REFUSED);

  const { slow, ...others } = await waits(owner);
  assert.ok(slow === 30 || slow === 31, `due in ${slow} s`);
  assert.deepEqual(others, {});
});

Deno.test("confirm_every sets how soon, and a confirmation as late as the grid is not made", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "five seconds", { every: "1 day", confirmEvery: "5 seconds" });
  await addService(owner, "a day", { every: "1 hour", confirmEvery: "1 day" });

  for (const job of await claim(owner, 2)) await complete(owner, job, REFUSED);

  const { "five seconds": five, ...others } = await waits(owner);
  assert.ok(five === 5 || five === 6, `due in ${five} s`);
  assert.deepEqual(others, {});
});

Deno.test("a first failure followed by a success ends the confirming", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "30 seconds" });
  await complete(owner, await claimOne(owner), REFUSED);
  await letTimePass(owner, 31);

  await complete(owner, await claimOne(owner), ANSWERED);

  assert.deepEqual(await confirmations(owner), []);
  assert.deepEqual((await stateOf(owner, "inventory")).status, "UP");
});

Deno.test("with a threshold of one there is nothing to confirm", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "30 seconds", failureThreshold: 1 });

  await complete(owner, await claimOne(owner), REFUSED);

  assert.deepEqual(await confirmations(owner), []);
  assert.equal((await stateOf(owner, "inventory")).status, "DOWN");
});

Deno.test("a confirmation that told nothing is followed by another one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "30 seconds" });
  await complete(owner, await claimOne(owner), REFUSED);
  await letTimePass(owner, 31);

  await complete(owner, await claimOne(owner), SECRET_MISSING);

  assert.equal((await confirmations(owner)).length, 1);
  assert.equal((await stateOf(owner, "inventory")).failure_streak, 1);
});

Deno.test("a service that is not failing gets no confirmation for a check that told nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "30 seconds" });

  await complete(owner, await claimOne(owner), SECRET_MISSING);

  assert.deepEqual(await confirmations(owner), []);
});

Deno.test("a confirmation whose third attempt broke is followed by another one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "30 seconds" });
  await complete(owner, await claimOne(owner), REFUSED);
  await letTimePass(owner, 31);
  for (let attempt = 1; attempt <= 3; attempt++) {
    const job = await claimOne(owner);
    await owner`select uptuple.retry_job(${job.job_id}, ${job.owner_token}, 'the runtime stalled')`;
    await letTimePass(owner, 10);
  }

  const [failed] =
    await owner`select count(*)::integer from uptuple.job where purpose = 'CONFIRM' and state = 'FAILED'`;
  assert.equal(failed.count, 1);
  assert.equal((await confirmations(owner)).length, 1);
});

Deno.test("a confirmation whose last lease ended is followed by another one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day", confirmEvery: "30 seconds" });
  await complete(owner, await claimOne(owner), REFUSED);
  await letTimePass(owner, 31);
  for (let attempt = 1; attempt <= 3; attempt++) {
    await claimOne(owner);
    await letTimePass(owner, 31);
  }

  await owner`select uptuple.end_jobs()`;

  const [failed] =
    await owner`select count(*)::integer from uptuple.job where purpose = 'CONFIRM' and state = 'FAILED'`;
  assert.equal(failed.count, 1);
  assert.equal((await confirmations(owner)).length, 1);
});

Deno.test("two failures at nearly the same time are confirmed by one check and not by two", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "5 minutes", confirmEvery: "30 seconds", failureThreshold: 5 });
  await complete(owner, await claimOne(owner), REFUSED);
  await owner`delete from uptuple.job where purpose = 'CONFIRM'`;
  await makeWindowDue(owner, "inventory");
  const window = await claimOne(owner);
  await owner`select uptuple.enqueue_confirmations(array[${window.service_id}::bigint])`;
  await letTimePass(owner, 7);

  await complete(owner, window, REFUSED);

  assert.equal((await confirmations(owner)).length, 1);
});

Deno.test("a confirmation uses the present revision, and none is made for a disabled service", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "edited", { every: "1 day", confirmEvery: "30 seconds" });
  await addService(owner, "disabled", { every: "1 day", confirmEvery: "30 seconds" });
  const jobs = await claim(owner, 2);
  await owner`select uptuple.update_service('edited', url => 'http://127.0.0.1/new')`;
  await owner`select uptuple.disable_service('disabled')`;

  for (const job of jobs) await complete(owner, job, REFUSED);

  const rows = await owner`
    select service.name, job.revision from uptuple.job join uptuple.service on service.id = job.service_id
    where job.purpose = 'CONFIRM'`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ name: "edited", revision: 2 }]);
});
