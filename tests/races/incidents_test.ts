import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, fail, record, recover, tellDue, violations } from "../support/alerts.ts";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { addService, letTimePass } from "../support/services.ts";

/** `shop` is down, and a reminder for `ops` is due. */
async function dueReminder({ owner }: TestDatabase): Promise<void> {
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await owner`select uptuple.set_reminders('ops', '10 minutes')`;
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await letTimePass(owner, 600);
}

Deno.test("somebody acknowledges while a reminder falls due: it is not written", async () => {
  await using database = await testDatabase();
  await dueReminder(database);
  const { owner } = database;
  const operator = await database.connect();
  const runtime = await database.connect();
  await neverWait(runtime);

  await operator`begin`;
  await operator`select uptuple.acknowledge('shop')`;
  assert.equal(await tellDue(runtime), 0);
  await operator`commit`;
  assert.equal(await tellDue(runtime), 0);

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop ACKNOWLEDGED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a reminder is written while somebody acknowledges: it comes first", async () => {
  await using database = await testDatabase();
  await dueReminder(database);
  const { owner } = database;
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const runtime = await database.connect();

  await runtime`begin`;
  assert.equal(await tellDue(runtime), 1);
  const acknowledging = operator`select uptuple.acknowledge('shop')`.execute();
  await untilBlocked(owner, operatorBackend);
  await runtime`commit`;
  await acknowledging;

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "ops shop REMINDER READY",
    "ops shop ACKNOWLEDGED WAITING",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("two runtimes tell what is due at once: one does, and neither waits", async () => {
  await using database = await testDatabase();
  await dueReminder(database);
  const { owner } = database;
  const one = await database.connect();
  const other = await database.connect();
  await neverWait(other);

  await one`begin`;
  assert.equal(await tellDue(one), 1);
  assert.equal(await tellDue(other), 0);
  await one`commit`;
  assert.equal(await tellDue(other), 0);

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop REMINDER READY"]);
});

Deno.test("a service recovers while a reminder falls due: the recovery is the last that is told", async () => {
  await using database = await testDatabase();
  await dueReminder(database);
  const { owner } = database;
  const prober = await database.connect();
  const runtime = await database.connect();

  await prober`begin`;
  await recover(prober, "shop");
  assert.equal(await tellDue(runtime), 0);
  await prober`commit`;
  assert.equal(await tellDue(runtime), 0);

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop RECOVERED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service fails while routes are being changed: it follows the new ones, wholly", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await owner`select uptuple.route('boss', tags => '{none}')`;
  await record(owner, "shop", "DOWN", "DOWN");
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);

  await operator`begin`;
  await operator`select uptuple.route('ops', tags => '{none}')`;
  await operator`select uptuple.route('boss', services => '{shop}')`;
  const failing = record(prober, "shop", "DOWN");
  await untilBlocked(owner, proberBackend);
  await operator`commit`;
  await failing;

  assert.deepEqual(await deliveries(owner), ["boss shop FAILED READY"]);
});

Deno.test("routes are changed while a service fails: it follows the old ones, and so does its recovery", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await owner`select uptuple.route('boss', tags => '{none}')`;
  await record(owner, "shop", "DOWN", "DOWN");
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();

  await prober`begin`;
  await record(prober, "shop", "DOWN");
  const changing = operator`select uptuple.route('ops', tags => '{none}'), uptuple.unroute('boss')`.execute();
  await untilBlocked(owner, operatorBackend);
  await prober`commit`;
  await changing;
  await recover(owner, "shop");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("two people close a circle of dependencies together: the second is refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "db");
  const one = await database.connect();
  const other = await database.connect();
  const otherBackend = await backendOf(other);

  await one`begin`;
  await one`select uptuple.depends_on('shop', 'db')`;
  const closing = other`select uptuple.depends_on('db', 'shop')`.execute();
  const refused = assert.rejects(closing, { code: "UT002" });
  await untilBlocked(owner, otherBackend);
  await one`commit`;
  await refused;
});

Deno.test("services that depend on each other's parents are added and changed together: one waits, and neither is refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "db");
  const one = await database.connect();
  const other = await database.connect();
  const otherBackend = await backendOf(other);

  await one`begin`;
  await one`select uptuple.add_service(name => 'cart', url => 'https://cart/', depends_on => 'db')`;
  const changing = other`select uptuple.update_service('shop', depends_on => 'db', every => '1 minute')`.execute();
  await untilBlocked(owner, otherBackend);
  await one`select uptuple.update_service('shop', depends_on => 'cart')`;
  await one`commit`;
  await changing;

  const rows = await owner`select service || ' on ' || depends_on as line from uptuple.dependencies order by 1`;
  assert.deepEqual(rows.map(({ line }) => line), ["cart on db", "shop on db"]);
});

Deno.test("an incident closes while a route, a reminder or an escalation is set: neither waits for the other for ever", async () => {
  await using database = await testDatabase();
  await dueReminder(database);
  const { owner } = database;
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();
  for (
    const call of [
      "escalate('ops', '1 hour')",
      "set_reminders('ops', '20 minutes')",
      "disable_channel('ops')",
      "enable_channel('ops')",
    ]
  ) {
    await prober`begin`;
    await recover(prober, "shop");
    const setting = operator.unsafe(`select uptuple.${call}`).execute();
    await untilBlocked(owner, operatorBackend);
    await prober`commit`;
    await setting;
    await fail(owner, "shop");
  }
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a route, a reminder or an escalation is set while an incident closes: neither waits for the other for ever", async () => {
  await using database = await testDatabase();
  await dueReminder(database);
  const { owner } = database;
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);
  for (
    const call of [
      "escalate('ops', '1 hour')",
      "set_reminders('ops', '20 minutes')",
      "disable_channel('ops')",
      "enable_channel('ops')",
    ]
  ) {
    await operator`begin`;
    await operator`lock table uptuple.channel in exclusive mode`;
    const closing = recover(prober, "shop");
    await untilBlocked(owner, proberBackend);
    await operator.unsafe(`select uptuple.${call}`);
    await operator`commit`;
    await closing;
    await fail(owner, "shop");
  }
  assert.deepEqual(await violations(owner), []);
});
