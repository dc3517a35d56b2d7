import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  assertNoViolations,
  claim,
  claimOne,
  enqueue,
  letTimePass,
  makeWindowDue,
} from "../../support/services.ts";

/** How far the head of the queue lies behind the present, in seconds. */
async function headAge(sql: TestSql): Promise<number> {
  const [row] = await sql`
    select extract(epoch from clock_timestamp() - queue_head)::float8 as age from uptuple.region where name = 'default'`;
  return row.age;
}

/** The only waiting job becomes due so many seconds ago, behind the back of everybody who keeps the head. */
async function backdate(sql: TestSql, seconds: number): Promise<void> {
  const moved = await sql`
    update uptuple.job set due_at = clock_timestamp() - make_interval(secs => ${seconds}) where state = 'READY' returning id`;
  assert.equal(moved.length, 1);
}

Deno.test("the head of the queue is two seconds ago while nothing waits, and the first job that waits or runs otherwise", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await enqueue(owner);
  const idle = await headAge(owner);
  assert.ok(idle >= 2 && idle < 4, `${idle} s`);

  await makeWindowDue(owner, "inventory");
  await letTimePass(owner, 8);
  await enqueue(owner);
  const [waiting] =
    await owner`select queue_head = due_at as at_job from uptuple.region, uptuple.job where job.state = 'READY'`;
  assert.equal(waiting.at_job, true, "it waits");

  await claimOne(owner);
  await letTimePass(owner, 36);
  await owner`select uptuple.find_queue_heads()`;
  const [running] =
    await owner`select queue_head = due_at as at_job from uptuple.region, uptuple.job where job.state = 'RUNNING'`;
  assert.equal(running.at_job, true, "its lease ended, and nobody took it over");
  await assertNoViolations(owner);
});

Deno.test("where nobody has looked for the head for a while, a claim looks from the beginning", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  await enqueue(owner);
  await backdate(owner, 20);
  assert.deepEqual(await claim(owner), []);

  await owner`update uptuple.region set queue_searched_at = queue_searched_at - interval '15 s'`;

  await claimOne(owner);
});

Deno.test("a job that was committed long after it was due comes within ten seconds, however many others are due", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "late");
  await makeWindowDue(owner, "late");
  await enqueue(owner);
  await backdate(owner, 20);
  await addCheckedService(owner, "other");
  await owner`select uptuple.check_now('other')`;
  await enqueue(owner);
  assert.ok(await headAge(owner) < 19, "the search began at the head");

  await owner`update uptuple.region set queue_searched_at = queue_searched_at - interval '10 s'`;
  await enqueue(owner);

  assert.ok(await headAge(owner) >= 20, "the search began at the beginning");
  const [first] = await claim(owner, 1);
  assert.equal(first?.service, "late");
});

Deno.test("a job that is given back is the first to be claimed again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  await letTimePass(owner, 8);
  const job = await claimOne(owner);
  await enqueue(owner);
  await addCheckedService(owner, "other");
  await owner`select uptuple.check_now('other')`;
  assert.ok(await headAge(owner) < 7);

  await owner`select uptuple.release_jobs(${[job.job_id]}, ${[job.owner_token]})`;

  const [first] = await claim(owner, 1);
  assert.equal(first?.job_id, job.job_id);
});

Deno.test("a window made by hand is claimed in its turn, though it began before the head", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const slot = await makeWindowDue(owner, "inventory");
  await owner`delete from uptuple.job where state = 'READY'`;
  await letTimePass(owner, 20);
  await owner`select uptuple.find_queue_heads()`;
  await addCheckedService(owner, "other");
  await owner`select uptuple.check_now('other')`;
  assert.ok(await headAge(owner) < 19);

  await owner`select uptuple.enqueue_job('inventory', ${Number(slot) - 20})`;

  const [first] = await claim(owner, 1);
  assert.equal(first?.service, "inventory");
});

Deno.test("after a clock was set back the head does not hide what is due now", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await enqueue(owner);

  await letTimePass(owner, -3600);
  assert.ok(await headAge(owner) < -3500);
  await makeWindowDue(owner, "inventory");
  await enqueue(owner);

  const idle = await headAge(owner);
  assert.ok(idle >= 0, `${idle} s`);
  await claimOne(owner);
});
