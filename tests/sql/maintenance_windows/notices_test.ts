import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  answerAll,
  claim,
  claimOne,
  deliveries,
  dueIn,
  events,
  fail,
  record,
  recover,
  violations,
} from "../../support/alerts.ts";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { nowSecond } from "../../support/history.ts";
import { cancel, end, passTime, plan } from "../../support/maintenance.ts";
import { addService, ANSWERED, complete, REFUSED, startJob, stateOf } from "../../support/services.ts";

const MINUTE = 60;
const HOUR = 3600;

/** A service `shop` with one channel, `ops`. */
async function shop(owner: TestSql): Promise<string> {
  const id = await addService(owner, "shop");
  await addChannel(owner, "ops");
  return id;
}

/** Completes a window of a service that starts at a second. */
async function check(owner: TestSql, serviceId: string, slot: number, status: "UP" | "DOWN"): Promise<void> {
  await owner`select uptuple.ensure_partitions(${slot}, ${slot})`;
  const job = await startJob(owner, serviceId, slot);
  assert.equal(await complete(owner, job, status === "UP" ? ANSWERED : REFUSED), true);
}

/** Whether a time in seconds is what was expected, but for the time that the test itself has taken. */
function assertAbout(seconds: number, expected: number): void {
  assert.ok(Math.abs(seconds - expected) < 30, `${seconds} s, and about ${expected} s were expected`);
}

Deno.test("checks go on and are stored, and what is down only in maintenance is not told", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await plan(owner, { services: ["shop"] });

  await record(owner, "shop", "UP", "DOWN", "DOWN", "DOWN", "DOWN", "DOWN");
  const during = await stateOf(owner, "shop");
  await passTime(owner, HOUR);
  await record(owner, "shop", "UP");

  assert.deepEqual([during["status"], during["failure_streak"], during["applied_count"]], ["UP", 0, "6"]);
  const [stored] = await owner`select count(*)::integer as count from uptuple.result where status = 'DOWN'`;
  assert.equal(stored.count, 5);
  assert.deepEqual(await events(owner), []);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("DOWN before and UP during gives exactly one RECOVERED, at the end", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await plan(owner, { services: ["shop"] });

  await record(owner, "shop", "UP", "UP", "DOWN", "UP");
  assert.deepEqual(await claim(owner), []);
  assertAbout(await dueIn(owner, "2"), HOUR);
  await passTime(owner, HOUR);

  assert.deepEqual((await answerAll(owner, { status: 200 })).map(({ kind }) => kind), ["service.recovered"]);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop RECOVERED DELIVERED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("what was announced before and is still down at the end gives nothing new", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await plan(owner, { services: ["shop"] });

  await record(owner, "shop", "DOWN", "DOWN");
  await passTime(owner, HOUR);
  await record(owner, "shop", "DOWN", "DOWN", "DOWN");

  assert.deepEqual(await claim(owner), []);
  assert.deepEqual(await events(owner), ["shop FAILED 1"]);
});

Deno.test("what is down in maintenance and after it gives one FAILED, once windows that start after the end meet the threshold", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await shop(owner);
  const start = Math.floor(await nowSecond(owner)) - 20 * MINUTE;
  const ends = start + 10 * MINUTE;
  await owner`
    select uptuple.plan_maintenance(services => '{shop}', starts_at => to_timestamp(${start}), ends_at => to_timestamp(${ends}))`;

  // Two failures before, and those within, whose answers come after the end, count for nothing.
  for (const slot of [start - 60, start - 30, start, ends - 60, ends - 30]) await check(owner, id, slot, "DOWN");
  for (const slot of [ends, ends + 30]) await check(owner, id, slot, "DOWN");
  assert.deepEqual(await events(owner), []);
  await check(owner, id, ends + 60, "DOWN");
  await check(owner, id, ends + 90, "DOWN");

  assert.deepEqual(await events(owner), ["shop FAILED 1"]);
  const [incident] = await owner`select extract(epoch from started_at)::integer as since from uptuple.incident`;
  assert.equal(incident.since, ends);
  assert.equal((await claim(owner)).length, 1);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a window that starts before the maintenance counts, and its FAILED waits for the end when it comes within", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await shop(owner);
  const start = Math.floor(await nowSecond(owner)) - 5 * MINUTE;
  await owner`
    select uptuple.plan_maintenance(services => '{shop}', starts_at => to_timestamp(${start}), duration => '1 hour')`;

  for (const slot of [start - 90, start - 60, start - 30]) await check(owner, id, slot, "DOWN");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
  assert.deepEqual(await claim(owner), []);
  assertAbout(await dueIn(owner), 55 * MINUTE);
});

