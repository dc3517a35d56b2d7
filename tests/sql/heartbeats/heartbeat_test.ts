import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import {
  addHeartbeat,
  beat,
  beatOf,
  checkHeartbeats,
  letPass,
  noticesOf,
  verdictsOf,
} from "../../support/heartbeats.ts";
import { reportWorker } from "../../support/workers.ts";

const MINUTE = 60_000;

/** Asserts that a moment is so many minutes from now, give or take a few seconds. */
function assertInMinutes(moment: Date | null, minutes: number): void {
  const off = (moment?.getTime() ?? NaN) - Date.now() - minutes * MINUTE;
  assert.ok(Math.abs(off) < 20_000, `${moment?.toISOString()} is ${off} ms off`);
}

Deno.test("a new heartbeat is UNKNOWN, is expected an interval later, and gets no jobs", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");

  const { status, expected_at, due_at } = await beatOf(owner, "backup");
  assert.equal(status, "UNKNOWN");
  assertInMinutes(expected_at, 60);
  assertInMinutes(due_at, 65);
  await owner`select uptuple.enqueue_jobs()`;
  assert.deepEqual([...await owner<object[]>`select * from uptuple.job`], []);
  const [shown] = await owner`select status, failure_threshold from uptuple.status where service = 'backup'`;
  assert.deepEqual({ ...shown }, { status: "UNKNOWN", failure_threshold: 1 });
});

Deno.test("a report is UP and moves the next one an interval away", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "50 minutes");

  assert.equal(await beat(owner, "backup"), "UP");
  const { expected_at, called_with, calls } = await beatOf(owner, "backup");
  assertInMinutes(expected_at, 60);
  assert.deepEqual([called_with, calls], ["success", "1"]);
  assert.deepEqual(await verdictsOf(owner, "backup"), [{ status: "UP", code: null, reason: "it reported success" }]);
  const [shown] = await owner`select status, recent from uptuple.status where service = 'backup'`;
  assert.deepEqual({ ...shown }, { status: "UP", recent: true });
});

Deno.test("within its grace a heartbeat is not overdue, and after it it is DOWN at once, once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await beat(owner, "backup");
  await letPass(owner, "backup", "64 minutes");
  assert.equal(await checkHeartbeats(owner), 0);

  await letPass(owner, "backup", "2 minutes");
  assert.equal(await checkHeartbeats(owner), 1);
  assert.equal(await checkHeartbeats(owner), 0);
  const [, overdue] = await verdictsOf(owner, "backup");
  assert.equal(overdue?.status, "DOWN");
  assert.equal(overdue?.code, "heartbeat.overdue");
  assert.match(overdue?.reason ?? "", /^it was to report by 20.*Z, and 5 min of grace are over$/);
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed"]);
  assert.equal((await beatOf(owner, "backup")).status, "DOWN");
});

Deno.test("one that never reported at all is DOWN too", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "66 minutes");
  assert.equal(await checkHeartbeats(owner), 1);
  assert.equal((await beatOf(owner, "backup")).status, "DOWN");
});

Deno.test("each missed period is one DOWN, the notice is one, and a late report recovers", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await beat(owner, "backup");
  for (let period = 0; period < 3; period++) {
    await letPass(owner, "backup", "66 minutes");
    assert.equal(await checkHeartbeats(owner), 1, `period ${period}`);
  }
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed"]);

  await letPass(owner, "backup", "1 minute");
  assert.equal(await beat(owner, "backup"), "UP");
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed", "service.recovered"]);
  assert.deepEqual((await verdictsOf(owner, "backup")).map((row) => row.status), ["UP", "DOWN", "DOWN", "DOWN", "UP"]);
  assertInMinutes((await beatOf(owner, "backup")).expected_at, 60);
});

Deno.test("with a higher threshold as many periods have to be missed in a row, however long they are", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "report", { every: "7 days", failureThreshold: 2 });
  await beat(owner, "report");
  await letPass(owner, "report", "7 days 6 minutes");
  assert.equal(await checkHeartbeats(owner), 1);
  assert.deepEqual(await noticesOf(owner, "report"), []);
  assert.equal((await beatOf(owner, "report")).status, "UP");
  assert.deepEqual([...await owner<object[]>`select * from uptuple.job`], []);
  await letPass(owner, "report", "7 days");
  assert.equal(await checkHeartbeats(owner), 1);
  assert.deepEqual(await noticesOf(owner, "report"), ["service.failed"]);
});

