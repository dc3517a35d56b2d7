import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addPastService,
  DAY,
  HOUR,
  nowSecond,
  type PastWindow,
  rollUp,
  unroll,
  writePast,
} from "../../support/history.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

Deno.test("the past of a service is told by stretches that end now, by the day and by the hour, and a day without data is missing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const today = now - now % DAY;
  const thisHour = now - now % HOUR;
  // Watched for 40 days, but not from the fifth to the third day ago.
  const id = await addPastService(owner, "inventory", HOUR, today - 40 * DAY);
  await owner`
    update uptuple.service_active set during = tstzrange(to_timestamp(${today - 40 * DAY}), to_timestamp(${
    today - 5 * DAY
  }))`;
  await owner`
    insert into uptuple.service_active
    values (${id}, 'default', ${HOUR}, 0, tstzrange(to_timestamp(${today - 3 * DAY}), null))`;
  const windows: PastWindow[] = [];
  for (let slot = today - 40 * DAY; slot < now - 1; slot += HOUR) {
    const daysAgo = Math.floor((today - slot + DAY - 1) / DAY);
    if (daysAgo === 4 || daysAgo === 5) continue;
    // Twenty days ago it was down all day, and ten days ago nobody looked.
    if (daysAgo === 10) windows.push({ slot, job: "MISSED" });
    else windows.push({ slot, status: daysAgo === 20 ? "DOWN" : "UP", latency: slot >= thisHour - 2 * HOUR ? 50 : 10 });
  }
  await writePast(owner, id, windows);
  await unroll(owner, today - 40 * DAY);
  await rollUp(owner);

  const [past] = await owner`
    select *, to_jsonb(uptimes) as uptimes, to_jsonb(coverages) as coverages from uptuple.dashboard_history()`;
  const day = (ago: number) => {
    const index = past?.days_ago.indexOf(ago);
    return index === -1 ? null : [past?.day_expected[index], past?.day_up[index], past?.day_down[index]];
  };
  const [uptime] = await owner`select uptime::float8, coverage::float8 from uptuple.uptime('inventory', to_timestamp(${
    today - 89 * DAY
  }))`;

  assert.deepEqual(day(40), [24, 24, 0]);
  assert.deepEqual(day(20), [24, 0, 24]);
  assert.deepEqual(day(10), [24, 0, 0]);
  assert.equal(day(4), null);
  assert.equal(day(41), null);
  assert.deepEqual(past?.uptimes.slice(0, 2), [1, 1]);
  assert.deepEqual(past?.coverages.slice(0, 2), [1, 1]);
  assert.equal(past?.uptimes[3], uptime?.uptime);
  assert.equal(past?.coverages[3], uptime?.coverage);
  assert.ok(past?.uptimes[2] < 1 && past?.coverages[2] < 1);
  const hours = Object.fromEntries(past?.hours_ago.map((ago: number, index: number) => [ago, past?.hour_ms[index]]));
  assert.equal(hours[1], 50);
  assert.equal(hours[3], 10);
  assert.equal(hours[24], 10);
  assert.equal(Object.keys(hours).some((ago) => Number(ago) > 24), false);
});

Deno.test("a service without any past has neither days nor figures, and one that is not named is not read", async () => {
  await using database = await testDatabase();
  await addService(database.owner, "inventory");
  await addService(database.owner, "checkout");

  const rows = await database.owner`
    select service, to_jsonb(uptimes) as uptimes, days_ago, hours_ago from uptuple.dashboard_history('{checkout}')`;

  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { service: "checkout", uptimes: [null, null, null, null], days_ago: [], hours_ago: [] },
  ]);
});

Deno.test("the mark changes when a viewer should see something new, and not with each check", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const marks: string[] = [await markOf(owner)];
  const changes: [string, () => Promise<unknown>][] = [
    ["a service is added", () => addService(owner, "inventory")],
    ["its first verdict", () => record(owner, "UP")],
    ["a first failure", () => record(owner, "DOWN")],
    ["a second failure", () => record(owner, "DOWN")],
    ["it is down", () => record(owner, "DOWN")],
    ["it recovers", () => record(owner, "UP")],
    ["silence", () => owner`update uptuple.service_state set verdict_at = verdict_at - interval '1 hour'`],
    ["it is paused", () => owner`select uptuple.disable_service('inventory')`],
    ["it is removed", () => owner`select uptuple.remove_service('inventory')`],
  ];

  for (const [what, change] of changes) {
    await change();
    const mark = await markOf(owner);
    assert.notEqual(mark, marks.at(-1), what);
    marks.push(mark);
  }

  await addService(owner, "checkout");
  await owner`select uptuple.record_health('checkout', 'UP', 'HTTP 200', 5)`;
  const before = await markOf(owner);
  await owner`select uptuple.record_health('checkout', 'UP', 'HTTP 204', 7)`;
  assert.equal(await markOf(owner), before);
  const [dashboard] = await owner`select uptuple.dashboard() ->> 'mark' as mark`;
  assert.equal(dashboard?.mark, before);
});