Deno.test("a FAILED that was written just before the start and is unsent goes", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await plan(owner, { services: ["shop"] });

  const failed = await claimOne(owner);

  assert.equal(failed.kind, "service.failed");
  assert.equal(await answer(owner, failed, { status: 500 }), "RETRY");
  assertAbout(await dueIn(owner), 5);
});

Deno.test("several notices of one service go in their order after the end", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await shop(owner);
  const start = Math.floor(await nowSecond(owner)) - 5 * MINUTE;
  await owner`
    select uptuple.plan_maintenance(services => '{shop}', starts_at => to_timestamp(${start}), duration => '1 hour')`;
  for (const slot of [start - 90, start - 60, start - 30]) await check(owner, id, slot, "DOWN");
  await check(owner, id, start, "UP");
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);

  await passTime(owner, HOUR);

  const sent = await answerAll(owner, { status: 200 });
  assert.deepEqual(sent.map(({ kind }) => kind), ["service.failed", "service.recovered"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("windows that overlap or meet are one: notices wait for the end of the last", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  const now = await nowSecond(owner);
  const first = await plan(owner, { services: ["shop"], startsIn: -10, duration: "30 minutes" });
  const [window] = await owner`select extract(epoch from ends_at)::float8 as ends from uptuple.maintenance_window`;
  await plan(owner, { everything: true, startsIn: 20 * MINUTE, duration: "20 minutes" });
  await recover(owner, "shop");
  assertAbout(await dueIn(owner, "2"), 40 * MINUTE);

  const [overlapping] =
    await owner`select extract(epoch from max(ends_at))::float8 as ends from uptuple.maintenance_window`;
  await owner`
    select uptuple.plan_maintenance(services => '{shop}', starts_at => max(ends_at), duration => '10 minutes') from uptuple.maintenance_window`;
  assert.ok(overlapping.ends > window.ends && window.ends > now);
  assertAbout(await dueIn(owner, "2"), 50 * MINUTE);

  // With the first one gone there is a gap before the others, and nothing to wait for.
  assert.equal(await end(owner, first), 1);
  assert.equal((await claimOne(owner)).kind, "service.recovered");
});

Deno.test("ending one of two that are under way leaves the notices with the other", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  const longer = await plan(owner, { services: ["shop"], duration: "2 hours" });
  await plan(owner, { everything: true, duration: "1 hour" });
  await recover(owner, "shop");
  assertAbout(await dueIn(owner, "2"), 2 * HOUR);

  await end(owner, longer);

  assert.deepEqual(await claim(owner), []);
  assertAbout(await dueIn(owner, "2"), HOUR);
  assert.deepEqual(await violations(owner), []);
});

for (const [how, stop] of [["ended early", end], ["cancelled", cancel]] as const) {
  Deno.test(`maintenance that is ${how} lets its notices go at once, and no others twice`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    await shop(owner);
    await fail(owner, "shop");
    await answerAll(owner, { status: 200 });
    const maintenance = await plan(owner, { services: ["shop"] });
    await recover(owner, "shop");

    assert.equal(await stop(owner, maintenance), 1);

    assert.deepEqual((await answerAll(owner, { status: 200 })).map(({ kind }) => kind), ["service.recovered"]);
    await record(owner, "shop", "DOWN", "DOWN", "DOWN");
    assert.deepEqual(await events(owner), ["shop FAILED 1", "shop RECOVERED 1", "shop FAILED 2"]);
    assert.deepEqual(await violations(owner), []);
  });
}

Deno.test("notices wait for the new end when maintenance takes longer or less long", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  const maintenance = await plan(owner, { services: ["shop"] });
  await recover(owner, "shop");

  await owner`select uptuple.change_maintenance(${maintenance}, duration => '3 hours')`;
  assertAbout(await dueIn(owner, "2"), 3 * HOUR);
  await owner`select uptuple.change_maintenance(${maintenance}, ends_at => clock_timestamp() + interval '10 minutes')`;
  assertAbout(await dueIn(owner, "2"), 10 * MINUTE);
});

Deno.test("a notice that is tried again keeps its time when maintenance is changed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 500 });
  const maintenance = await plan(owner, { services: ["shop"] });

  assert.equal(await end(owner, maintenance), 0);

  assertAbout(await dueIn(owner), 5);
});

