import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  complete,
  completeBatch,
  completion,
  jobRow,
  stateOf,
} from "../../support/services.ts";

async function jobStates(sql: TestSql): Promise<Record<string, string>> {
  const rows = await sql<{ name: string; state: string }[]>`
    select service.name, job.state from uptuple.job join uptuple.service on service.id = job.service_id order by job.id`;
  return Object.fromEntries(rows.map((row) => [row.name, row.state]));
}

Deno.test("the waiting and running jobs of a service are cancelled, others are not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b"]) await addService(owner, name);
  await claim(owner, 1);
  await owner`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
    select scheduled_slot + 1, service_id, clock_timestamp(), 1, 30, 'default' from uptuple.job where service_id = 1`;

  const [answer] = await owner`select uptuple.cancel_jobs(service => 'a', reason => 'maintenance') as count`;

  assert.equal(answer.count, 2);
  const rows = await owner<Record<string, unknown>[]>`
    select service_id, state, error, owner_token, finished_at is not null as finished from uptuple.job order by id`;
  const cancelled = { service_id: "1", state: "CANCELED", error: "maintenance", owner_token: null, finished: true };
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    cancelled,
    { service_id: "2", state: "READY", error: null, owner_token: null, finished: false },
    cancelled,
  ]);
  await assertNoViolations(owner);
});

Deno.test("the owner of a cancelled job is refused, and the window is a gap", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const [job] = await claim(owner);
  assert.ok(job);
  await owner`select uptuple.cancel_jobs(job_ids => ${[job.job_id]})`;

  assert.deepEqual(await completeBatch(owner, [completion(job, ANSWERED)]), ["REFUSED"]);

  assert.equal((await jobRow(owner, job.job_id)).error, "cancelled by postgres");
  assert.equal((await stateOf(owner, "inventory")).applied_count, "0");
  assert.deepEqual(await claim(owner), []);
});

Deno.test("jobs can be cancelled by their ids, and running ones left alone", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b", "c"]) await addService(owner, name);
  const [running] = await claim(owner, 1);
  const ids = (await owner<{ id: string }[]>`select id from uptuple.job order by id`).map((row) => row.id);

  const [answer] = await owner`select uptuple.cancel_jobs(job_ids => ${[
    ...ids.slice(0, 2),
    "999999",
  ]}, running => false) as count`;

  assert.equal(answer.count, 1);
  assert.equal(running?.service, "a");
  assert.deepEqual(await jobStates(owner), { a: "RUNNING", b: "CANCELED", c: "READY" });
});

Deno.test("given a service and ids, only those of the service are cancelled", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b"]) await addService(owner, name);
  const ids = (await owner<{ id: string }[]>`select id from uptuple.job order by id`).map((row) => row.id);

  const [answer] = await owner`select uptuple.cancel_jobs(service => 'b', job_ids => ${ids}) as count`;

  assert.equal(answer.count, 1);
  assert.deepEqual(await jobStates(owner), { a: "READY", b: "CANCELED" });
});

Deno.test("finished jobs are not cancelled", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const [job] = await claim(owner);
  assert.ok(job);
  await complete(owner, job, ANSWERED);

  const [answer] = await owner`select uptuple.cancel_jobs(service => 'inventory') as count`;

  assert.equal(answer.count, 0);
  assert.equal((await jobRow(owner, job.job_id)).state, "DONE");
});

Deno.test("a call that names nothing to cancel, or nobody, is an error with the cure", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await assert.rejects(owner`select uptuple.cancel_jobs()`, {
    code: "22023",
    message: "cancel_jobs was given neither a service nor job_ids",
    hint: "For example select uptuple.cancel_jobs(service => 'inventory').",
  });
  await assert.rejects(owner`select uptuple.cancel_jobs(service => 'nobody')`, { code: "UT001" });
});