Deno.test("a failure is DOWN at once with what was said, and the next report is expected an interval later", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  assert.equal(await beat(owner, "backup", "fail", { reason: "disk\u0007 full\n" }), "DOWN");
  assert.deepEqual(await verdictsOf(owner, "backup"), [
    { status: "DOWN", code: "heartbeat.failed", reason: "it reported a failure: disk\ufffd full" },
  ]);
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed"]);
  await letPass(owner, "backup", "30 minutes");
  assert.equal(await checkHeartbeats(owner), 0);
});

Deno.test("an exit code other than 0 is DOWN with the code, and 0 is UP", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  assert.equal(await beat(owner, "backup", "success", { exitCode: 3, reason: "no space" }), "DOWN");
  assert.equal(await beat(owner, "backup", "success", { exitCode: 0 }), "UP");
  assert.deepEqual((await verdictsOf(owner, "backup")).map(({ code, reason }) => [code, reason]), [
    ["heartbeat.exit_code", "it ended with exit code 3: no space"],
    [null, "it reported success"],
  ]);
});

Deno.test("a run that ends has a duration, which is the latency of its verdict", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  assert.equal(await beat(owner, "backup", "start"), "UNKNOWN");
  assert.equal((await beatOf(owner, "backup")).running, true);
  assert.deepEqual(await verdictsOf(owner, "backup"), []);
  await letPass(owner, "backup", "2 minutes");
  await beat(owner, "backup");

  const { running, run_ms } = await beatOf(owner, "backup");
  assert.equal(running, false);
  assert.ok(Math.abs((run_ms ?? 0) - 120_000) < 10_000, `${run_ms} ms`);
  const [result] = await owner`select latency_ms from uptuple.result`;
  assert.equal(result.latency_ms, run_ms);
});

Deno.test("a run that does not end within grace is DOWN", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await beat(owner, "backup", "start");
  assertInMinutes((await beatOf(owner, "backup")).due_at, 5);
  await letPass(owner, "backup", "6 minutes");
  assert.equal(await checkHeartbeats(owner), 1);
  const [verdict] = await verdictsOf(owner, "backup");
  assert.equal(verdict?.code, "heartbeat.not_ended");
  assert.match(verdict?.reason ?? "", /^the run that started at 20.*Z did not end within 5 min$/);
  assert.equal((await beatOf(owner, "backup")).running, false);
  assert.equal(await beat(owner, "backup"), "UP");
});

Deno.test("a start just before the grace is over gives the run its time", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await beat(owner, "backup");
  await letPass(owner, "backup", "64 minutes");
  await beat(owner, "backup", "start");
  await letPass(owner, "backup", "3 minutes");
  assert.equal(await checkHeartbeats(owner), 0);
  assert.equal(await beat(owner, "backup"), "UP");
});

Deno.test("a run that starts again and again without an end gets no more time", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await beat(owner, "backup", "start");
  for (let crash = 0; crash < 2; crash++) {
    await letPass(owner, "backup", "3 minutes");
    await beat(owner, "backup", "start");
  }
  assert.equal(await checkHeartbeats(owner), 1);
});

Deno.test("calls that change nothing are counted and stored once for half an interval", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "worker");
  for (let call = 0; call < 20; call++) await beat(owner, "worker");
  assert.equal((await verdictsOf(owner, "worker")).length, 1);
  await letPass(owner, "worker", "31 minutes");
  await beat(owner, "worker");
  assert.equal((await verdictsOf(owner, "worker")).length, 2);
  const { calls, expected_at } = await beatOf(owner, "worker");
  assert.equal(calls, "21");
  assertInMinutes(expected_at, 60);

  for (let call = 0; call < 3; call++) await beat(owner, "worker", "fail");
  assert.deepEqual((await verdictsOf(owner, "worker")).map((row) => row.status), ["UP", "UP", "DOWN"]);
});

Deno.test("who changes its mind all the time is asked to slow down, and what it said before stays", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "mad");
  await assert.rejects(async () => {
    for (let call = 0; call < 30; call++) await beat(owner, "mad", call % 2 === 0 ? "fail" : "success");
  }, { code: "UT003", message: /more often than once a second/ });
  const verdicts = await verdictsOf(owner, "mad");
  assert.ok(verdicts.length >= 6 && verdicts.length <= 12, `${verdicts.length}`);
  await letPass(owner, "mad", "30 seconds");
  await beat(owner, "mad", "fail");
});

