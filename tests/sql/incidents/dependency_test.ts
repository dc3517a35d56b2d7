import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, events, fail, record, tellDue, violations } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService, letTimePass } from "../../support/services.ts";

/** `shop` depends on `db`; these and `host` have just been seen up. */
async function addChain(owner: TestSql): Promise<void> {
  for (const name of ["host", "db", "shop"]) await addService(owner, name);
  await addChannel(owner, "ops");
  await owner`select uptuple.depends_on('shop', 'db')`;
  for (const name of ["host", "db", "shop"]) await record(owner, name, "UP");
}

async function withheld(owner: TestSql): Promise<(string | null)[]> {
  return (await owner`select withheld_because as why from uptuple.incidents order by incident_id`).map((row) =>
    row.why
  );
}

Deno.test("what depends on something that is down, directly or through others, is down and not announced", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await owner`select uptuple.depends_on('db', 'host')`;

  await fail(owner, "host");
  await fail(owner, "shop");
  await fail(owner, "db");
  assert.equal((await owner<object[]>`select from uptuple.status where status = 'DOWN'`).length, 3);
  await letTimePass(owner, 600);
  assert.equal(await tellDue(owner), 0);

  assert.deepEqual(await deliveries(owner), ["ops host FAILED READY"]);
  assert.deepEqual(await withheld(owner), [null, "dependency", "dependency"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("what recovers with its parent is never told of", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await fail(owner, "db");
  await fail(owner, "shop");

  await record(owner, "db", "UP");
  await letTimePass(owner, 10);
  assert.equal(await tellDue(owner), 0);
  await record(owner, "shop", "UP");
  await letTimePass(owner, 10);
  assert.equal(await tellDue(owner), 0);

  assert.deepEqual(await deliveries(owner), ["ops db FAILED READY", "ops db RECOVERED WAITING"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("what is still down at its next check after the parent came back is announced, and its recovery as well", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await fail(owner, "db");
  const incident = await fail(owner, "shop");
  await record(owner, "db", "UP");
  await answerAll(owner, { status: 200 });
  await letTimePass(owner, 10);
  assert.equal(await tellDue(owner), 0);

  await record(owner, "shop", "DOWN");
  await letTimePass(owner, 10);
  assert.equal(await tellDue(owner), 1);
  const [failed] = await answerAll(owner, { status: 200 });
  const { data } = JSON.parse(failed?.request.body ?? "{}");
  assert.deepEqual([data.service, data.incident_id, data.reason], ["shop", Number(incident), "it is DOWN"]);
  await record(owner, "shop", "UP");

  assert.deepEqual((await deliveries(owner)).slice(2), ["ops shop FAILED DELIVERED", "ops shop RECOVERED READY"]);
  assert.deepEqual(await withheld(owner), [null, null]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a child that fails while its parent is being confirmed waits for what becomes of the parent", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await record(owner, "db", "DOWN", "DOWN");
  await fail(owner, "shop");
  await letTimePass(owner, 10);
  assert.equal(await tellDue(owner), 0);

  await record(owner, "db", "DOWN");
  await letTimePass(owner, 600);
  assert.equal(await tellDue(owner), 0);

  assert.deepEqual(await deliveries(owner), ["ops db FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a child that fails first waits for its parent's next verdict: a failure keeps it quiet, a success lets it be told", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await letTimePass(owner, 20);
  await fail(owner, "shop");
  await letTimePass(owner, 6);
  assert.deepEqual([await tellDue(owner), await withheld(owner)], [0, ["dependency"]]);

  await record(owner, "db", "DOWN");
  await letTimePass(owner, 6);
  assert.equal(await tellDue(owner), 0);
  await record(owner, "db", "UP");
  await letTimePass(owner, 6);
  assert.equal(await tellDue(owner), 1);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a child waits at most two minutes for a parent of which nothing is heard", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await fail(owner, "shop");
  assert.deepEqual(await withheld(owner), ["dependency"]);

  await letTimePass(owner, 121);
  assert.equal(await tellDue(owner), 1);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
});

Deno.test("a child whose parents were seen up since it began to fail is announced at once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await record(owner, "shop", "DOWN", "DOWN");
  await record(owner, "db", "UP");

  await record(owner, "shop", "DOWN");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
});

Deno.test("a parent that is disabled, or no longer depended on, withholds nothing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await fail(owner, "db");
  await fail(owner, "shop");
  await owner`select uptuple.depends_on('shop', null)`;
  assert.equal(await tellDue(owner), 1);
  await record(owner, "shop", "UP");

  await owner`select uptuple.depends_on('shop', 'db'), uptuple.disable_service('db')`;
  await fail(owner, "shop");

  assert.deepEqual((await events(owner)).map((line) => line.replace(/ \d+$/, "")), [
    "db FAILED",
    "shop FAILED",
    "shop RECOVERED",
    "db RECOVERED",
    "shop FAILED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("what is withheld is neither reminded of nor escalated, and can be acknowledged in silence", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChain(owner);
  await addChannel(owner, "boss");
  await owner`select uptuple.set_reminders('ops', '1 minute'), uptuple.escalate('boss', '1 minute', services => '{shop}')`;
  await fail(owner, "db");
  await fail(owner, "shop");
  await letTimePass(owner, 30);
  await owner`select uptuple.acknowledge('shop')`;
  await letTimePass(owner, 30);
  await tellDue(owner);

  assert.deepEqual(await deliveries(owner, "shop"), []);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service cannot depend on itself, on what depends on it, or on nobody", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addChain(owner);
  await owner`select uptuple.depends_on('db', 'host')`;
  for (const [child, parent] of [["db", "db"], ["db", "shop"], ["host", "shop"]] as const) {
    await assert.rejects(async () => await operator`select uptuple.depends_on(${child}, ${parent})`, { code: "UT002" });
  }
  await assert.rejects(async () => await operator`select uptuple.depends_on('db', 'none')`, { code: "UT001" });
  const rows = await operator`select service || ' on ' || depends_on as line from uptuple.dependencies`;
  assert.deepEqual(rows.map((row) => row.line), ["db on host", "shop on db"]);
});

Deno.test("what a service depends on can be said when it is added and changed; left out it stays, an empty name takes it away", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addService(owner, "db");
  const dependencies = async () =>
    (await owner`select service || ' on ' || depends_on as line from uptuple.dependencies`).map(({ line }) => line);

  await operator`select uptuple.add_service(name => 'shop', url => 'https://shop/', depends_on => 'db')`;
  await operator`select uptuple.add_service(name => 'alone', url => 'https://alone/', depends_on => '')`;
  assert.deepEqual(await dependencies(), ["shop on db"]);
  await operator`select uptuple.update_service('shop', every => '1 minute')`;
  assert.deepEqual(await dependencies(), ["shop on db"]);
  await operator`select uptuple.update_service('shop', new_name => 'store', depends_on => 'alone')`;
  assert.deepEqual(await dependencies(), ["store on alone"]);
  await operator`select uptuple.update_service('store', depends_on => '')`;
  assert.deepEqual(await dependencies(), []);
});

Deno.test("a service that would depend on nobody or on itself is neither added nor changed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "db");

  await assert.rejects(
    async () => await owner`select uptuple.add_service(name => 'shop', url => 'https://shop/', depends_on => 'none')`,
    { code: "UT001", message: "there is no service named 'none'" },
  );
  await assert.rejects(
    async () => await owner`select uptuple.update_service('db', new_name => 'base', depends_on => 'base')`,
    { code: "UT002" },
  );
  const rows = await owner`select service from uptuple.status`;
  assert.deepEqual(rows.map(({ service }) => service), ["db"]);
});
