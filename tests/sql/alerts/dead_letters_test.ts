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
  violations,
} from "../../support/alerts.ts";
import { type TestDatabase, testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** A database in which the FAILED of a service is dead and its RECOVERED is held. Row 1 is the dead delivery, row 2 the held one. */
async function deadAndHeld(): Promise<TestDatabase> {
  const database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await answer(owner, await claimOne(owner), { status: 422, excerpt: "unknown field" });
  await recover(owner, "shop");
  return database;
}

async function eventId(owner: TestSql, deliveryId: number): Promise<string> {
  const [row] =
    await owner`select event_id from uptuple.delivery join uptuple.event on event.id = event_number where delivery.id = ${deliveryId}`;
  return row.event_id;
}

Deno.test("people see what is dead and what it holds back, with the last answer", async () => {
  await using database = await deadAndHeld();
  const viewer = await database.connect("uptuple_viewer");

  const [dead] = await viewer`select * from uptuple.dead_deliveries`;
  assert.equal(dead.event_id, await eventId(database.owner, 1));
  assert.deepEqual(
    [
      dead.delivery_id,
      dead.channel,
      dead.service,
      dead.kind,
      dead.attempts,
      dead.last_status,
      dead.last_answer,
      dead.holds_back,
    ],
    ["1", "ops", "shop", "service.failed", 1, 422, "unknown field", "1"],
  );
  const [held] = await viewer`select delivery_id, kind, state, waits_because from uptuple.deliveries_backlog`;
  assert.deepEqual({ ...held }, {
    delivery_id: "2",
    kind: "service.recovered",
    state: "HELD",
    waits_because: "a dead notice of its incident is before it: requeue_alert or discard_alert that one",
  });
  const [channel] = await viewer`select ready, waiting, held, sending, dead from uptuple.channels_health`;
  assert.deepEqual({ ...channel }, { ready: "0", waiting: "0", held: "1", sending: "0", dead: "1" });
  const [incident] = await viewer`select state, delivered, unsent, dead from uptuple.incidents`;
  assert.deepEqual({ ...incident }, { state: "RECOVERED", delivered: "0", unsent: "1", dead: "1" });
  const [problem] = await viewer`select severity, problem from uptuple.problems where problem like '%dead%'`;
  assert.equal(problem.severity, "error");
});

Deno.test("the backlog says why each notice waits", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addService(owner, "shop");
  await fail(owner, "shop");
  await recover(owner, "shop");
  const reasons = async () =>
    [...await owner`select waits_because from uptuple.deliveries_backlog`].map((row) => row.waits_because);
  const behind = "an older notice of its service is before it";

  assert.deepEqual(await reasons(), ["it is about to be sent", behind]);
  const claimed = await claimOne(owner);
  assert.deepEqual(await reasons(), ["it is being sent", behind]);
  await answer(owner, claimed, { status: 503 });
  assert.deepEqual(await reasons(), ["it is tried again", behind]);
  await passTime(owner, "5 seconds");
  await claimOne(owner);
  await passTime(owner, "30 seconds");
  assert.deepEqual(await reasons(), ["its sender is gone; the next one takes over", behind]);
  await answer(owner, await claimOne(owner), { status: 429 });
  assert.deepEqual(await reasons(), ["the receiver asked for a pause", behind]);
  await owner`select uptuple.disable_channel('ops')`;
  assert.deepEqual(await reasons(), ["the channel is disabled", behind]);
});

Deno.test("a requeued notice has its event id and all its attempts, and what it held back waits behind it", async () => {
  await using database = await deadAndHeld();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  const event = await eventId(owner, 1);

  const [requeued] = await operator`select uptuple.requeue_alert(1) as event_id`;

  assert.equal(requeued.event_id, event);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  const sent = await answerAll(owner, { status: 200 });
  assert.deepEqual(sent.map((each) => [each.kind, each.attempt]), [["service.failed", 1], ["service.recovered", 1]]);
  assert.equal(sent[0]!.event_id, event);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice that was discarded or superseded can be sent after all", async () => {
  await using database = await deadAndHeld();
  const { owner } = database;
  await owner`select uptuple.discard_alert(1, 'known')`;
  await owner`select uptuple.discard_alert(2, 'known')`;
  await owner`select uptuple.disable_channel('ops')`;
  await fail(owner, "shop");
  await recover(owner, "shop");
  await owner`select uptuple.enable_channel('ops')`;
  assert.equal((await deliveries(owner))[2], "ops shop FAILED SUPERSEDED");

  await owner`select uptuple.requeue_alert(3)`;
  await owner`select uptuple.requeue_alert(1)`;

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED READY",
    "ops shop RECOVERED DISCARDED",
    "ops shop FAILED WAITING",
    "ops shop RECOVERED SUPERSEDED",
  ]);
  assert.deepEqual((await answerAll(owner, { status: 200 })).map((each) => each.delivery_id), ["1", "3"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice that was sent is never requeued, nor one that is still to be sent", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await recover(owner, "shop");
  const refused = (delivery: number, state: string) =>
    assert.rejects(owner`select uptuple.requeue_alert(${delivery})`, {
      code: "UT002",
      message: `delivery ${delivery} is ${state}, and only one that is dead, discarded or superseded can be sent again`,
    });

  await refused(1, "READY");
  await refused(2, "WAITING");
  const claimed = await claimOne(owner);
  await refused(1, "SENDING");
  await answer(owner, claimed, { status: 200 });
  const before = [...await owner`select * from uptuple.delivery order by id`];
  await refused(1, "DELIVERED");
  assert.deepEqual([...await owner`select * from uptuple.delivery order by id`], before);
});

