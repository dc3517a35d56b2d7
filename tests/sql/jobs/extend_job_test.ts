import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addService,
  ANSWERED,
  claim,
  type ClaimedJob,
  claimOne,
  complete,
  jobRow,
  letTimePass,
} from "../../support/services.ts";

async function extend(sql: TestSql, job: ClaimedJob): Promise<Date | null> {
  const [answer] = await sql`select uptuple.extend_job(${job.job_id}, ${job.owner_token}) as until`;
  return answer.until;
}

Deno.test("an extended lease ends thirty seconds after the call, and its owner can complete after the old end", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);
  await letTimePass(owner, 20);

  const leaseUntil = await extend(owner, job);

  const [clock] = await owner`select clock_timestamp() as now`;
  const left = (leaseUntil as Date).getTime() - clock.now.getTime();
  assert.ok(left > 25_000 && left <= 30_000, `${left} ms are left`);
  assert.deepEqual((await jobRow(owner, job.job_id)).due_at, leaseUntil);
  await letTimePass(owner, 20);
  assert.deepEqual(await claim(owner), []);
  assert.equal(await complete(owner, job, ANSWERED), true);
});

Deno.test("an ended lease cannot be extended, nor can another's", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  assert.equal(await extend(owner, { ...job, owner_token: crypto.randomUUID() }), null);
  assert.equal(await extend(owner, { ...job, job_id: "999999" }), null);
  await letTimePass(owner, 31);
  const before = await jobRow(owner, job.job_id);
  assert.equal(await extend(owner, job), null);

  assert.deepEqual(await jobRow(owner, job.job_id), before);
});

Deno.test("a batch of extensions answers for each entry in its order", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "a");
  await addService(owner, "b");
  const [first, second] = await claim(owner, 2);
  assert.ok(first && second);
  await complete(owner, first, ANSWERED);

  const answers = await owner<{ job_id: string; lease_until: Date | null }[]>`
    select * from uptuple.extend_jobs(${
    owner.json([
      { job_id: first.job_id, scheduled_slot: first.scheduled_slot, owner_token: first.owner_token },
      { job_id: second.job_id, owner_token: second.owner_token },
    ])
  })`;

  assert.deepEqual(answers.map((answer) => [answer.job_id, answer.lease_until !== null]), [
    [first.job_id, false],
    [second.job_id, true],
  ]);
});
