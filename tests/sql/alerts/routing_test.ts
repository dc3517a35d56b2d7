import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, fail, record, recover, violations } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** Services `shop` and `cart` of the group `sales`, `cart` tagged `gold`, and `db` on its own. */
async function addThree(owner: TestSql): Promise<void> {
  for (const name of ["shop", "cart", "db"]) await addService(owner, name);
  await owner`select uptuple.update_service('shop', group_name => 'sales'), uptuple.update_service('cart', group_name => 'sales', tags => '{gold}')`;
}

async function told(sql: TestSql, service: string | null, kind: string): Promise<string[]> {
  const rows = await sql<{ channel: string; told: boolean; because: string }[]>`
    select * from uptuple.who_is_told(${service}, ${kind})`;
  return rows.map((row) => `${row.channel}: ${row.told ? "yes" : "no"}, ${row.because}`);
}

Deno.test("a route by service, group or tag brings a channel what it selects and nothing else; routes add up", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addThree(owner);
  for (const name of ["all", "dba", "gold", "sales", "both"]) await addChannel(owner, name);
  await operator`select uptuple.route('dba', services => '{db}')`;
  await operator`select uptuple.route('gold', tags => '{gold,silver}')`;
  await operator`select uptuple.route('sales', groups => '{sales}')`;
  await operator`select uptuple.route('both', services => '{db}'), uptuple.route('both', tags => '{gold}')`;

  await fail(owner, "shop");
  await fail(owner, "cart");
  await fail(owner, "db");

  assert.deepEqual(await deliveries(owner), [
    "all shop FAILED READY",
    "sales shop FAILED READY",
    "all cart FAILED READY",
    "gold cart FAILED READY",
    "sales cart FAILED READY",
    "both cart FAILED READY",
    "all db FAILED READY",
    "dba db FAILED READY",
    "both db FAILED READY",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("one route that names a service, a group and a tag selects what fits any of them", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  await addChannel(owner, "ops");
  await owner`select uptuple.route('ops', services => '{db}', tags => '{gold}')`;

  for (const name of ["shop", "cart", "db"]) await fail(owner, name);

  assert.deepEqual(await deliveries(owner), ["ops cart FAILED READY", "ops db FAILED READY"]);
});

Deno.test("a recovery goes exactly where its failure went, whatever the routes are by then", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  for (const name of ["dba", "boss", "late"]) await addChannel(owner, name);
  await owner`select uptuple.route('dba', services => '{db}'), uptuple.route('boss', min_severity => 'critical'), uptuple.route('late', services => '{shop}')`;
  await fail(owner, "db");

  await owner`select uptuple.unroute('dba'), uptuple.route('dba', services => '{shop}')`;
  await owner`select uptuple.unroute('late')`;
  await recover(owner, "db");

  assert.deepEqual(await deliveries(owner), [
    "dba db FAILED READY",
    "boss db FAILED READY",
    "dba db RECOVERED WAITING",
    "boss db RECOVERED WAITING",
  ]);
  assert.deepEqual((await answerAll(owner, { status: 200 })).length, 4);
  await fail(owner, "db");
  assert.deepEqual((await deliveries(owner)).slice(4), ["boss db FAILED READY", "late db FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a route may name kinds, and what follows them comes along", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  await addChannel(owner, "certificates");
  await addChannel(owner, "failures");
  await owner`select uptuple.route('certificates', kinds => '{certificate.expiring}'), uptuple.route('failures', kinds => '{service.failed}')`;

  await fail(owner, "db");
  await recover(owner, "db");

  assert.deepEqual(await deliveries(owner), ["failures db FAILED READY", "failures db RECOVERED WAITING"]);
});

Deno.test("a new channel is told of open incidents, and one that is enabled again only of those that its routes lead to it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  await addChannel(owner, "dba");
  await owner`select uptuple.route('dba', services => '{db}')`;
  await owner`select uptuple.disable_channel('dba')`;
  await fail(owner, "db");
  await fail(owner, "shop");
  assert.deepEqual(await deliveries(owner), ["dba db FAILED SUPERSEDED"]);

  await addChannel(owner, "ops");
  await owner`select uptuple.enable_channel('dba')`;

  assert.deepEqual(await deliveries(owner), [
    "dba db FAILED READY",
    "ops db FAILED READY",
    "ops shop FAILED READY",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("who_is_told says who, by which route, and why not", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const viewer = await database.connect("uptuple_viewer");
  await addThree(owner);
  for (const name of ["all", "dba", "boss", "off"]) await addChannel(owner, name);
  await owner`select uptuple.route('dba', services => '{db}'), uptuple.escalate('boss', '10 minutes'), uptuple.disable_channel('off')`;

  assert.deepEqual(await told(viewer, "db", "service.failed"), [
    "all: yes, it has no route, so it gets everything",
    "dba: yes, by route 1",
    "boss: no, only what is escalated to it, after 00:10:00",
    "off: no, it is disabled",
  ]);
  assert.deepEqual(await told(viewer, "shop", "service.recovered"), [
    "all: yes, it goes where service.failed went",
    "boss: no, only what is escalated to it, after 00:10:00",
    "dba: no, none of its routes leads there",
    "off: no, it is disabled",
  ]);
  assert.deepEqual(await told(viewer, "db", "service.escalated"), [
    "boss: yes, after 00:10:00 without acknowledgement",
    "all: no, nothing is escalated to it",
    "dba: no, nothing is escalated to it",
    "off: no, it is disabled",
  ]);
  assert.deepEqual((await told(viewer, null, "worker.quarantined")).slice(0, 1), [
    "all: yes, it has no route, so it gets everything",
  ]);
  assert.equal((await told(viewer, null, "worker.quarantined")).filter((line) => line.includes("yes")).length, 1);
  await assert.rejects(told(viewer, "none", "service.failed"), { code: "UT001" });
  await assert.rejects(told(viewer, "db", "service.lost"), { code: "22023" });
});

Deno.test("who_is_told says of each channel what then happens", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  for (const name of ["a", "b", "c", "d"]) await addChannel(owner, name);
  await owner`select uptuple.route('b', tags => '{gold}'), uptuple.route('c', groups => '{sales}', kinds => '{service.degraded}'), uptuple.route('d', min_severity => 'critical')`;

  for (const name of ["shop", "cart", "db"]) {
    const expected = (await told(owner, name, "service.failed")).filter((line) => line.includes(": yes"))
      .map((line) => `${line.split(":")[0]} ${name} FAILED READY`).sort();
    await fail(owner, name);
    assert.deepEqual((await deliveries(owner, name)).sort(), expected, name);
  }
});

Deno.test("routes that make no sense are refused, each with what to do", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  await addChannel(owner, "ops");
  for (
    const [call, code, message] of [
      ["uptuple.route('nobody')", "UT001", "there is no channel named 'nobody'"],
      ["uptuple.route('ops', services => '{db,dB}')", "UT001", "there is no service named 'dB'"],
      [
        "uptuple.route('ops', services => '{}')",
        "22023",
        "services, groups, tags and kinds must not be empty",
      ],
      [
        "uptuple.route('ops', min_severity => 'bad')",
        "22023",
        "min_severity is 'bad', and must be info, warning or critical",
      ],
      ["uptuple.route('ops', kinds => '{service.lost}')", "22023", "'service.lost' is no kind of notice"],
      ["uptuple.route('ops', kinds => '{service.recovered}')", "22023", "none of the kinds begins anything"],
      ["uptuple.escalate('ops', '8 days')", "22023", "after is 8 days, and must be between 0 and 7 days"],
      ["uptuple.unroute()", "22023", "give either channel or route_id"],
      ["uptuple.unroute(route_id => 7)", "UT001", "there is no route 7"],
    ] as const
  ) {
    await assert.rejects(owner.unsafe(`select ${call}`), { code, message }, call);
  }
  assert.deepEqual([...await owner<object[]>`select * from uptuple.routes`], []);
});

Deno.test("the view routes lists what selects what, and unroute takes one back", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const viewer = await database.connect("uptuple_viewer");
  await addThree(owner);
  await addChannel(owner, "ops");
  const [route] =
    await owner`select uptuple.route('ops', services => '{db,shop}', min_severity => 'warning') as id, uptuple.escalate('ops', '5 minutes', tags => '{gold}')`;
  await owner`select uptuple.remove_service('db')`;

  const rows = await viewer`
    select channel, kind, after::text, services, tags, min_severity from uptuple.routes order by route_id`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    {
      channel: "ops",
      kind: "ROUTE",
      after: null,
      services: ["db (removed)", "shop"],
      tags: null,
      min_severity: "warning",
    },
    { channel: "ops", kind: "ESCALATION", after: "00:05:00", services: null, tags: ["gold"], min_severity: "info" },
  ]);
  await owner`select uptuple.unroute(route_id => ${route.id})`;
  assert.deepEqual((await viewer`select kind from uptuple.routes`).map((row) => row.kind), ["ESCALATION"]);
});