Deno.test("a discarded notice keeps its reason, and what it held back goes on", async () => {
  await using database = await deadAndHeld();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  const event = await eventId(owner, 1);

  const [discarded] = await operator`select uptuple.discard_alert(1, E'told by phone\u0007') as event_id`;

  assert.equal(discarded.event_id, event);
  const [row] = await owner`select state, note, finished_at is not null as finished from uptuple.delivery where id = 1`;
  assert.deepEqual({ ...row }, { state: "DISCARDED", note: "told by phone\ufffd", finished: true });
  assert.equal((await claimOne(owner)).kind, "service.recovered");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice that waits for its turn or its retry can be discarded, one that is being sent or was sent cannot", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await recover(owner, "shop");
  await fail(owner, "shop");
  const refused = (delivery: number, state: string) =>
    assert.rejects(owner`select uptuple.discard_alert(${delivery}, 'no')`, {
      code: "UT002",
      message: `delivery ${delivery} is ${state}, and only one that is unsent can be discarded`,
    });

  await owner`select uptuple.discard_alert(2, 'nobody needs it')`;
  const claimed = await claimOne(owner);
  await refused(1, "SENDING");
  await answer(owner, claimed, { status: 503 });
  await owner`select uptuple.discard_alert(1, 'told by phone')`;
  await answer(owner, await claimOne(owner), { status: 200 });
  await refused(1, "DISCARDED");
  await refused(3, "DELIVERED");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice whose sender is gone can be discarded, and a late answer to it is refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await recover(owner, "shop");
  const lost = await claimOne(owner);
  await passTime(owner, "30 seconds");

  await owner`select uptuple.discard_alert(1, 'told by phone')`;

  assert.equal(await answer(owner, lost, { status: 200 }), "REFUSED");
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DISCARDED", "ops shop RECOVERED READY"]);
});

Deno.test("requeueing and discarding without a delivery or a reason is refused with the cure", async () => {
  await using database = await deadAndHeld();
  const { owner } = database;
  const before = [...await owner`select * from uptuple.delivery order by id`];
  const refusals = [
    { call: "requeue_alert(4711)", code: "UT001", message: "there is no delivery 4711", hint: /dead_deliveries/ },
    { call: "requeue_alert(null)", code: "UT001", message: "there is no delivery null", hint: /dead_deliveries/ },
    {
      call: "discard_alert(4711, 'x')",
      code: "UT001",
      message: "there is no delivery 4711",
      hint: /deliveries_backlog/,
    },
    {
      call: "discard_alert(null, 'x')",
      code: "UT001",
      message: "there is no delivery null",
      hint: /deliveries_backlog/,
    },
    { call: "discard_alert(1, null)", code: "22023", message: "reason is missing", hint: /Say why/ },
    { call: "discard_alert(1, '  ')", code: "22023", message: "reason is missing", hint: /Say why/ },
  ];

  for (const { call, ...error } of refusals) await assert.rejects(owner.unsafe(`select uptuple.${call}`), error);
  assert.deepEqual([...await owner`select * from uptuple.delivery order by id`], before);
});

Deno.test("only an operator requeues and discards", async () => {
  await using database = await deadAndHeld();

  for (const role of ["uptuple_worker", "uptuple_viewer"] as const) {
    const sql = await database.connect(role);
    await assert.rejects(sql`select uptuple.requeue_alert(1)`, { code: "42501" });
    await assert.rejects(sql`select uptuple.discard_alert(1, 'no')`, { code: "42501" });
  }
});

Deno.test("sent and discarded notices go after 400 days, and nothing unsent is ever deleted", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  for (const service of ["sent", "dead", "open", "young"]) {
    await addService(owner, service);
    await fail(owner, service);
  }
  for (const each of await claim(owner)) {
    await answer(owner, each, { status: each.request.body.includes('"service": "dead"') ? 422 : 200 });
  }
  for (const service of ["sent", "dead", "young"]) await recover(owner, service);
  await answerAll(owner, { status: 200 });
  await passTime(owner, "401 days");
  await owner`update uptuple.event set occurred_at = occurred_at - interval '401 days', created_at = created_at - interval '401 days'`;
  await owner`
    update uptuple.incident
    set started_at = started_at - interval '401 days', opened_at = opened_at - interval '401 days',
        closed_at = closed_at - interval '401 days'`;
  await owner`
    update uptuple.incident set closed_at = clock_timestamp() - interval '399 days'
    where service_id = (select id from uptuple.service where name = 'young')`;

  await owner`select * from uptuple.sweep()`;

  assert.deepEqual(await deliveries(owner), [
    "ops dead FAILED DEAD",
    "ops open FAILED DELIVERED",
    "ops young FAILED DELIVERED",
    "ops dead RECOVERED HELD",
    "ops young RECOVERED DELIVERED",
  ]);
  const [left] = await owner`
    select (select count(*)::int from uptuple.event) as events, (select count(*)::int from uptuple.delivery_attempt) as attempts,
      (select count(*)::int from uptuple.incident) as incidents`;
  assert.deepEqual({ ...left }, { events: 5, attempts: 4, incidents: 4 });
  assert.deepEqual(await violations(owner), []);
});