Deno.test("the points of a chart are percentiles of the checks that were up, with the failures beside them", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const today = now - now % DAY;
  const id = await addPastService(owner, "inventory", 60, today - 2 * DAY);
  const windows: PastWindow[] = [];
  for (let slot = today - 2 * DAY; slot < now - 1; slot += 60) {
    const minute = slot % HOUR / 60;
    windows.push(
      minute === 0
        ? { slot, status: "DOWN", latency: 9000 }
        : { slot, status: "UP", latency: minute === 59 ? 1000 : 10 },
    );
  }
  await writePast(owner, id, windows);
  await unroll(owner, today - 2 * DAY);
  await rollUp(owner);

  const points = async (stretch: string) =>
    await owner`
      select extract(epoch from at)::float8 as at, checks::integer, down::integer, p50, p95, p99
      from uptuple.latency_series('inventory', ${stretch})`;
  const hourly = await points("7d");
  const yesterday = (await points("90d")).find(({ at }) => at === today - DAY);
  const quarters = await points("24h");
  const minutes = await points("1h");

  const whole = hourly.find(({ at }) => at === today - DAY);
  assert.deepEqual([whole?.checks, whole?.down], [60, 1]);
  assert.ok(Math.abs(whole?.p50 - 10) < 0.5 && Math.abs(whole?.p99 - 1000) < 50, JSON.stringify(whole));
  assert.deepEqual([yesterday?.checks, yesterday?.down], [1440, 24]);
  assert.ok(Math.abs(yesterday?.p95 - 10) < 0.5);
  // These are exact.
  const last = quarters.find(({ at }) => at % HOUR === 2700 && at + 900 < now);
  assert.deepEqual({ ...last, at: 0 }, { at: 0, checks: 15, down: 0, p50: 10, p95: 1000, p99: 1000 });
  const failed = minutes.find(({ at }) => at % HOUR === 0);
  assert.deepEqual([failed?.checks, failed?.down, failed?.p50], [1, 1, null]);
  await assert.rejects(points("2d"), /stretch is '2d', and must be 1h, 6h, 24h, 7d, 30d or 90d/);
});

Deno.test("a chart takes what is not rolled up yet from the checks themselves", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const now = await nowSecond(owner);
  const start = now - now % DAY - 3 * DAY;
  const id = await addPastService(owner, "inventory", 600, start);
  const windows: PastWindow[] = [];
  for (let slot = start; slot < now - 1; slot += 600) windows.push({ slot, status: "UP", latency: 10 });
  await writePast(owner, id, windows);
  await unroll(owner, start);
  const [before] = await owner`select sum(checks)::integer as checks from uptuple.latency_series('inventory', '90d')`;
  await rollUp(owner);
  const [after] = await owner`select sum(checks)::integer as checks from uptuple.latency_series('inventory', '90d')`;

  assert.equal(before?.checks, windows.length);
  assert.equal(after?.checks, windows.length);
});

Deno.test("the page of a service has its checks with medians, its incidents with every attempt, and what is next", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await owner`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:1/')`;
  await record(owner, "UP", "DOWN", "DOWN", "DOWN");
  await owner`
    insert into uptuple.delivery_attempt (delivery_id, attempt, worker, outcome, status, latency_ms, answer)
    select id, n, 'host-1', case when n = 2 then 'DELIVERED' else 'RETRY' end, case when n = 2 then 204 else 503 end, 12, 'busy'
    from uptuple.delivery cross join generate_series(1, 2) n`;

  const page = await pageOf(owner, "inventory");

  assert.deepEqual(page.checks.map((check: { status: string }) => check.status), ["DOWN", "DOWN", "DOWN", "UP"]);
  assert.deepEqual([page.medians.checks, page.medians.latency_ms], [1, 5]);
  assert.equal(page.states[0].status, "DOWN");
  const [incident] = page.incidents;
  assert.equal(incident.closed_at, null);
  assert.deepEqual(incident.notices.map((notice: { kind: string }) => notice.kind), ["service.failed"]);
  assert.deepEqual(
    incident.notices[0].deliveries[0].attempts.map((
      attempt: Record<string, unknown>,
    ) => [attempt.outcome, attempt.status, attempt.answer]),
    [["RETRY", 503, "busy"], ["DELIVERED", 204, "busy"]],
  );
  const next = (Date.parse(page.next_check_at) - Date.parse(page.now)) / 1000;
  assert.ok(next <= 30, `${next} s`);
  assert.equal(await pageOf(owner, "nothing"), null);

  await owner`select uptuple.disable_service('inventory')`;
  assert.equal((await pageOf(owner, "inventory")).next_check_at, null);
});

Deno.test("revisions are told apart without showing what may be secret", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(name => 'inventory', url => 'https://user:hunter2@example.com/', headers => '{"X-Key": "topsecret"}')`;
  await owner`
    select uptuple.update_service(name => 'inventory', url => 'https://user:hunter3@example.com/', headers => '{"X-Key": "topsecret2"}',
      method => 'HEAD')`;

  const page = await pageOf(owner, "inventory");
  const [after, before] = page.revisions;

  assert.doesNotMatch(JSON.stringify(page), /hunter|topsecret/);
  assert.deepEqual([after.revision, before.revision], [2, 1]);
  assert.equal(after.target, before.target);
  assert.notEqual(after.target_digest, before.target_digest);
  assert.notEqual(after.digests.headers, before.digests.headers);
  assert.equal(after.digests.expected_statuses, before.digests.expected_statuses);
  assert.deepEqual([before.settings.method, after.settings.method], ["GET", "HEAD"]);
});

async function markOf(sql: TestSql): Promise<string> {
  const [row] = await sql<[{ mark: string }]>`select uptuple.dashboard_mark() as mark`;
  return row.mark;
}

// deno-lint-ignore no-explicit-any -- the shape of the page is the matter of the tests that read it
async function pageOf(sql: TestSql, service: string): Promise<any> {
  const [row] = await sql`select uptuple.service_page(${service}) as page`;
  return row?.page;
}

async function record(sql: TestSql, ...verdicts: ("UP" | "DOWN")[]): Promise<void> {
  for (const verdict of verdicts) {
    await sql`select uptuple.record_health('inventory', ${verdict}, ${
      verdict === "DOWN" ? "no answer" : "HTTP 200"
    }, 5)`;
  }
}
