import assert from "node:assert/strict";
import {
  addChannel,
  type Answer,
  answer,
  answerAll,
  claim,
  deliveries,
  fail,
  recover,
  violations,
} from "../../support/alerts.ts";
import { type TestDatabase, testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

const BAD_FIELD: Answer = { status: 422, excerpt: "unknown field" };
const TOO_LARGE: Answer = { status: 413, excerpt: "too large" };
const UNREACHABLE: Answer = { error: { code: "connect.refused", message: "127.0.0.1:9 refused the connection" } };

/** Two channels; of `ops`, the FAILED of three services is dead, for two causes, and their RECOVERED are held. */
async function threeDead(): Promise<TestDatabase> {
  const database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops", { maxAttempts: 1 });
  for (const [service, response] of [["cart", BAD_FIELD], ["desk", BAD_FIELD], ["shop", UNREACHABLE]] as const) {
    await addService(owner, service);
    await fail(owner, service);
    for (const each of await claim(owner)) await answer(owner, each, response);
    await recover(owner, service);
  }
  return database;
}

/** The notices of one kind to a channel, each with its state. */
async function told(owner: TestSql, kind: string): Promise<string[]> {
  const rows = await owner`
    select channel.name || ' ' || delivery.state || coalesce(': ' || delivery.note, '') as line
    from uptuple.delivery
    join uptuple.event on event.id = delivery.event_number
    join uptuple.channel on channel.id = delivery.channel_id
    where event.kind = ${kind}
    order by event.id, channel.id`;
  return rows.map((row) => row.line);
}

async function sweep(owner: TestSql): Promise<void> {
  await owner`select * from uptuple.sweep()`;
}

Deno.test("dead notices are counted by channel and cause, with the last answer", async () => {
  await using database = await threeDead();
  const viewer = await database.connect("uptuple_viewer");
  const rows =
    await viewer`select channel, cause, notices::integer, services::integer, last_answer from uptuple.dead_letter_causes`;
  assert.deepEqual([...rows], [
    { channel: "ops", cause: "HTTP 422", notices: 2, services: 2, last_answer: "unknown field" },
    {
      channel: "ops",
      cause: "connect.refused",
      notices: 1,
      services: 1,
      last_answer: "127.0.0.1:9 refused the connection",
    },
  ]);
  const dead = await viewer`select cause, service from uptuple.dead_deliveries`;
  assert.deepEqual([...dead].map((row) => `${row.service} ${row.cause}`), [
    "cart HTTP 422",
    "desk HTTP 422",
    "shop connect.refused",
  ]);
});

Deno.test("the dead notices of one cause are sent again, in the order of their lanes, and the others stay", async () => {
  await using database = await threeDead();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  const ids = [...await owner`select event_id from uptuple.event order by id`].map((row) => row.event_id);

  const [{ count }] = await operator<[{ count: number }]>`select uptuple.requeue_alerts(cause => 'HTTP 422') as count`;

  assert.equal(count, 2);
  assert.deepEqual(await deliveries(owner), [
    "ops cart FAILED READY",
    "ops cart RECOVERED WAITING",
    "ops desk FAILED READY",
    "ops desk RECOVERED WAITING",
    "ops shop FAILED DEAD",
    "ops shop RECOVERED HELD",
  ]);
  const sent = await answerAll(owner, { status: 200 });
  assert.deepEqual(new Set(sent.map((each) => each.event_id)), new Set(ids.slice(0, 4)));
  assert.deepEqual(await violations(owner), []);
  assert.equal((await operator`select uptuple.requeue_alerts(cause => 'HTTP 422') as count`)[0].count, 0);
});

Deno.test("all dead notices of a channel are given up with a reason, and what they held back goes on", async () => {
  await using database = await threeDead();
  const { owner } = database;
  await addChannel(owner, "boss");
  const operator = await database.connect("uptuple_operator");
  const discard = async (channel: string) =>
    (await operator`select uptuple.discard_alerts('told by phone', channel => ${channel}) as count`)[0]?.count;

  assert.equal(await discard("boss"), 0);
  assert.equal(await discard("ops"), 3);

  assert.deepEqual(await deliveries(owner), [
    "ops cart FAILED DISCARDED",
    "ops cart RECOVERED READY",
    "ops desk FAILED DISCARDED",
    "ops desk RECOVERED READY",
    "ops shop FAILED DISCARDED",
    "ops shop RECOVERED READY",
  ]);
  const notes = await owner`select distinct note from uptuple.delivery where state = 'DISCARDED'`;
  assert.deepEqual([...notes], [{ note: "told by phone" }]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("only an operator requeues and discards many, and needs a known channel and a reason", async () => {
  await using database = await threeDead();
  const { owner } = database;
  const before = await deliveries(owner);
  for (const role of ["uptuple_worker", "uptuple_viewer"] as const) {
    const sql = await database.connect(role);
    await assert.rejects(sql`select uptuple.requeue_alerts()`, { code: "42501" });
    await assert.rejects(sql`select uptuple.discard_alerts('no')`, { code: "42501" });
  }
  await assert.rejects(owner`select uptuple.requeue_alerts('sms')`, { code: "UT001" });
  await assert.rejects(owner`select uptuple.discard_alerts('no', channel => 'sms')`, { code: "UT001" });
  for (const reason of [null, "", "  "]) {
    await assert.rejects(owner`select uptuple.discard_alerts(${reason})`, {
      code: "22023",
      message: "reason is missing",
    });
  }
  assert.deepEqual(await deliveries(owner), before);
});

Deno.test("another channel is told that notices are dead, the broken one is not, and an hour passes before the next", async () => {
  await using database = await threeDead();
  const { owner } = database;
  await owner`update uptuple.channel set name = 'broken'`;
  await sweep(owner);
  assert.deepEqual(await told(owner, "deliveries.dead"), [], "there is nobody to tell");

  await owner`select uptuple.add_channel('team', 'http://127.0.0.1:9000/team', services => '{shop}')`;
  await sweep(owner);
  assert.deepEqual(await told(owner, "deliveries.dead"), [], "a channel of one team is not told");
  await owner`select uptuple.remove_channel('team')`;

  await addChannel(owner, "boss");
  await sweep(owner);
  await sweep(owner);
  assert.deepEqual(await told(owner, "deliveries.dead"), ["broken SUPERSEDED: it is about this channel", "boss READY"]);
  const [notice] = (await claim(owner)).filter((each) => each.kind === "deliveries.dead");
  const body = JSON.parse(notice!.request.body);
  assert.deepEqual([body.data.channel, body.data.dead, body.data.severity], ["broken", 3, "warning"]);
  assert.equal(
    body.data.reason,
    "3 notices to the channel broken could not be delivered: HTTP 422 (2), connect.refused (1).",
  );

  await owner`update uptuple.channel set dead_told_at = dead_told_at - interval '61 minutes'`;
  await owner`update uptuple.delivery set finished_at = finished_at - interval '2 hours' where state = 'DEAD'`;
  await sweep(owner);
  assert.equal((await told(owner, "deliveries.dead")).length, 2, "nothing has died since");

  await addService(owner, "till");
  await fail(owner, "till");
  for (const each of await claim(owner)) {
    await answer(owner, each, each.channel === "broken" ? TOO_LARGE : { status: 200 });
  }
  await sweep(owner);
  assert.equal((await told(owner, "deliveries.dead")).length, 4);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("two broken channels do not keep each other busy: a dead notice about dead notices is told to nobody", async () => {
  await using database = await threeDead();
  const { owner } = database;
  await addChannel(owner, "boss", { maxAttempts: 1 });
  await sweep(owner);
  for (const each of await claim(owner)) await answer(owner, each, BAD_FIELD);
  assert.ok((await told(owner, "deliveries.dead")).includes("boss DEAD"));

  await owner`update uptuple.channel set dead_told_at = dead_told_at - interval '61 minutes'`;
  await owner`update uptuple.delivery set finished_at = finished_at - interval '2 hours' where state = 'DEAD' and channel_id = 1`;
  await sweep(owner);
  assert.equal((await told(owner, "deliveries.dead")).length, 2);
});

Deno.test("a channel that keeps failing and one whose notices are dead are problems, with the cure", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops", { maxAttempts: 20 });
  const problems = async () => [
    ...await owner`select problem, cure from uptuple.problems where problem like '%ops%' or problem like '%dead%'`,
  ];
  for (let failures = 1; failures <= 3; failures++) {
    assert.deepEqual(await problems(), []);
    await owner`select uptuple.test_channel('ops')`;
    const [notice] = await claim(owner);
    await answer(owner, notice!, { status: 503, excerpt: "no disk" });
  }
  const [failing] = await problems();
  assert.equal(failing?.problem, "The channel ops keeps failing: HTTP 503: no disk");
  assert.match(failing?.cure, /delivery_attempts.*test_channel/);

  await owner`update uptuple.delivery set due_at = clock_timestamp()`;
  for (const each of await claim(owner)) await answer(owner, each, BAD_FIELD);
  assert.deepEqual((await problems()).map((row) => row.problem), ["3 notices are dead."]);
  assert.match((await problems())[0]?.cure, /dead_letter_causes.*requeue_alerts.*discard_alerts/);
});
