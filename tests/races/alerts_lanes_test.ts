import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  claim,
  claimOne,
  deliveries,
  fail,
  passTime,
  recover,
  violations,
} from "../support/alerts.ts";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import { type TestDatabase, testDatabase } from "../support/database.ts";
import { addService } from "../support/services.ts";

/** A database with one service that is down, whose FAILED waits for its one channel. */
async function oneNotice(): Promise<TestDatabase> {
  const database = await testDatabase();
  await addService(database.owner, "shop");
  await addChannel(database.owner, "ops");
  await fail(database.owner, "shop");
  return database;
}

Deno.test("RECOVERED is written while FAILED is being answered: it waits for the answer and is ready after it", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  const courier = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);
  const failed = await claimOne(owner);

  await courier`begin`;
  await answer(courier, failed, { status: 200 });
  const recovering = recover(prober, "shop");
  await untilBlocked(owner, proberBackend);
  await courier`commit`;
  await recovering;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop RECOVERED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("FAILED is answered while RECOVERED is being written: the answer sees it and makes it ready", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);
  const prober = await database.connect();
  const failed = await claimOne(owner);

  await prober`begin`;
  await recover(prober, "shop");
  const answering = answer(courier, failed, { status: 200 });
  await untilBlocked(owner, courierBackend);
  await prober`commit`;
  assert.equal(await answering, "DELIVERED");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop RECOVERED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("FAILED dies while RECOVERED is being written: it is held, not left waiting", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);
  const prober = await database.connect();
  const failed = await claimOne(owner);

  await prober`begin`;
  await recover(prober, "shop");
  const answering = answer(courier, failed, { status: 422 });
  await untilBlocked(owner, courierBackend);
  await prober`commit`;
  assert.equal(await answering, "DEAD");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DEAD", "ops shop RECOVERED HELD"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("two channels answer for one service at once: neither waits for the other", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await addChannel(owner, "boss");
  await recover(owner, "shop");
  const first = await database.connect();
  const second = await database.connect();
  const [ops, boss] = await claim(owner);

  await neverWait(second);
  await first`begin`;
  await second`begin`;
  assert.equal(await answer(first, boss!, { status: 200 }), "DELIVERED");
  assert.equal(await answer(second, ops!, { status: 200 }), "DELIVERED");
  await first`commit`;
  await second`commit`;

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "boss shop FAILED DELIVERED",
    "ops shop RECOVERED READY",
    "boss shop RECOVERED READY",
  ]);
});

Deno.test("two couriers report for the same channels in opposed orders: no deadlock, both are accepted", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await addChannel(owner, "boss");
  await addService(owner, "cart");
  await fail(owner, "cart");
  const claimed = await claim(owner);
  const find = (channel: string, service: string) => {
    const found = claimed.find((each) =>
      each.channel === channel && JSON.parse(each.request.body).data.service === service
    );
    return { delivery_id: found!.delivery_id, claim_token: found!.claim_token, response: { status: 503 } };
  };
  const first = await database.connect();
  const second = await database.connect();
  const backends = [await backendOf(first), await backendOf(second)];
  const report = (sql: typeof first, ...answers: ReturnType<typeof find>[]) =>
    sql`select outcome from uptuple.finish_alerts(${sql.json(answers)})`;

  // The gate stops each after its first answer, and then both go on at once.
  const gate = await database.connect();
  await gate`begin`;
  await gate`lock table uptuple.delivery_attempt in share mode`;
  const opsFirst = report(first, find("ops", "shop"), find("boss", "shop")).execute();
  await untilBlocked(owner, backends[0]!);
  const bossFirst = report(second, find("boss", "cart"), find("ops", "cart")).execute();
  await untilBlocked(owner, backends[1]!);
  await gate`commit`;

  assert.deepEqual([...await opsFirst].map((row) => row.outcome), ["RETRY", "RETRY"]);
  assert.deepEqual([...await bossFirst].map((row) => row.outcome), ["RETRY", "RETRY"]);
});

Deno.test("a claim and a report that both need two channels: no deadlock", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await addChannel(owner, "boss");
  const [ops, boss] = await claim(owner);
  await addService(owner, "cart");
  await fail(owner, "cart");
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);
  const claimer = await database.connect();
  const claimerBackend = await backendOf(claimer);

  // The gate stops the report after its first answer.
  const gate = await database.connect();
  await gate`begin`;
  await gate`lock table uptuple.delivery_attempt in share mode`;
  const reporting = courier`
    select outcome from uptuple.finish_alerts(${
    courier.json(
      [boss!, ops!].map(({ delivery_id, claim_token }) => ({ delivery_id, claim_token, response: { status: 200 } })),
    )
  })`.execute();
  await untilBlocked(owner, courierBackend);
  const claiming = claim(claimer);
  await untilBlocked(owner, claimerBackend);
  await gate`commit`;

  assert.equal((await claiming).length, 2);
  assert.deepEqual([...await reporting].map((row) => row.outcome), ["DELIVERED", "DELIVERED"]);
});

