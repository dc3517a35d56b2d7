import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  type ClaimedJob,
  claimOne,
  complete,
  jobRow,
  letTimePass,
} from "../../support/services.ts";

async function retry(sql: TestSql, job: ClaimedJob, error = "the runtime stalled"): Promise<string> {
  const [answer] = await sql`select uptuple.retry_job(${job.job_id}, ${job.owner_token}, ${error}) as outcome`;
  return answer.outcome;
}

Deno.test("a broken attempt is READY again after five seconds, the next one after ten", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });

  for (const [attempt, wait] of [[1, 5], [2, 10]] as const) {
    const job = await claimOne(owner);
    assert.equal(job.attempt, attempt);
    const [before] = await owner`select clock_timestamp() as at`;
    assert.equal(await retry(owner, job), "READY");

    const { state, owner_token, error, attempts, due_at } = await jobRow(owner, job.job_id);
    assert.deepEqual([state, owner_token, error, attempts], ["READY", null, "the runtime stalled", attempt]);
    const waitMs = (due_at as Date).getTime() - before.at.getTime();
    assert.ok(waitMs >= wait * 1000 && waitMs < wait * 1000 + 4000, `due after ${waitMs} ms`);
    assert.deepEqual(await claim(owner), [], "it is not due yet");
    await letTimePass(owner, wait);
  }
  assert.equal((await claimOne(owner)).attempt, 3);
});

Deno.test("the third broken attempt ends FAILED, and the job is never claimed again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  for (const expected of ["READY", "READY", "FAILED"]) {
    const job = await claimOne(owner);
    assert.equal(await retry(owner, job, `attempt ${job.attempt} broke`), expected);
    await letTimePass(owner, 60);
  }

  const [job] =
    await owner`select state, error, attempts, finished_at is not null as finished, owner_token from uptuple.job`;
  assert.deepEqual({ ...job }, {
    state: "FAILED",
    error: "attempt 3 broke",
    attempts: 3,
    finished: true,
    owner_token: null,
  });
  assert.deepEqual(await claim(owner), []);
  await assertNoViolations(owner);
});

Deno.test("a job that was retried can still be completed, and keeps its slot", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  const broken = await claimOne(owner);
  await retry(owner, broken);
  await letTimePass(owner, 5);

  const job = await claimOne(owner);

  assert.equal(job.job_id, broken.job_id);
  assert.equal(Number(job.scheduled_slot), Number(broken.scheduled_slot) - 5, "five seconds have passed");
  assert.equal(await complete(owner, job, ANSWERED), true);
});

Deno.test("a retry with another token, after the lease, or of a job that is done is refused and changes nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  const job = await claimOne(owner);

  assert.equal(await retry(owner, { ...job, owner_token: crypto.randomUUID() }), "REFUSED");
  assert.equal(await retry(owner, { ...job, job_id: "999999" }), "REFUSED");
  await letTimePass(owner, 31);
  assert.equal(await retry(owner, job), "REFUSED", "its lease has ended");
  const running = await jobRow(owner, job.job_id);
  assert.deepEqual([running.state, running.attempts, running.error], ["RUNNING", 1, null]);

  const heir = await claimOne(owner);
  await complete(owner, heir, ANSWERED);
  const done = await jobRow(owner, job.job_id);
  assert.equal(await retry(owner, heir), "REFUSED");
  assert.deepEqual(await jobRow(owner, job.job_id), done);
});

Deno.test("a batch of retries answers for each entry in its order", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b", "c"]) await addService(owner, name);
  const [first, second, third] = await claim(owner, 3);
  assert.ok(first && second && third);
  await owner`update uptuple.job set attempts = 3 where id = ${third.job_id}`;

  const answers = await owner<{ job_id: string; outcome: string }[]>`
    select * from uptuple.retry_jobs(${
    owner.json([
      { job_id: third.job_id, scheduled_slot: third.scheduled_slot, owner_token: third.owner_token, error: "stalled" },
      { job_id: first.job_id, owner_token: first.owner_token, error: "stalled" },
      { job_id: second.job_id, owner_token: crypto.randomUUID(), error: "stalled" },
    ])
  })`;

  assert.deepEqual(answers.map((answer) => ({ ...answer })), [
    { job_id: third.job_id, outcome: "FAILED" },
    { job_id: first.job_id, outcome: "READY" },
    { job_id: second.job_id, outcome: "REFUSED" },
  ]);
});

Deno.test("the error of a broken attempt is kept short and printable", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  await retry(owner, job, `\u001b[31m${"x".repeat(1_000_000)}`);

  const { error } = await jobRow(owner, job.job_id);
  assert.equal(error, `\ufffd[31m${"x".repeat(495)}`);
});
