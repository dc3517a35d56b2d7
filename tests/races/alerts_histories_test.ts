import assert from "node:assert/strict";
import { addChannel, answer, claim, type ClaimedAlert, passTime, record, violations } from "../support/alerts.ts";
import { AlertsModel, type ModelDelivery } from "../support/alerts_model.ts";
import { testDatabase, type TestSql } from "../support/database.ts";
import { chanceFrom } from "../support/random.ts";
import { addService } from "../support/services.ts";

const SERVICES = ["shop", "cart", "desk"];
const CHANNELS = [{ name: "ops", strict: false, maxAttempts: 2 }, { name: "boss", strict: true, maxAttempts: 3 }];
const FAILURE_THRESHOLD = 2;

/** Drives the database and the model side by side. */
async function playHistory(sql: TestSql, seed: number, steps: number): Promise<AlertsModel> {
  const chance = chanceFrom(seed);
  const model = new AlertsModel(SERVICES, CHANNELS, FAILURE_THRESHOLD);
  for (const name of SERVICES) await addService(sql, name, { every: "1 day", failureThreshold: FAILURE_THRESHOLD });
  for (const { name, strict, maxAttempts } of CHANNELS) {
    await addChannel(sql, name, { ordering: strict ? "strict" : "incident", maxAttempts });
  }
  // Notices about dead notices are not in the model: they have just been told.
  await sql`update uptuple.channel set dead_told_at = clock_timestamp()`;
  /** What couriers hold, also after their leases have ended. */
  const held: { claimed: ClaimedAlert; delivery: ModelDelivery; ended: boolean }[] = [];
  const eventIds = new Map<string, number>();

  async function rowOf(delivery: ModelDelivery): Promise<string> {
    const [row] = await sql`
      select delivery.id from uptuple.delivery join uptuple.channel on channel.id = channel_id
      where channel.name = ${delivery.channel.name}
        and event_number = (select id from uptuple.event order by id offset ${
      model.events.indexOf(delivery.event)
    } limit 1)`;
    return row.id;
  }

  async function claimSome(): Promise<void> {
    for (const claimed of await claim(sql, 1 + chance.below(8))) {
      if (!eventIds.has(claimed.event_id)) {
        const [row] =
          await sql`select count(*)::int as older from uptuple.event where id < (select id from uptuple.event where event_id = ${claimed.event_id})`;
        eventIds.set(claimed.event_id, row.older);
      }
      const event = model.events[eventIds.get(claimed.event_id)!];
      const delivery = model.deliveries.find((each) => each.event === event && each.channel.name === claimed.channel);
      assert.ok(
        delivery !== undefined && model.mayBeClaimed(delivery),
        `${claimed.kind} was claimed, and the model says ${delivery && model.stateOf(delivery)}`,
      );
      model.claim(delivery);
      assert.equal(claimed.attempt, delivery.attempts);
      held.push({ claimed, delivery, ended: false });
    }
  }

  async function answerOne(): Promise<void> {
    const [item] = held.splice(chance.below(held.length), 1);
    if (item === undefined) return;
    const status = chance.pick([200, 200, 200, 503, 503, 422, 401, 429] as const);
    const said = await answer(sql, item.claimed, { status, retry_after: "60" });
    assert.equal(said, item.ended ? "REFUSED" : model.answer(item.delivery, status));
  }

  async function releaseOne(): Promise<void> {
    const [item] = held.splice(chance.below(held.length), 1);
    if (item === undefined) return;
    const [row] = await sql`select uptuple.release_alerts(${[item.claimed.delivery_id]}, ${[
      item.claimed.claim_token,
    ]}) as count`;
    assert.equal(row.count, item.ended ? 0 : 1);
    if (!item.ended) model.release(item.delivery);
  }

  async function letTimePass(time: string): Promise<void> {
    await passTime(sql, time);
    await sql`select * from uptuple.sweep()`;
    model.endLeases();
    for (const item of held) item.ended = true;
  }

  async function byPerson(call: "requeue_alert" | "discard_alert"): Promise<void> {
    if (model.deliveries.length === 0) return;
    const delivery = chance.pick(model.deliveries);
    const row = await rowOf(delivery);
    const allowed = call === "requeue_alert" ? model.requeue(delivery) : model.discard(delivery);
    const called = call === "requeue_alert"
      ? sql`select uptuple.requeue_alert(${row})`
      : sql`select uptuple.discard_alert(${row}, 'known')`;
    if (allowed) await called;
    else await assert.rejects(called, { code: "UT002" });
  }

  async function toggleChannel(): Promise<void> {
    const channel = model.channels.find((each) => !each.enabled) ?? chance.pick(model.channels);
    if (channel.enabled) {
      await sql`select uptuple.disable_channel(${channel.name})`;
      channel.enabled = false;
    } else {
      await sql`select uptuple.enable_channel(${channel.name})`;
      model.enableChannel(channel);
    }
  }

  async function changeOrdering(): Promise<void> {
    const channel = chance.pick(model.channels);
    channel.strict = !channel.strict;
    model.reopen(channel);
    await sql`select uptuple.update_channel(${channel.name}, ordering => ${channel.strict ? "strict" : "incident"})`;
  }

  async function toggleService(): Promise<void> {
    const service = model.services.find((each) => !each.enabled) ?? chance.pick(model.services);
    if (service.enabled) {
      await sql`select uptuple.disable_service(${service.name})`;
      model.disableService(service);
    } else {
      await sql`select uptuple.enable_service(${service.name})`;
      service.enabled = true;
    }
  }

  async function recordOne(): Promise<void> {
    const service = chance.pick(model.services);
    const status = chance.pick(["UP", "DOWN", "DOWN", "UP", "INCONCLUSIVE", "DOWN"]);
    await record(sql, service.name, status);
    if (status !== "INCONCLUSIVE") model.record(service, status !== "DOWN");
  }

  const actions: [weight: number, action: () => Promise<void>][] = [
    [30, recordOne],
    [20, claimSome],
    [24, answerOne],
    [3, releaseOne],
    [6, () => letTimePass("40 seconds")],
    [6, () => letTimePass("10 minutes")],
    [5, () => byPerson("requeue_alert")],
    [4, () => byPerson("discard_alert")],
    [3, toggleChannel],
    [2, changeOrdering],
    [2, toggleService],
  ];
  const lots = actions.flatMap(([weight, action]) => Array<typeof action>(weight).fill(action));
  for (let step = 0; step < steps; step++) {
    await chance.pick(lots)();
    await compare(sql, model, `seed ${seed}, step ${step}`);
  }

  // The network is back and nobody interferes: everything that is not held by a dead one arrives.
  for (let turn = 0; turn < 200; turn++) {
    await letTimePass("1 hour");
    const before = held.length;
    await claimSome();
    const claimedNow = held.splice(before);
    if (claimedNow.length === 0) break;
    for (const { claimed, delivery } of claimedNow) {
      assert.equal(await answer(sql, claimed, { status: 200 }), model.answer(delivery, 200));
    }
  }
  await compare(sql, model, `seed ${seed}, at the end`);
  return model;
}