Deno.test("an event with recipients goes to them alone", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  const ops = await addChannel(owner, "ops");
  await addChannel(owner, "boss");

  await owner`
    select uptuple.write_events(
      array[
        ('channel.test', 'info', null, null, null, 'test:1', clock_timestamp(), null, '{}'),
        ('channel.test', 'info', null, null, null, 'test:2', clock_timestamp(), null, '{}')
      ]::uptuple.notice[],
      array[('test:1', ${ops})]::uptuple.recipient[]
    )`;

  assert.deepEqual(await deliveries(owner), ["ops TEST READY", "ops TEST READY", "boss TEST READY"]);
  assert.equal((await record(owner, "db", "UP")).state, "UP");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel that is added with a route is told of open incidents only as far as that goes", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addThree(owner);
  await fail(owner, "db");
  await fail(owner, "shop");

  await owner`select uptuple.add_channel('dba', 'http://127.0.0.1:9000/hook', services => '{db}')`;
  await owner`select uptuple.add_channel('ends', 'http://127.0.0.1:9000/hook', kinds => '{certificate.expiring}')`;
  await owner`select uptuple.add_channel('boss', 'http://127.0.0.1:9000/hook', escalate_after => '15 minutes')`;

  await owner`select uptuple.disable_channel('dba'), uptuple.enable_channel('dba')`;
  assert.deepEqual(await deliveries(owner, "db"), ["dba db FAILED READY"]);
  assert.deepEqual(await deliveries(owner, "shop"), []);
  assert.deepEqual(
    (await owner`select channel, services, kinds, after::text from uptuple.routes order by channel`).map((row) => ({
      ...row,
    })),
    [
      { channel: "boss", services: null, kinds: null, after: "00:15:00" },
      { channel: "dba", services: ["db"], kinds: null, after: null },
      { channel: "ends", services: null, kinds: ["certificate.expiring"], after: null },
    ],
  );
  await assert.rejects(
    owner`select uptuple.add_channel('two', 'http://127.0.0.1:9000/hook', min_severity => 'critical', escalate_after => '1 minute')`,
    { code: "22023", message: "kinds and min_severity do not go with escalate_after" },
  );
  await assert.rejects(owner`select uptuple.add_channel('two', 'http://127.0.0.1:9000/hook', services => '{nobody}')`, {
    code: "UT001",
  });
  assert.equal((await owner<object[]>`select from uptuple.channels_health where name = 'two'`).length, 0);
  assert.deepEqual(await violations(owner), []);
});