Deno.test("a service that is disabled in maintenance is told as withdrawn after the end", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await plan(owner, { services: ["shop"] });

  await owner`select uptuple.disable_service('shop')`;

  assert.deepEqual(await claim(owner), []);
  await passTime(owner, HOUR);
  assert.equal(JSON.parse((await claimOne(owner)).request.body).data.reason, "the service was disabled");
});

Deno.test("a channel that is added or enabled in maintenance gets the FAILED of open incidents after the end", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await owner`select uptuple.disable_channel('ops')`;
  await fail(owner, "shop");
  await plan(owner, { services: ["shop"] });

  await addChannel(owner, "late");
  await owner`select uptuple.enable_channel('ops')`;

  assert.deepEqual(await claim(owner), []);
  await passTime(owner, HOUR);
  assert.deepEqual((await claim(owner)).map(({ channel }) => channel), ["ops", "late"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice that a person requeues goes, maintenance or not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await plan(owner, { services: ["shop"] });
  await recover(owner, "shop");
  await owner`select uptuple.discard_alert(2, 'nobody needs it')`;

  await owner`select uptuple.requeue_alert(2)`;

  assert.equal((await claimOne(owner)).kind, "service.recovered");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("the backlog says that a notice waits for the end of maintenance", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await plan(owner, { services: ["shop"] });
  await recover(owner, "shop");

  const [held] = await owner`select waits_because from uptuple.deliveries_backlog`;

  assert.match(held.waits_because, /^its service is in maintenance until \d{4}-/);
});

Deno.test("other services and other channels are not held", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await addService(owner, "blog");
  await plan(owner, { services: ["shop"] });

  await fail(owner, "blog");

  assert.deepEqual((await claim(owner)).map(({ kind }) => kind), ["service.failed"]);
});

Deno.test("a failure in maintenance asks for no confirmation", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'shop', url => 'http://127.0.0.1:8081/', every => '1 hour')`;
  await plan(owner, { services: ["shop"] });

  await record(owner, "shop", "DOWN");
  const [within] = await owner`select count(*)::integer as count from uptuple.job where purpose = 'CONFIRM'`;
  await passTime(owner, HOUR);
  await record(owner, "shop", "DOWN");
  const [after] = await owner`select count(*)::integer as count from uptuple.job where purpose = 'CONFIRM'`;

  assert.deepEqual([within.count, after.count], [0, 1]);
});

Deno.test("whoever has the group or the tag at the time is covered, and whoever leaves is not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await plan(owner, { groups: ["web"], tags: ["beta"], startsIn: -60 });
  await owner`select uptuple.add_service(name => 'new', url => 'http://127.0.0.1:8081/', group_name => 'web')`;
  await owner`select uptuple.add_service(name => 'tagged', url => 'http://127.0.0.1:8081/', tags => '{eu,beta}')`;
  await owner`select uptuple.add_service(name => 'leaving', url => 'http://127.0.0.1:8081/', tags => '{beta}')`;
  await owner`select uptuple.add_service(name => 'joining', url => 'http://127.0.0.1:8081/', group_name => 'mail')`;

  await owner`select uptuple.update_service('leaving', tags => '{}')`;
  await owner`select uptuple.update_service('joining', group_name => 'web')`;
  for (const service of ["new", "tagged", "leaving", "joining"]) await record(owner, service, "DOWN", "DOWN", "DOWN");

  assert.deepEqual(await events(owner), ["leaving FAILED 1"]);
  assert.equal((await claimOne(owner)).kind, "service.failed");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service that leaves the group lets its held notices go, and the others wait on", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["leaving", "staying"]) {
    await owner`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:8081/', group_name => 'web')`;
  }
  await addChannel(owner, "ops");
  await fail(owner, "leaving");
  await fail(owner, "staying");
  await answerAll(owner, { status: 200 });
  await plan(owner, { groups: ["web"] });
  await recover(owner, "leaving");
  await recover(owner, "staying");

  await owner`select uptuple.update_service('leaving', group_name => '')`;

  assert.equal(JSON.parse((await claimOne(owner)).request.body).data.service, "leaving");
});

Deno.test("what maintenance covers can be changed while it is under way", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await shop(owner);
  await addService(owner, "blog");
  const maintenance = await plan(owner, { services: ["shop"] });

  await owner`select uptuple.change_maintenance(${maintenance}, services => '{blog}')`;
  await record(owner, "shop", "DOWN", "DOWN", "DOWN");
  await record(owner, "blog", "DOWN", "DOWN", "DOWN");

  assert.deepEqual(await events(owner), ["shop FAILED 1"]);
});