/** Every delivery has the state and the attempts that the model says, and no invariant is broken. */
async function compare(sql: TestSql, model: AlertsModel, when: string): Promise<void> {
  const rows = await sql`
    select format('%s %s %s %s', channel.name, row_number, delivery.state, delivery.attempts) as line
    from (select id, row_number() over (order by id) - 1 as row_number from uptuple.event) numbered
    join uptuple.delivery on event_number = numbered.id
    join uptuple.channel on channel.id = channel_id
    order by numbered.id, channel.id`;
  const expected = model.deliveries
    .toSorted((left, right) => model.events.indexOf(left.event) - model.events.indexOf(right.event))
    .map((each) => `${each.channel.name} ${model.events.indexOf(each.event)} ${model.stateOf(each)} ${each.attempts}`);
  assert.deepEqual([...rows].map((row) => row.line), expected, when);
  assert.deepEqual(await violations(sql), [], when);
}

for (const seed of [1, 2, 3]) {
  Deno.test(`a random history of verdicts, answers, crashes and people goes as the rules say (${seed})`, async () => {
    await using database = await testDatabase();
    const model = await playHistory(database.owner, seed, 150);

    const states = new Set(model.deliveries.map((each) => model.stateOf(each)));
    assert.ok(states.has("DELIVERED"));
    for (const delivery of model.deliveries.filter((each) => each.channel.enabled)) {
      assert.ok(
        ["DELIVERED", "DEAD", "HELD", "DISCARDED", "SUPERSEDED"].includes(model.stateOf(delivery)),
        model.stateOf(delivery),
      );
    }
  });
}

