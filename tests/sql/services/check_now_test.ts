import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  ANSWERED,
  assertNoViolations,
  claim,
  claimOne,
  complete,
  jobRow,
  letTimePass,
  openWindow,
  REFUSED,
  stateOf,
} from "../../support/services.ts";

/** Asks for a check, one second after anything before. */
async function checkNow(sql: TestSql, service = "inventory"): Promise<string> {
  await letTimePass(sql, 1);
  const [answer] = await sql`select uptuple.check_now(${service}) as id`;
  return answer.id;
}

Deno.test("check_now makes a job outside the grid that is due at once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 day" });

  const id = await checkNow(owner);

  const job = await claimOne(owner);
  assert.deepEqual([job.job_id, job.purpose], [id, "REQUEST"]);
});

Deno.test("check_now makes at most one job a second: a second call in the same second gets the first one's", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 day" });
  await letTimePass(owner, 1);

  const [asked] = await owner`
    select array_agg(uptuple.check_now('inventory')) as ids from generate_series(1, 20)`;

  const [jobs] =
    await owner`select count(*)::integer, count(distinct scheduled_slot)::integer as seconds from uptuple.job where purpose = 'REQUEST'`;
  assert.equal(new Set(asked.ids).size, jobs.count);
  assert.equal(jobs.count, jobs.seconds);
  assert.ok(jobs.count <= 2, "twenty calls in one statement lie in one second, or in two");
});

Deno.test("a DOWN from a request is stored but does not extend a streak", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 day", failureThreshold: 1 });
  const before = await stateOf(owner, "inventory");
  await checkNow(owner);

  assert.equal(await complete(owner, await claimOne(owner), REFUSED), true);

  const [result] = await owner`select status, applied_order from uptuple.result where purpose = 'REQUEST'`;
  assert.deepEqual({ ...result }, { status: "DOWN", applied_order: null });
  const { last_slot: _before, ...rest } = before;
  const { last_slot: _after, ...now } = await stateOf(owner, "inventory");
  assert.deepEqual(now, rest);
  const [shown] = await owner`select status, checked_status, code from uptuple.status`;
  assert.deepEqual({ ...shown }, { status: "UP", checked_status: "DOWN", code: "connect.refused" });
  await assertNoViolations(owner);
});

Deno.test("an UP from a request counts: a person who mended the service need not wait for its next window", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 day", failureThreshold: 1 });
  await owner`select uptuple.record_health('inventory', 'DOWN')`;
  assert.equal((await stateOf(owner, "inventory")).status, "DOWN");

  await checkNow(owner);
  await complete(owner, await claimOne(owner), ANSWERED);

  assert.equal((await stateOf(owner, "inventory")).status, "UP");
});

Deno.test("a request in a second in which a window starts is that window's job, and takes nothing from it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "every second", { every: "1 second" });
  await letTimePass(owner, 10);

  const [asked] = await owner`select uptuple.check_now('every second') as id`;

  assert.equal((await jobRow(owner, asked.id)).purpose, "GRID");
});

Deno.test("a request for a window that waits for its millisecond makes it due now", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "every second", { every: "1 second" });
  await letTimePass(owner, 10);
  await owner`
    insert into uptuple.job (scheduled_slot, service_id, region, revision, interval_seconds, due_at)
    select floor(extract(epoch from clock_timestamp()))::bigint + second, id, 'default', 1, 1, clock_timestamp() + interval '10 s'
    from uptuple.service, generate_series(0, 1) second`;

  const [asked] = await owner`select uptuple.check_now('every second') as id`;

  assert.deepEqual((await claim(owner, 10)).map((job) => job.job_id), [asked.id]);
});

Deno.test("a request does not disturb the windows around it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  const slot = await openWindow(owner, "inventory");
  await owner`select uptuple.enqueue_jobs()`;

  const asked = await checkNow(owner);

  const jobs = await claim(owner, 10);
  assert.deepEqual(
    jobs.map((job) => job.purpose).sort(),
    ["GRID", "REQUEST"],
  );
  const window = jobs.find((job) => job.purpose === "GRID");
  assert.equal(window?.scheduled_slot, String(Number(slot) - 1));
  assert.notEqual(window?.job_id, asked);
  await assertNoViolations(owner);
});

Deno.test("a request for a disabled service, or for one that is not there, is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await owner`select uptuple.disable_service('inventory')`;

  await assert.rejects(owner`select uptuple.check_now('inventory')`, {
    code: "UT002",
    message: "the service 'inventory' is disabled",
    hint: "select uptuple.enable_service(...) first.",
  });
  await assert.rejects(owner`select uptuple.check_now('nobody')`, {
    code: "UT001",
    message: "there is no service named 'nobody'",
  });
});
