import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addHeartbeat, beat, beatOf, checkHeartbeats, noticesOf, verdictsOf } from "../../support/heartbeats.ts";

/** The moment at which a heartbeat is expected next, after it has reported. */
async function nextBeat(sql: TestSql, cron: string, zone: string, after: string): Promise<string> {
  const [row] = await sql<[{ next: Date }]>`
    select uptuple.next_beat(${sql.json({ cron, zone, grace_seconds: 60 })}, 30, ${after}::timestamptz) as next`;
  return row.next.toISOString();
}

/** Until when a fire is unsure, or null. */
async function unsureUntil(sql: TestSql, cron: string, zone: string, fire: string): Promise<string | null> {
  const [row] = await sql<[{ until: Date | null }]>`
    select uptuple.unsure_until(${cron}, ${zone}, ${fire}::timestamptz) as until`;
  return row.until?.toISOString() ?? null;
}

/** Makes a heartbeat as if it had been expected at that moment, with 5 minutes of grace, and looks for what is overdue. */
async function missed(sql: TestSql, cron: string, zone: string, expectedAt: string) {
  await addHeartbeat(sql, "nightly", { options: { cron, zone } });
  await sql`
    update uptuple.heartbeat
    set expected_at = ${expectedAt}::timestamptz, due_at = ${expectedAt}::timestamptz + interval '5 minutes'`;
  assert.equal(await checkHeartbeats(sql), 1);
  const [verdict] = await verdictsOf(sql, "nightly");
  assert.ok(verdict);
  return verdict;
}

Deno.test("by cron a report is expected at the next fire in the zone", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const next = (cron: string, zone: string, after: string) => nextBeat(owner, cron, zone, after);
  assert.equal(await next("0 3 * * *", "Europe/Berlin", "2026-11-30T02:00:05Z"), "2026-12-01T02:00:00.000Z");
  assert.equal(await next("0 9 * * MON", "America/New_York", "2026-11-30T15:00:00Z"), "2026-12-07T14:00:00.000Z");
  assert.equal(await next("*/5 * * * *", "UTC", "2026-11-30T10:02:00Z"), "2026-11-30T10:05:00.000Z");
});

Deno.test("by cron the interval of the service is the longest time between its fires", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "report", { options: { cron: "0 9 * * MON-FRI" } });
  const every = async () => {
    const [row] = await owner`select extract(epoch from every)::integer as every from uptuple.status`;
    return row.every;
  };
  assert.equal(await every(), 3 * 86400);
  const before = await beatOf(owner, "report");
  await owner`select uptuple.update_service('report', tags => '{office}')`;
  assert.deepEqual(await beatOf(owner, "report"), before);
  await owner`select uptuple.update_service('report', options => '{"cron": "*/5 * * * *"}')`;
  assert.equal(await every(), 300);
});

Deno.test("a report by a clock that is a little ahead is that of the fire it comes before", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const next = (cron: string, after: string) => nextBeat(owner, cron, "UTC", after);
  assert.equal(await next("0 3 * * *", "2026-11-30T02:59:40Z"), "2026-12-01T03:00:00.000Z");
  assert.equal(await next("0 3 * * *", "2026-11-30T02:59:20Z"), "2026-11-30T03:00:00.000Z");
  assert.equal(await next("* * * * *", "2026-11-30T02:59:55Z"), "2026-11-30T03:01:00.000Z");
  assert.equal(await next("* * * * *", "2026-11-30T02:59:50Z"), "2026-11-30T03:00:00.000Z");
});

Deno.test("fires at hours that come twice are unsure until both are over, and no others of that day", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const unsure = (cron: string, zone: string, fire: string) => unsureUntil(owner, cron, zone, fire);
  const over = "2026-10-25T02:00:00.000Z";
  assert.equal(await unsure("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z"), over);
  assert.equal(await unsure("0 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z"), over);
  assert.equal(await unsure("*/30 * * * *", "Europe/Berlin", "2026-10-25T01:30:00Z"), over);
  assert.equal(await unsure("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z"), null);
  assert.equal(await unsure("0 3 * * *", "Europe/Berlin", over), null);
  assert.equal(await unsure("30 2 * * *", "UTC", "2026-10-25T00:30:00Z"), null);
  // Half an hour, in the southern autumn.
  assert.equal(
    await unsure("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00Z"),
    "2026-04-04T15:30:00.000Z",
  );
});

