import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  claim,
  type ClaimedJob,
  claimOne,
  complete,
  jobRow,
  letTimePass,
  makeWindowDue,
} from "../../support/services.ts";

async function release(sql: TestSql, jobs: ClaimedJob[]): Promise<number> {
  const [answer] = await sql`
    select uptuple.release_jobs(${jobs.map((job) => job.job_id)}, ${jobs.map((job) => job.owner_token)}) as count`;
  return answer.count;
}

Deno.test("a released job is READY at once and its attempt is given back", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  assert.equal(await release(owner, [job]), 1);

  const row = await jobRow(owner, job.job_id);
  assert.deepEqual([row.state, row.attempts, row.owner_token, row.worker], ["READY", 0, null, null]);
  const again = await claimOne(owner);
  assert.deepEqual([again.job_id, again.attempt], [job.job_id, 1]);
  assert.notEqual(again.owner_token, job.owner_token);
});

Deno.test("a job can be given back any number of times and still has its three attempts", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  for (let round = 0; round < 5; round++) await release(owner, [await claimOne(owner)]);

  assert.equal((await claimOne(owner)).attempt, 1);
});

Deno.test("a released job is first in line again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "first");
  await letTimePass(owner, 5);
  await addService(owner, "second");
  const [first] = await claim(owner, 1);
  assert.equal(first?.service, "first");

  await release(owner, [first]);

  assert.equal((await claim(owner, 1))[0]?.service, "first");
});

Deno.test("only jobs whose token and lease are good are given back, and the answer says how many", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b", "c"]) await addService(owner, name);
  const [first, second, third] = await claim(owner, 3);
  assert.ok(first && second && third);
  await complete(owner, third, ANSWERED);

  assert.equal(await release(owner, [first, { ...second, owner_token: crypto.randomUUID() }, third]), 1);

  assert.equal((await jobRow(owner, first.job_id)).state, "READY");
  assert.equal((await jobRow(owner, second.job_id)).state, "RUNNING");
  assert.equal((await jobRow(owner, third.job_id)).state, "DONE");
  await letTimePass(owner, 31);
  assert.equal(await release(owner, [second]), 0, "its lease has ended");
});

Deno.test("a window that was given back is not probed after its successor was due, however often it was claimed before", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await makeWindowDue(owner, "inventory");
  await letTimePass(owner, 50);
  await release(owner, [await claimOne(owner)]);

  await letTimePass(owner, 15);

  assert.deepEqual(await claim(owner), []);
  await owner`select uptuple.end_jobs()`;
  const [job] = await owner`select state from uptuple.job where purpose = 'GRID'`;
  assert.equal(job.state, "MISSED");
});

Deno.test("a job that was given back before the end of its window is claimed again within it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await makeWindowDue(owner, "inventory");
  await letTimePass(owner, 35);
  const job = await claimOne(owner);

  await release(owner, [job]);

  assert.equal((await claimOne(owner)).job_id, job.job_id);
});

Deno.test("as many tokens as jobs, or an error that says so", async () => {
  await using database = await emptiedDatabase();

  await assert.rejects(database.owner`select uptuple.release_jobs('{1,2}', '{}')`, {
    code: "22023",
    message: "job_ids has 2 entries and owner_tokens has 0",
    hint: "Give one token for each job.",
  });
});
