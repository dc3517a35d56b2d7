import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, record, violations } from "../../support/alerts.ts";
import { testDatabase } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

Deno.test("as many DEGRADED in a row as the threshold are told once, and as many UP as theirs that it is restored", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { recoveryThreshold: 2 });
  await addChannel(owner, "ops");

  await record(owner, "shop", "UP", "DEGRADED", "DEGRADED", "UP", "DEGRADED", "DEGRADED");
  assert.deepEqual(await deliveries(owner), []);
  await record(owner, "shop", "DEGRADED", "DEGRADED", "DEGRADED", "DEGRADED", "UP", "DEGRADED", "UP");
  assert.deepEqual(await deliveries(owner), ["ops shop DEGRADED READY"]);
  await record(owner, "shop", "UP", "UP", "UP");

  const [degraded, restored] = await answerAll(owner, { status: 200 });
  const { data } = JSON.parse(degraded?.request.body ?? "{}");
  assert.deepEqual([data.severity, data.reason, data.incident_id], ["warning", "it is DEGRADED", undefined]);
  assert.deepEqual([restored?.kind, JSON.parse(restored?.request.body ?? "{}").data.severity], [
    "service.restored",
    "info",
  ]);
  assert.equal((await owner<object[]>`select * from uptuple.incidents`).length, 0);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service that fails while it is degraded is told as failed, recovered and at last as restored", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 2 });
  await addChannel(owner, "ops");
  await record(owner, "shop", "DEGRADED", "DEGRADED", "DOWN", "DOWN", "DEGRADED", "DEGRADED", "UP");

  assert.deepEqual((await deliveries(owner)).map((line) => line.split(" ")[2]), [
    "DEGRADED",
    "FAILED",
    "RECOVERED",
    "RESTORED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("restored goes where degraded went and nowhere else, also when it is degraded twice", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 1 });
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await owner`select uptuple.route('boss', min_severity => 'critical')`;
  await record(owner, "shop", "DEGRADED");
  await owner`select uptuple.unroute('boss')`;
  await record(owner, "shop", "UP", "DEGRADED", "UP");

  assert.deepEqual((await deliveries(owner)).map((line) => line.split(" ").slice(0, 3).join(" ")), [
    "ops shop DEGRADED",
    "ops shop RESTORED",
    "ops shop DEGRADED",
    "boss shop DEGRADED",
    "ops shop RESTORED",
    "boss shop RESTORED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service that was disabled while degraded begins anew", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 1 });
  await addChannel(owner, "ops");
  await record(owner, "shop", "DEGRADED");
  await owner`select uptuple.disable_service('shop'), uptuple.enable_service('shop')`;
  await record(owner, "shop", "UP", "DEGRADED");

  assert.deepEqual(await deliveries(owner), ["ops shop DEGRADED READY", "ops shop DEGRADED WAITING"]);
});

Deno.test("what is degraded only in its maintenance is not told, and what still is after it is", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const name of ["shop", "cart"]) await addService(owner, name);
  await addChannel(owner, "ops");
  const [{ number }] = await owner<[{ number: string }]>`
    select uptuple.plan_maintenance(services => '{shop,cart}', duration => '1 hour') as number`;
  for (const name of ["shop", "cart"]) await record(owner, name, "DEGRADED", "DEGRADED", "DEGRADED", "DEGRADED");
  await record(owner, "shop", "UP");
  await owner`select uptuple.end_maintenance(${number})`;
  assert.deepEqual(await deliveries(owner), []);

  await record(owner, "cart", "DEGRADED");
  assert.deepEqual(await deliveries(owner), ["ops cart DEGRADED READY"]);
});
