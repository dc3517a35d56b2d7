import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  checkNextWindow,
  claim,
  claimOne,
  complete,
  enqueue,
  letTimePass,
  makeWindowDue,
  openWindow,
  REFUSED,
  stateOf,
} from "../../support/services.ts";

Deno.test("a cursor left far ahead by a clock that was set back does not stop the windows", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await openWindow(owner, "inventory");
  await owner`update uptuple.enqueue_cursor set enqueued_until = enqueued_until + 3600`;

  await enqueue(owner);
  await openWindow(owner, "inventory");

  assert.equal(await enqueue(owner), 1);
  const [cursor] =
    await owner`select enqueued_until - extract(epoch from clock_timestamp()) < 10 as near from uptuple.enqueue_cursor`;
  assert.equal(cursor.near, true);
});

Deno.test("a state's last slot more than two intervals ahead yields to the next result", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  await owner`update uptuple.service_state set last_slot = extract(epoch from clock_timestamp()) + 3600, last_at = last_at + interval '1 hour'`;

  const job = await checkNextWindow(owner, "inventory", REFUSED);

  const { status, last_slot } = await stateOf(owner, "inventory");
  assert.deepEqual([status, last_slot], ["DOWN", job.scheduled_slot]);
});

Deno.test("a last slot no more than two intervals ahead stays, so that no window counts twice", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute", failureThreshold: 1 });
  await makeWindowDue(owner, "inventory");
  const job = await claimOne(owner);
  await owner`update uptuple.service_state set last_slot = extract(epoch from clock_timestamp())::bigint + 100`;

  await complete(owner, job, REFUSED);

  assert.equal((await stateOf(owner, "inventory")).status, "UP");
});

Deno.test("a service whose last verdict lies in the future is UNKNOWN until somebody has looked again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  const shown = async () => (await owner`select status from uptuple.status`)[0].status;
  assert.equal(await shown(), "UP");

  await letTimePass(owner, -3600);
  assert.equal(await shown(), "UNKNOWN");

  await owner`select uptuple.check_now('inventory')`;
  await complete(owner, await claimOne(owner), ANSWERED);
  assert.equal(await shown(), "UP");
});

Deno.test("jobs of a time that is still to come wait for it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await letTimePass(owner, -3600);

  assert.deepEqual(await claim(owner), []);
  const [next] = await owner`select uptuple.next_job_due() as ms, uptuple.overdue('1 second') as overdue`;
  assert.deepEqual({ ...next }, { ms: null, overdue: false });

  await letTimePass(owner, 3600);
  assert.equal((await claim(owner)).length, 1);
});