Deno.test("a disabled heartbeat takes calls and means nothing by them, is not overdue, and is expected anew once it is enabled", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await beat(owner, "backup", "fail");
  await owner`select uptuple.disable_service('backup')`;
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed", "service.recovered"]);
  assert.equal(await beat(owner, "backup", "fail"), "PAUSED");
  await letPass(owner, "backup", "3 hours");
  assert.equal(await checkHeartbeats(owner), 0);

  await owner`select uptuple.enable_service('backup')`;
  const { status, expected_at } = await beatOf(owner, "backup");
  assert.equal(status, "UNKNOWN");
  assertInMinutes(expected_at, 60);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.invariant_violations`], []);
});

Deno.test("a change of other things changes no deadline, and a change of the interval counts from now", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "50 minutes");
  await owner`select uptuple.update_service('backup', tags => '{nightly}')`;
  assertInMinutes((await beatOf(owner, "backup")).expected_at, 10);
  await owner`select uptuple.update_service('backup', every => '2 days')`;
  assertInMinutes((await beatOf(owner, "backup")).expected_at, 2 * 1440);
  await owner`select uptuple.update_service('backup', options => '{"grace": "1 hour"}')`;
  assertInMinutes((await beatOf(owner, "backup")).due_at, 2 * 1440 + 60);
});

Deno.test("what is no event, exit code or heartbeat is refused with the cure", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await owner`select uptuple.add_service('site', 'http://127.0.0.1:9/')`;
  const refused = (call: Promise<unknown>, code: string, message: RegExp) => assert.rejects(call, { code, message });
  await refused(beat(owner, "backup", "stop" as "fail"), "22023", /event is 'stop'/);
  await refused(beat(owner, "backup", "success", { exitCode: 256 }), "22023", /exit_code is 256/);
  await refused(beat(owner, "nightly"), "UT001", /no service named 'nightly'/);
  await refused(beat(owner, "site"), "UT002", /'site' is probed/);
  await refused(owner`select uptuple.heartbeat_url('site')`, "UT001", /no heartbeat named 'site'/);
});

Deno.test("the URL holds a token that only operators see, and another one from when it is rotated", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  const operator = await database.connect("uptuple_operator");
  const worker = await database.connect("uptuple_worker");
  const [before] = await operator`select uptuple.heartbeat_url('backup', 'https://status.example.com/') as url`;
  assert.match(before.url, /^https:\/\/status\.example\.com\/heartbeat\/[0-9a-f-]{36}$/);
  const call = async (url: string) => {
    const [answer] = await worker`
      select uptuple.heartbeat_by_token(${url.slice(-36)}::uuid, 'success', null, null) as status`;
    return answer.status;
  };
  assert.equal(await call(before.url), "UP");

  const [after] = await operator`select uptuple.rotate_heartbeat_token('backup') as url`;
  assert.notEqual(after.url.slice(-36), before.url.slice(-36));
  assert.equal(await call(before.url), null);
  assert.equal(await call(after.url), "UP");
  await owner`select uptuple.remove_service('backup')`;
  assert.equal(await call(after.url), null);

  await assert.rejects(worker`select uptuple.heartbeat_url('backup')`, { code: "42501" });
  const [shown] = await owner<[{ columns: string }]>`
    select string_agg(column_name, ' ') as columns from information_schema.columns
    where table_schema = 'uptuple' and table_name in ('heartbeats', 'status')`;
  assert.doesNotMatch(shown.columns, /token/);
});

Deno.test("with several runtimes a heartbeat that fails waits for no second opinion: no runtime has looked", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await reportWorker(owner, "left");
  await reportWorker(owner, "right");
  await addHeartbeat(owner, "backup");

  await beat(owner, "backup", "fail");

  const [shown] =
    await owner`select status, incident_id is not null as told from uptuple.status where service = 'backup'`;
  assert.deepEqual({ ...shown }, { status: "DOWN", told: true });
  const [{ blamed }] = await owner<
    [{ blamed: number }]
  >`select count(*)::integer as blamed from uptuple.worker where quarantined_at is not null`;
  assert.equal(blamed, 0);
});
