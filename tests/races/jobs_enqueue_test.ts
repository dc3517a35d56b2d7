import assert from "node:assert/strict";
import { emptiedDatabase } from "../support/emptied_database.ts";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import { addCheckedService, assertNoViolations, enqueue, letTimePass, openWindow } from "../support/services.ts";

Deno.test("two producers, one job: while one enqueues, the other skips and does not wait", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await openWindow(owner, "inventory");
  const first = await database.connect();
  const second = await database.connect();

  await first`begin`;
  assert.equal(await enqueue(first), 1);
  await neverWait(second);
  assert.equal(await enqueue(second), 0);
  await first`commit`;

  const [jobs] = await owner`select count(*)::integer from uptuple.job where purpose = 'GRID'`;
  assert.equal(jobs.count, 1);
});

Deno.test("a producer that runs twice makes nothing twice", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await openWindow(owner, "inventory");

  assert.equal(await enqueue(owner), 1);
  assert.equal(await enqueue(owner), 0);

  await owner`update uptuple.enqueue_cursor set enqueued_until = enqueued_until - 30`;
  assert.equal(await enqueue(owner), 0, "the same windows again make no second job");
  const [jobs] = await owner`select count(*)::integer from uptuple.job where purpose = 'GRID'`;
  assert.equal(jobs.count, 1);
});

Deno.test("ten producers at once make each window's job once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["a", "b", "c", "d"]) await addCheckedService(owner, name, { every: "1 hour" });
  await letTimePass(owner, 3600);
  const producers = await Promise.all(Array.from({ length: 10 }, () => database.connect()));

  const made = await Promise.all(producers.map((producer) => enqueue(producer)));

  const [jobs] = await owner`
    select count(*)::integer as jobs, count(distinct (service_id, scheduled_slot))::integer as windows,
      count(distinct service_id)::integer as services
    from uptuple.job where purpose = 'GRID'`;
  assert.equal(jobs.services, 4);
  assert.equal(jobs.jobs, jobs.windows);
  assert.equal(made.reduce((sum, each) => sum + each), jobs.jobs);
  await assertNoViolations(owner);
});

Deno.test("a producer that was rolled back is made up for by the next one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await openWindow(owner, "inventory");
  const killed = await database.connect();
  await killed`begin`;
  assert.equal(await enqueue(killed), 1);

  await killed`rollback`;

  assert.equal(await enqueue(owner), 1);
});

Deno.test("enqueue against disable: whoever disables waits for the producer, and no window is made after", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await openWindow(owner, "inventory");
  const producer = await database.connect();
  const person = await database.connect();
  const personPid = await backendOf(person);

  await producer`begin`;
  assert.equal(await enqueue(producer), 1);
  const disabled = person`select uptuple.disable_service('inventory') as disabled`;
  disabled.catch(() => {});
  await untilBlocked(owner, personPid);
  await producer`commit`;

  assert.equal((await disabled)[0].disabled, true);
  await letTimePass(owner, 60);
  assert.equal(await enqueue(producer), 0);
  const [job] = await owner`select state from uptuple.job where purpose = 'GRID'`;
  assert.equal(job.state, "MISSED", "the job that was made before stays, and nobody claimed it in time");
});

Deno.test("enqueue against remove: the job that was made meanwhile is cancelled with the others", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await openWindow(owner, "inventory");
  const producer = await database.connect();
  const person = await database.connect();
  const personPid = await backendOf(person);

  await producer`begin`;
  assert.equal(await enqueue(producer), 1);
  const removed = person`select uptuple.remove_service('inventory') as id`;
  removed.catch(() => {});
  await untilBlocked(owner, personPid);
  await producer`commit`;
  await removed;

  const [job] = await owner`select state, error from uptuple.job where purpose = 'GRID'`;
  assert.deepEqual({ ...job }, { state: "CANCELED", error: "the service was removed" });
});

Deno.test("enqueue against an edit: the new grid waits for the producer and starts above what it made", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "10 seconds" });
  await letTimePass(owner, 60);
  const producer = await database.connect();
  const person = await database.connect();
  const personPid = await backendOf(person);

  await producer`begin`;
  await enqueue(producer);
  const updated = person`select uptuple.update_service('inventory', every => '2 seconds')`;
  updated.catch(() => {});
  await untilBlocked(owner, personPid);
  await producer`commit`;
  await updated;

  const [grid] = await owner`
    select first_slot > enqueued_until as above_cursor, first_slot > (select max(scheduled_slot) from uptuple.job) as above_jobs
    from uptuple.service, uptuple.enqueue_cursor`;
  assert.deepEqual({ ...grid }, { above_cursor: true, above_jobs: true });
});
