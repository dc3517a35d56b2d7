import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  answerAll,
  claim,
  claimOne,
  deliveries,
  fail,
  passTime,
  recover,
  tellDue,
  violations,
} from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** Services `s1`, `s2`, ... and a channel `ops` that groups what fails within five seconds. */
async function addGrouped(owner: TestSql, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, each) => `s${each + 1}`);
  for (const name of names) await addService(owner, name);
  await addChannel(owner, "ops");
  await owner`select uptuple.set_grouping('ops', '5 seconds')`;
  return names;
}

/** All of them fail; the first two are sent, and the others are grouped. Returns the digest, claimed. */
async function failTogether(owner: TestSql, names: string[]) {
  for (const name of names) await fail(owner, name);
  await answerAll(owner, { status: 200 });
  await passTime(owner, "5 seconds");
  assert.equal(await tellDue(owner), 1);
  return await claimOne(owner);
}

Deno.test("the first two failures of a moment go at once, and all others of the next seconds in one digest", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addGrouped(owner, 6);
  for (const name of names) await fail(owner, name);

  assert.deepEqual((await claim(owner)).map((notice) => JSON.parse(notice.request.body).data.service), ["s1", "s2"]);
  assert.equal(await tellDue(owner), 0);
  await passTime(owner, "5 seconds");
  assert.deepEqual([await tellDue(owner), await tellDue(owner)], [1, 0]);
  const digest = await claimOne(owner);
  const { data } = JSON.parse(digest.request.body);
  assert.deepEqual(
    [digest.kind, data.severity, data.count, data.services.map((each: { service: string }) => each.service)],
    ["digest", "critical", 4, ["s3", "s4", "s5", "s6"]],
  );
  assert.deepEqual(Object.keys(data.services[0]).sort(), ["code", "failing_since", "incident_id", "reason", "service"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("what a digest told is delivered with it, and recoveries come after it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const digest = await failTogether(owner, await addGrouped(owner, 4));
  await recover(owner, "s3");
  await recover(owner, "s1");
  assert.deepEqual((await claim(owner)).map((notice) => JSON.parse(notice.request.body).data.service), ["s1"]);
  assert.deepEqual(await deliveries(owner, "s3"), ["ops s3 FAILED WAITING", "ops s3 RECOVERED WAITING"]);
  assert.deepEqual(await violations(owner), []);

  await answer(owner, digest, { status: 200 });

  assert.deepEqual(await deliveries(owner, "s3"), ["ops s3 FAILED DELIVERED", "ops s3 RECOVERED READY"]);
  assert.deepEqual(await deliveries(owner, "s4"), ["ops s4 FAILED DELIVERED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a digest that dies holds back the recoveries of what it told until it is sent again, and no later incident", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const digest = await failTogether(owner, await addGrouped(owner, 4));
  await recover(owner, "s3");
  assert.equal(await answer(owner, digest, { status: 422 }), "DEAD");
  assert.deepEqual(await deliveries(owner, "s3"), ["ops s3 FAILED HELD", "ops s3 RECOVERED HELD"]);
  assert.deepEqual((await owner`select kind from uptuple.dead_deliveries`).map((row) => row.kind), ["digest"]);
  await fail(owner, "s3");
  assert.deepEqual((await deliveries(owner, "s3"))[2], "ops s3 FAILED READY");
  assert.deepEqual(await violations(owner), []);

  await owner`select uptuple.requeue_alert(${digest.delivery_id})`;
  assert.deepEqual(await deliveries(owner, "s3"), [
    "ops s3 FAILED WAITING",
    "ops s3 RECOVERED WAITING",
    "ops s3 FAILED WAITING",
  ]);
  await answerAll(owner, { status: 200 });
  assert.equal((await deliveries(owner)).filter((line) => !line.endsWith("DELIVERED")).length, 0);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a digest that is discarded takes with it what it told, and the recoveries go on", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const digest = await failTogether(owner, await addGrouped(owner, 4));
  await answer(owner, digest, { status: 422 });
  await recover(owner, "s3");
  await owner`select uptuple.discard_alert(${digest.delivery_id}, 'everybody knows')`;

  assert.deepEqual(await deliveries(owner, "s3"), ["ops s3 FAILED DISCARDED", "ops s3 RECOVERED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a digest whose last sender vanished is dead, and what it told with it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await failTogether(owner, await addGrouped(owner, 4));
  await owner`update uptuple.channel set max_attempts = 1`;
  await recover(owner, "s3");
  await passTime(owner, "1 minute");
  await owner`select * from uptuple.sweep()`;

  assert.deepEqual(await deliveries(owner, "s3"), ["ops s3 FAILED HELD", "ops s3 RECOVERED HELD"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a digest of a channel that was off meanwhile is not sent; what of it is still down is, one by one", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const digest = await failTogether(owner, await addGrouped(owner, 5));
  await answer(owner, digest, { status: 503 });
  await owner`select uptuple.disable_channel('ops')`;
  await recover(owner, "s3");
  await owner`select uptuple.enable_channel('ops')`;

  assert.deepEqual((await deliveries(owner)).slice(2), [
    "ops s3 FAILED SUPERSEDED",
    "ops s4 FAILED READY",
    "ops s5 FAILED READY",
    "ops DIGEST SUPERSEDED",
    "ops s3 RECOVERED SUPERSEDED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a third failure that stays alone goes by itself, and without anybody who groups they all do", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addGrouped(owner, 7);
  for (const name of names.slice(0, 3)) await fail(owner, name);
  await answerAll(owner, { status: 200 });
  await passTime(owner, "5 seconds");
  assert.equal(await tellDue(owner), 0);
  assert.equal(JSON.parse((await claimOne(owner)).request.body).data.service, "s3");

  for (const name of names.slice(3)) await fail(owner, name);
  await answerAll(owner, { status: 200 });
  await passTime(owner, "8 seconds");
  assert.deepEqual((await claim(owner)).map((notice) => JSON.parse(notice.request.body).data.service), ["s6", "s7"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("failures that come one after another are not grouped, and neither are those of a webhook unless it is asked for", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addGrouped(owner, 3);
  for (const name of names) {
    await fail(owner, name);
    await passTime(owner, "6 seconds");
  }
  assert.equal((await claim(owner)).length, 3);

  await owner`select uptuple.set_grouping('ops', null)`;
  for (const name of names) await recover(owner, name);
  await owner`update uptuple.delivery set state = 'DELIVERED', claim_token = null, finished_at = now() where state <> 'DELIVERED'`;
  for (const name of names) await fail(owner, name);
  assert.equal((await claim(owner)).length, 3);
  const defaults = await owner`
    select kinds.kind, uptuple.grouping_seconds(jsonb_populate_record(channel, jsonb_build_object('kind', kinds.kind, 'group_seconds', null))) as seconds
    from uptuple.channel, unnest('{slack,email,webhook,pagerduty,my_own}'::text[]) kinds (kind)`;
  assert.deepEqual(defaults.map((row) => row.seconds), [5, 5, 0, 0, 0]);
  await assert.rejects(async () => await owner`select uptuple.set_grouping('ops', '1 hour')`, { code: "22023" });
});

Deno.test("what recovers together is told in one digest as well, after the one that told its failures", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addGrouped(owner, 6);
  const digest = await failTogether(owner, names);
  for (const name of names) await recover(owner, name);
  assert.deepEqual((await claim(owner)).map((notice) => JSON.parse(notice.request.body).data.service), ["s1", "s2"]);
  await answer(owner, digest, { status: 200 });
  assert.deepEqual(await claim(owner), []);

  await passTime(owner, "5 seconds");
  assert.deepEqual([await tellDue(owner), await tellDue(owner)], [1, 0]);
  const recoveries = await claimOne(owner);
  const { data } = JSON.parse(recoveries.request.body);
  assert.deepEqual(
    [recoveries.kind, data.severity, data.of, data.count, data.reason],
    ["digest", "info", "service.recovered", 4, "it is UP"],
  );
  assert.equal(typeof data.services[0].down_seconds, "number");
  await answer(owner, recoveries, { status: 200 });
  assert.deepEqual(await deliveries(owner, "s6"), ["ops s6 FAILED DELIVERED", "ops s6 RECOVERED DELIVERED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service that fails again while its recovery waits for a digest is told of after that", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addGrouped(owner, 4);
  const digest = await failTogether(owner, names);
  await answer(owner, digest, { status: 200 });
  for (const name of names) await recover(owner, name);
  await fail(owner, "s4");
  assert.deepEqual(await deliveries(owner, "s4"), [
    "ops s4 FAILED DELIVERED",
    "ops s4 RECOVERED READY",
    "ops s4 FAILED WAITING",
  ]);
  await passTime(owner, "5 seconds");
  await tellDue(owner);
  assert.deepEqual(await deliveries(owner, "s4"), [
    "ops s4 FAILED DELIVERED",
    "ops s4 RECOVERED WAITING",
    "ops s4 FAILED WAITING",
  ]);

  const told = await answerAll(owner, { status: 200 });
  assert.deepEqual(told.map((notice) => notice.kind), [
    "service.recovered",
    "service.recovered",
    "digest",
    "service.failed",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("receivers that keep count of incidents get no digests", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_channel('pager', kind => 'pagerduty', options => '{"routing_key": "\${UPTUPLE_SECRET_PAGERDUTY}"}')`;

  await assert.rejects(owner`select uptuple.set_grouping('pager', '5 seconds')`, {
    code: "UT002",
    message: "the channel 'pager' is of the kind pagerduty, which keeps count of incidents",
  });
  await owner`select uptuple.set_grouping('pager', '0')`;
});

Deno.test("a channel that is added or enabled while much is down is told in a digest too", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addGrouped(owner, 5);
  await owner`select uptuple.disable_channel('ops')`;
  for (const name of names) await fail(owner, name);
  await owner`select uptuple.enable_channel('ops')`;
  await owner`select uptuple.add_channel('team', 'http://127.0.0.1:9000/team', kind => 'slack')`;

  assert.equal((await answerAll(owner, { status: 200 })).length, 4);
  await passTime(owner, "5 seconds");
  assert.equal(await tellDue(owner), 2);
  const told = await answerAll(owner, { status: 200 });
  assert.deepEqual(told.map((notice) => [notice.channel, notice.kind]), [["ops", "digest"], ["team", "digest"]]);
  assert.deepEqual(await deliveries(owner, "s5"), ["ops s5 FAILED DELIVERED", "team s5 FAILED DELIVERED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("recoveries that waited for the end of maintenance are told in one digest after it, whenever it ends", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addGrouped(owner, 5);
  await answer(owner, await failTogether(owner, names), { status: 200 });
  const [{ number }] = await owner<[{ number: string }]>`
    select uptuple.plan_maintenance(services => ${names}, duration => '1 hour') as number`;
  for (const name of names) await recover(owner, name);
  await owner`select uptuple.change_maintenance(${number}, duration => '3 hours')`;
  assert.deepEqual(await claim(owner), []);
  assert.equal(await tellDue(owner), 0);
  for (const name of ["a", "b", "c"]) {
    await addService(owner, name);
    await fail(owner, name);
    await recover(owner, name);
  }
  assert.equal(
    (await answerAll(owner, { status: 200 })).length,
    4,
    "what is in no maintenance does not wait for its end",
  );
  await passTime(owner, "9 seconds");
  assert.equal((await answerAll(owner, { status: 200 })).length, 2);

  await owner`select uptuple.end_maintenance(${number})`;
  const first = await answerAll(owner, { status: 200 });
  assert.deepEqual(first.map((notice) => notice.kind), ["service.recovered", "service.recovered"]);
  await passTime(owner, "5 seconds");
  assert.equal(await tellDue(owner), 1);
  const digest = await claimOne(owner);
  const { data } = JSON.parse(digest.request.body);
  assert.deepEqual([digest.kind, data.of, data.count], ["digest", "service.recovered", 3]);
  assert.deepEqual(await violations(owner), []);
});
