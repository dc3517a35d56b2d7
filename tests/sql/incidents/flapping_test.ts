import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, record, tellDue, violations } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService, letTimePass, stateOf } from "../../support/services.ts";

/** A service that is damped as people's are, told to the channel `ops`. */
async function addDamped(owner: TestSql, failureThreshold = 3): Promise<void> {
  await addService(owner, "shop", { every: "1 hour", failureThreshold, damping: true });
  await addChannel(owner, "ops");
}

async function repeat(owner: TestSql, times: number, ...statuses: string[]): Promise<void> {
  for (let each = 0; each < times; each++) await record(owner, "shop", ...statuses);
}

/** Kinds of what was told, without channel, service and state. */
async function kinds(owner: TestSql): Promise<string[]> {
  return (await deliveries(owner)).map((line) => line.split(" ")[2] ?? "");
}

Deno.test("down, up and down again gives three alerts in order, also with damping", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner);

  await record(owner, "shop", "DOWN", "DOWN", "DOWN", "UP", "DOWN", "DOWN", "DOWN");

  assert.deepEqual(await kinds(owner), ["FAILED", "RECOVERED", "FAILED"]);
});

Deno.test("the seventh flip within half an hour is told as flapping, and from then on nothing is", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner, 1);

  await repeat(owner, 3, "DOWN", "UP");
  assert.deepEqual(await kinds(owner), ["FAILED", "RECOVERED", "FAILED", "RECOVERED", "FAILED", "RECOVERED"]);
  await repeat(owner, 4, "DOWN", "UP");

  assert.deepEqual((await kinds(owner)).slice(6), ["FLAPPING"]);
  const [last] = (await answerAll(owner, { status: 200 })).slice(-1);
  const { data } = JSON.parse(last?.request.body ?? "{}");
  assert.deepEqual([data.service, data.severity, data.reason], [
    "shop",
    "critical",
    "it went up and down 7 times within 30 minutes",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("flips that are spread over more than half an hour are told each", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner, 1);
  for (let each = 0; each < 8; each++) {
    await record(owner, "shop", "DOWN", "UP");
    await letTimePass(owner, 600);
  }
  assert.equal((await kinds(owner)).filter((kind) => kind === "FAILED").length, 8);
});

Deno.test("a service that fails half of its checks, and never often enough in a row, is told as flapping once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner);

  await repeat(owner, 4, "DOWN", "DOWN", "UP");
  await record(owner, "shop", "DOWN");
  assert.deepEqual(await kinds(owner), []);
  await repeat(owner, 6, "DOWN", "UP", "DOWN");

  assert.deepEqual(await kinds(owner), ["FLAPPING"]);
  assert.equal((await stateOf(owner, "shop")).status, "UP");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a flapping service that has been up for ten checks and ten minutes is told as stable, and told of again", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner, 1);
  await repeat(owner, 4, "DOWN", "UP");
  await repeat(owner, 8, "UP");
  await letTimePass(owner, 601);
  assert.equal(await tellDue(owner), 0);
  await record(owner, "shop", "UP");
  await letTimePass(owner, 10);

  assert.deepEqual([await tellDue(owner), await tellDue(owner)], [1, 0]);
  await letTimePass(owner, 1800);
  await record(owner, "shop", "DOWN");
  assert.deepEqual((await kinds(owner)).slice(6), ["FLAPPING", "STABLE", "FAILED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a flapping service that stays down is told as stable, and then as failed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner, 1);
  await repeat(owner, 4, "DOWN", "UP");
  await repeat(owner, 10, "DOWN");
  assert.equal(await tellDue(owner), 0);
  await letTimePass(owner, 601);

  assert.equal(await tellDue(owner), 2);
  assert.deepEqual((await kinds(owner)).slice(6), ["FLAPPING", "STABLE", "FAILED"]);
  await record(owner, "shop", "UP");
  assert.deepEqual((await kinds(owner)).slice(9), ["RECOVERED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("stable goes where flapping went, whatever the routes are", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner, 1);
  await addChannel(owner, "boss");
  await owner`select uptuple.route('boss', kinds => '{service.flapping}')`;
  await repeat(owner, 4, "DOWN", "UP");
  await owner`select uptuple.unroute('boss'), uptuple.route('boss', tags => '{none}')`;
  await repeat(owner, 10, "UP");
  await letTimePass(owner, 601);
  await tellDue(owner);

  assert.deepEqual((await deliveries(owner)).slice(-4), [
    "ops shop FLAPPING WAITING",
    "boss shop FLAPPING READY",
    "ops shop STABLE WAITING",
    "boss shop STABLE WAITING",
  ]);
});

Deno.test("a flapping that could not be delivered holds back its stable and no other notice", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner, 1);
  await repeat(owner, 4, "DOWN", "UP");
  await owner`update uptuple.delivery set state = 'DELIVERED', finished_at = now() where event_number < 7`;
  await owner`select uptuple.advance_lanes('{1}')`;
  await answerAll(owner, { status: 422 });
  await repeat(owner, 10, "UP");
  await letTimePass(owner, 601);
  await tellDue(owner);
  await letTimePass(owner, 1800);
  await record(owner, "shop", "DEGRADED");

  assert.deepEqual((await deliveries(owner)).slice(6), [
    "ops shop FLAPPING DEAD",
    "ops shop STABLE HELD",
    "ops shop DEGRADED READY",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("damping can be switched off for a service; one that flaps is stable then, and told if it is down", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addDamped(owner, 1);
  await repeat(owner, 4, "DOWN", "UP");
  await record(owner, "shop", "DOWN");

  await operator`select uptuple.set_damping('shop', false)`;
  await tellDue(owner);
  await repeat(owner, 5, "UP", "DOWN");

  assert.deepEqual((await kinds(owner)).slice(6, 10), ["FLAPPING", "STABLE", "FAILED", "RECOVERED"]);
  assert.equal((await kinds(owner)).length, 19);
  await assert.rejects(async () => await operator`select uptuple.set_damping('shop', null)`, { code: "22023" });
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a flapping service that is disabled is told as stable with that reason", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addDamped(owner, 1);
  await repeat(owner, 4, "DOWN", "UP");
  await record(owner, "shop", "DOWN");

  await owner`select uptuple.disable_service('shop')`;

  assert.deepEqual((await kinds(owner)).slice(6), ["FLAPPING", "STABLE"]);
  const [stable] = (await answerAll(owner, { status: 200 })).slice(-1);
  assert.match(JSON.parse(stable?.request.body ?? "{}").data.reason, /disabled/);
  assert.deepEqual(await violations(owner), []);
});