Deno.test("couriers, probers and people do everything at once: no deadlock, nothing lost, no invariant broken", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const name of SERVICES) await addService(owner, name, { every: "1 day", failureThreshold: 1 });
  for (const { name, strict } of CHANNELS) {
    await addChannel(owner, name, { ordering: strict ? "strict" : "incident", maxAttempts: 2 });
  }

  await Promise.all([1, 2, 3, 4].map(async (seed) => {
    const sql = await database.connect();
    const chance = chanceFrom(seed);
    const anyDelivery = async () => {
      const [newest] = await sql`select coalesce(max(id), 0)::int as id from uptuple.delivery`;
      return 1 + chance.below(newest.id + 1);
    };
    const held: ClaimedAlert[] = [];

    const actions: (() => Promise<unknown>)[] = [
      () => record(sql, chance.pick(SERVICES), chance.pick(["UP", "DOWN"])),
      () => record(sql, chance.pick(SERVICES), chance.pick(["UP", "DOWN"])),
      async () => held.push(...await claim(sql, 3)),
      async () => held.push(...await claim(sql, 3)),
      async () => {
        const answers = held.splice(0, 3).reverse().map(({ delivery_id, claim_token }) => ({
          delivery_id,
          claim_token,
          response: { status: chance.pick([200, 200, 503, 422]) },
        }));
        await sql`select * from uptuple.finish_alerts(${sql.json(answers)})`;
      },
      async () => {
        const given = held.splice(0, 1);
        await sql`select uptuple.release_alerts(${given.map((each) => each.delivery_id)}::bigint[], ${
          given.map((each) => each.claim_token)
        }::uuid[])`;
      },
      async () => sql`update uptuple.delivery set due_at = clock_timestamp() where id = ${await anyDelivery()}`,
      async () => allowingRefusal(sql`select uptuple.requeue_alert(${await anyDelivery()})`),
      async () => allowingRefusal(sql`select uptuple.discard_alert(${await anyDelivery()}, 'known')`),
      () => chance.pick([sql`select uptuple.disable_channel('ops')`, sql`select uptuple.enable_channel('ops')`]),
      () => sql`select uptuple.update_channel('boss', ordering => ${chance.pick(["strict", "incident"])})`,
      () => chance.pick([sql`select uptuple.disable_service('desk')`, sql`select uptuple.enable_service('desk')`]),
    ];
    for (let step = 0; step < 60; step++) await chance.pick(actions)();
  }));

  assert.deepEqual(await violations(owner), []);
  await owner`select uptuple.enable_channel('ops'), uptuple.update_channel('ops'), uptuple.update_channel('boss')`;
  for (let turn = 0; turn < 100; turn++) {
    await passTime(owner, "1 hour");
    const claimed = await claim(owner);
    if (claimed.length === 0) break;
    for (const each of claimed) await answer(owner, each, { status: 200 });
  }
  assert.deepEqual(await violations(owner), []);
  const unsent = await owner`select distinct state from uptuple.deliveries_backlog where state <> 'HELD'`;
  assert.deepEqual([...unsent], []);
});

/** A refusal by rule is an answer like any other; whatever else goes wrong is not. */
async function allowingRefusal(call: Promise<unknown>): Promise<void> {
  await call.catch((error: Error & { code?: string }) => {
    if (error.code !== "UT002" && error.code !== "UT001") throw error;
  });
}