Deno.test("a fire at a time that does not come is unsure, and one at the end of the gap is like any other", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const unsure = (cron: string, fire: string) => unsureUntil(owner, cron, "Europe/Berlin", fire);
  assert.equal(await unsure("30 2 * * *", "2026-03-29T01:00:00Z"), "2026-03-29T02:00:00.000Z");
  assert.equal(await unsure("0 3 * * *", "2026-03-29T01:00:00Z"), null);
  assert.equal(await unsure("30 3 * * *", "2026-03-29T01:30:00Z"), null);
  assert.equal(await unsure("30 1 * * *", "2026-03-29T00:30:00Z"), null);
});

Deno.test("a run that was missed where the clocks were changed is a gap and no failure", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const verdict = await missed(owner, "30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z");
  assert.equal(verdict.status, "INCONCLUSIVE");
  assert.equal(verdict.code, "heartbeat.clock_change");
  assert.match(verdict.reason, /2026-10-25T00:30:00\.000Z falls into a change of the clocks in Europe\/Berlin/);
  assert.deepEqual(await noticesOf(owner, "nightly"), []);
  assert.equal((await beatOf(owner, "nightly")).status, "UNKNOWN");
});

Deno.test("a run that was missed on any other day is a failure, and the next is a fire whose grace is not over", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const verdict = await missed(owner, "30 2 * * *", "Europe/Berlin", "2026-10-26T01:30:00Z");
  assert.equal(verdict.code, "heartbeat.overdue");
  const { expected_at, due_at } = await beatOf(owner, "nightly");
  assert.ok((due_at?.getTime() ?? 0) > Date.now());
  assert.ok((expected_at?.getTime() ?? Infinity) < Date.now() + 24 * 3_600_000);
  const [local] = await owner`
    select to_char(expected_at at time zone 'Europe/Berlin', 'HH24:MI') as time from uptuple.heartbeats`;
  assert.equal(local.time, "02:30");
});

Deno.test("a report before the fire does not stand for it, and one after it does", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "nightly", { options: { cron: "0 3 1 1 *" } });
  const before = await beatOf(owner, "nightly");
  assert.equal(await beat(owner, "nightly"), "UP");
  assert.deepEqual((await beatOf(owner, "nightly")).expected_at, before.expected_at);
  // The fire was ten minutes ago.
  await owner`
    update uptuple.heartbeat
    set expected_at = clock_timestamp() - interval '2 minutes', due_at = clock_timestamp() + interval '3 minutes'`;
  await beat(owner, "nightly");
  assert.deepEqual((await beatOf(owner, "nightly")).expected_at, before.expected_at);
  assert.equal((await verdictsOf(owner, "nightly")).length, 2);
});

Deno.test("while nobody looked, a report may have been lost: that is a gap, and the next window is one to come", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "nightly");
  await beat(owner, "nightly");
  await owner`
    update uptuple.heartbeat
    set expected_at = expected_at - interval '5 hours', due_at = due_at - interval '5 hours'`;
  await owner`update uptuple.heartbeat_cursor set checked_at = clock_timestamp() - interval '5 hours'`;

  assert.equal(await checkHeartbeats(owner), 1);
  const [, verdict] = await verdictsOf(owner, "nightly");
  assert.equal(verdict?.status, "INCONCLUSIVE");
  assert.equal(verdict?.code, "heartbeat.not_heard");
  assert.match(verdict?.reason ?? "", /not at work from 20.*Z to 20.*Z/);
  const { expected_at, due_at, status } = await beatOf(owner, "nightly");
  assert.equal(status, "UP");
  assert.ok((due_at?.getTime() ?? 0) > Date.now() && (expected_at?.getTime() ?? Infinity) < Date.now() + 3_600_000);
});

Deno.test("a time in which nobody looked long before a report was due excuses nothing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "nightly");
  await owner`update uptuple.heartbeat set expected_at = now() - interval '10 minutes', due_at = now() - interval '1 second'`;
  await owner`
    update uptuple.heartbeat_cursor
    set checked_at = clock_timestamp(), deaf = tstzrange(now() - interval '3 hours', now() - interval '2 hours')`;
  assert.equal(await checkHeartbeats(owner), 1);
  assert.equal((await verdictsOf(owner, "nightly"))[0]?.code, "heartbeat.overdue");
});
