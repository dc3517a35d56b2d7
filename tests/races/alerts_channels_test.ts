import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  claim,
  claimOne,
  deliveries,
  fail,
  passTime,
  record,
  recover,
  violations,
} from "../support/alerts.ts";
import { backendOf, untilBlocked } from "../support/blocked.ts";
import { testDatabase } from "../support/database.ts";
import { addService } from "../support/services.ts";

Deno.test("an incident opens while a channel is being added: the channel is told once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await record(owner, "shop", "DOWN", "DOWN");
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);

  await operator`begin`;
  await addChannel(operator, "ops");
  const failing = record(prober, "shop", "DOWN");
  await untilBlocked(owner, proberBackend);
  await operator`commit`;
  await failing;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel is added while an incident opens: the channel is told once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await record(owner, "shop", "DOWN", "DOWN");
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();

  await prober`begin`;
  await record(prober, "shop", "DOWN");
  const adding = addChannel(operator, "ops");
  await untilBlocked(owner, operatorBackend);
  await prober`commit`;
  await adding;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("an incident closes while a channel is being added: the channel is told of both, in their order", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await fail(owner, "shop");
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);

  await operator`begin`;
  await addChannel(operator, "ops");
  const recovering = recover(prober, "shop");
  await untilBlocked(owner, proberBackend);
  await operator`commit`;
  await recovering;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel is added while an incident closes: it is told of neither, and both are listed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await fail(owner, "shop");
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();

  await prober`begin`;
  await recover(prober, "shop");
  const adding = addChannel(operator, "ops");
  await untilBlocked(owner, operatorBackend);
  await prober`commit`;
  await adding;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED SUPERSEDED", "ops shop RECOVERED SUPERSEDED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel is enabled while an incident opens: the channel is told once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await owner`select uptuple.disable_channel('ops')`;
  await record(owner, "shop", "DOWN", "DOWN");
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();

  await prober`begin`;
  await record(prober, "shop", "DOWN");
  const enabling = operator`select uptuple.enable_channel('ops')`.execute();
  await untilBlocked(owner, operatorBackend);
  await prober`commit`;
  await enabling;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel is enabled while an answer comes in for what was under way: the answer counts, the lane goes on", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const underWay = await claimOne(owner);
  await owner`select uptuple.disable_channel('ops')`;
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const courier = await database.connect();

  await courier`begin`;
  assert.equal(await answer(courier, underWay, { status: 503 }), "RETRY");
  const enabling = operator`select uptuple.enable_channel('ops') as done`.execute();
  await untilBlocked(owner, operatorBackend);
  await courier`commit`;
  await enabling;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("an answer comes in while its channel is being enabled: it counts, the lane goes on", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const underWay = await claimOne(owner);
  await recover(owner, "shop");
  await owner`select uptuple.disable_channel('ops')`;
  const operator = await database.connect();
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);

  await operator`begin`;
  await operator`select uptuple.enable_channel('ops')`;
  const answering = answer(courier, underWay, { status: 200 });
  await untilBlocked(owner, courierBackend);
  await operator`commit`;
  assert.equal(await answering, "DELIVERED");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop RECOVERED SUPERSEDED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a claim buries a notice while a channel is being added: no deadlock", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "cart");
  await addChannel(owner, "ops", { maxAttempts: 1 });
  await fail(owner, "shop");
  await claimOne(owner);
  await fail(owner, "cart");
  await passTime(owner, "30 seconds");
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);

  // The gate stops the claim when it has buried the dead notice and still holds its lane.
  const gate = await database.connect();
  await gate`begin`;
  await gate`lock table uptuple.delivery_attempt in share mode`;
  const claiming = claim(courier);
  await untilBlocked(owner, courierBackend);
  const adding = addChannel(operator, "boss");
  await untilBlocked(owner, operatorBackend);
  await gate`commit`;

  assert.equal((await claiming).length, 1);
  await adding;
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DEAD",
    "boss shop FAILED READY",
    "ops cart FAILED SENDING",
    "boss cart FAILED READY",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice is claimed while its channel is being removed: nothing is sent", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const operator = await database.connect();
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);

  await operator`begin`;
  await operator`select uptuple.remove_channel('ops')`;
  const claiming = claim(courier);
  await untilBlocked(owner, courierBackend);
  await operator`commit`;

  assert.deepEqual(await claiming, []);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DISCARDED"]);
});

Deno.test("two sweeps find dead notices at once: the other channel is told once, and nobody waits", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await owner`select uptuple.test_channel('ops')`;
  await answer(owner, (await claim(owner))[0]!, { status: 422 });
  const first = await database.connect();
  const second = await database.connect();

  await first`begin`;
  await first`select * from uptuple.sweep()`;
  await second`select * from uptuple.sweep()`;
  await first`commit`;
  await second`select * from uptuple.sweep()`;

  const told = await owner`select kind, severity from uptuple.event where kind = 'deliveries.dead'`;
  assert.deepEqual([...told], [{ kind: "deliveries.dead", severity: "warning" }]);
});