Deno.test("a dead FAILED is requeued while a new notice of its service is being written: both take their turn", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await answer(owner, await claimOne(owner), { status: 422 });
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();

  await prober`begin`;
  await recover(prober, "shop");
  const requeueing = operator`select uptuple.requeue_alert(1)`.execute();
  await untilBlocked(owner, operatorBackend);
  await prober`commit`;
  await requeueing;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a new notice is written while a dead FAILED of its service is being requeued: it waits its turn", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await answer(owner, await claimOne(owner), { status: 422 });
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);

  await operator`begin`;
  await operator`select uptuple.requeue_alert(1)`;
  const recovering = recover(prober, "shop");
  await untilBlocked(owner, proberBackend);
  await operator`commit`;
  await recovering;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a discarded notice comes back to a lane that others are answering for: whoever answers is kept out meanwhile", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await recover(owner, "shop");
  await owner`select uptuple.discard_alert(1, 'known')`;
  const recovered = await claimOne(owner);
  const operator = await database.connect();
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);

  await operator`begin`;
  await operator`select uptuple.requeue_alert(1)`;
  const answering = answer(courier, recovered, { status: 503 });
  await untilBlocked(owner, courierBackend);
  const [waitsFor] = await owner`
    select string_agg(locktype || ' ' || coalesce(relation::regclass::text, ''), ', ') as locks
    from pg_locks where pid = ${courierBackend} and not granted`;
  assert.equal(waitsFor.locks, "relation uptuple.channel");
  await operator`commit`;
  assert.equal(await answering, "RETRY");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("FAILED is discarded while RECOVERED is being written: it is ready after both", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();

  await prober`begin`;
  await recover(prober, "shop");
  const discarding = operator`select uptuple.discard_alert(1, 'known')`.execute();
  await untilBlocked(owner, operatorBackend);
  await prober`commit`;
  await discarding;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DISCARDED", "ops shop RECOVERED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("the last lease is found to have ended while its late answer comes in: dead once, the answer is refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops", { maxAttempts: 1 });
  await fail(owner, "shop");
  const late = await claimOne(owner);
  await passTime(owner, "30 seconds");
  const sweeper = await database.connect();
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);

  await sweeper`begin`;
  await sweeper`select uptuple.bury_expired_alerts()`;
  const answering = answer(courier, late, { status: 200 });
  await untilBlocked(owner, courierBackend);
  await sweeper`commit`;

  assert.equal(await answering, "REFUSED");
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DEAD"]);
  const evidence = await owner`select outcome from uptuple.delivery_attempt`;
  assert.deepEqual([...evidence], [{ outcome: "DEAD" }]);
});

Deno.test("somebody holds a lane whose last lease has ended: a claim leaves it for the next one and takes the others", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "cart");
  await addChannel(owner, "ops", { maxAttempts: 1 });
  await fail(owner, "shop");
  await claimOne(owner);
  await passTime(owner, "30 seconds");
  await fail(owner, "cart");
  const holder = await database.connect();
  const courier = await database.connect();
  await neverWait(courier);

  await holder`begin`;
  await recover(holder, "shop");
  assert.deepEqual((await claim(courier)).map((each) => JSON.parse(each.request.body).data.service), ["cart"]);
  await holder`commit`;

  assert.deepEqual(await deliveries(owner, "shop"), ["ops shop FAILED SENDING", "ops shop RECOVERED WAITING"]);
  assert.deepEqual(await claim(courier), []);
  assert.deepEqual(await deliveries(owner, "shop"), ["ops shop FAILED DEAD", "ops shop RECOVERED HELD"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a batch tells of one service and then of another, while a report needs both in the opposed order: no deadlock", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const name of ["shop", "cart"]) await addService(owner, name);
  await owner`select uptuple.update_service('shop', recovery_threshold => 2)`;
  await addChannel(owner, "ops");
  for (const name of ["shop", "cart"]) await fail(owner, name);
  const claimed = await claim(owner);
  const [courier, prober, gate] = [await database.connect(), await database.connect(), await database.connect()];
  const backends = [await backendOf(courier), await backendOf(prober)];

  // The gate lets both begin before either has the notice of the shop, the older one.
  await gate`begin`;
  await gate`select from uptuple.delivery where id = ${claimed[0]!.delivery_id} for update`;
  const reports = claimed.map(({ delivery_id, claim_token }) => ({
    delivery_id,
    claim_token,
    response: { status: 200 },
  }));
  const reporting = courier`select outcome from uptuple.finish_alerts(${courier.json(reports)})`.execute();
  await untilBlocked(owner, backends[0]!);
  const recording = prober`
    select uptuple.record_results(array(
      select (
        service.id, 'default', floor(extract(epoch from now()))::bigint + position, null, 1, 30, 'MANUAL', 'UP', null, 'by hand', null, null, null, null, null, null, 'me', null
      )::uptuple.health_record
      from unnest('{cart,shop,shop}'::text[], '{1,1,2}'::bigint[]) given (name, position)
      join uptuple.service on service.name = given.name
    ))`.execute();
  await untilBlocked(owner, backends[1]!);
  await gate`commit`;

  assert.deepEqual([...await reporting].map((row) => row.outcome), ["DELIVERED", "DELIVERED"]);
  await recording;
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "ops cart FAILED DELIVERED",
    "ops cart RECOVERED READY",
    "ops shop RECOVERED READY",
  ]);
});
