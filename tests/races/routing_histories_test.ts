import assert from "node:assert/strict";
import {
  addChannel,
  answerAll,
  claim,
  type ClaimedAlert,
  passTime,
  record,
  tellDue,
  violations,
} from "../support/alerts.ts";
import { testDatabase, type TestSql } from "../support/database.ts";
import { chanceFrom } from "../support/random.ts";
import { type RoutedChannel, type RoutedService, RoutingModel } from "../support/routing_model.ts";
import { addService, letTimePass } from "../support/services.ts";

const TAGS = ["red", "blue"];

async function addAll(sql: TestSql): Promise<RoutingModel> {
  const services: RoutedService[] = [["shop", "red"], ["cart", "red"], ["desk", "blue"]]
    .map(([name = "", tag = ""]) => ({ name, tag, incident: null }));
  const channels: RoutedChannel[] = ["ops", "team", "boss"]
    .map((name) => ({ name, routes: new Set(), escalateAfter: null, remindEvery: null, enabled: true }));
  for (const { name, tag } of services) {
    await addService(sql, name, { every: "1 day", failureThreshold: 1 });
    await sql`select uptuple.update_service(${name}, tags => ${[tag]})`;
  }
  for (const { name } of channels) await addChannel(sql, name);
  return new RoutingModel(services, channels);
}

/** Deliveries as the model has them. Reminders and escalations of one call have no order among channels that matters. */
async function linesOf(sql: TestSql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select concat_ws(' ', channel.name, service.name, upper(split_part(event.kind, '.', 2)),
      case when delivery.state = 'SUPERSEDED' then 'superseded' end) as line
    from uptuple.delivery
    join uptuple.event on event.id = delivery.event_number
    join uptuple.channel on channel.id = delivery.channel_id
    join uptuple.service on service.id = delivery.service_id`;
  return rows.map((row) => row.line);
}

for (const seed of [1, 2, 3, 4]) {
  Deno.test(`a random history of failures, routes, reminders and acknowledgements goes as the rules say (${seed})`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    const chance = chanceFrom(seed);
    const model = await addAll(owner);
    const history: string[] = [];

    const actions: (() => Promise<string>)[] = [
      async () => {
        const service = chance.pick(model.services);
        const status = chance.pick(["UP", "DOWN"]);
        await record(owner, service.name, status);
        model.record(service, status === "UP");
        return `${service.name} is ${status}`;
      },
      async () => {
        const minutes = chance.pick([1, 4, 9, 30]);
        await letTimePass(owner, minutes * 60);
        model.now += minutes;
        await tellDue(owner);
        model.tellDue();
        return `${minutes} minutes pass`;
      },
      async () => {
        await answerAll(owner, { status: 200 });
        model.send();
        return "all is sent";
      },
      async () => {
        const service = chance.pick(model.services);
        if (service.incident === null) return "nothing";
        const isGiven = chance.percent(60);
        if (isGiven) {
          await owner`select uptuple.acknowledge(${service.name})`;
          model.acknowledge(service.incident);
        } else {
          await owner`select uptuple.unacknowledge(${service.name})`;
          model.unacknowledge(service.incident);
        }
        return `${service.name} is ${isGiven ? "" : "un"}acknowledged`;
      },
      async () => {
        const channel = chance.pick(model.channels);
        await owner`select uptuple.unroute(${channel.name})`;
        channel.routes.clear();
        channel.escalateAfter = null;
        if (chance.percent(30)) return `${channel.name} gets everything`;
        if (chance.percent(30)) {
          await owner`select uptuple.escalate(${channel.name}, '8 minutes')`;
          channel.escalateAfter = 8;
        }
        if (chance.percent(70)) {
          const tag = chance.pick(TAGS);
          await owner`select uptuple.route(${channel.name}, tags => ${[tag]})`;
          channel.routes.add(tag);
        }
        return `${channel.name} gets ${[...channel.routes]} and after ${channel.escalateAfter} minutes all`;
      },
      async () => {
        const channel = chance.pick(model.channels);
        const minutes = chance.pick([null, 5, 12]);
        await owner`select uptuple.set_reminders(${channel.name}, ${
          minutes === null ? null : `${minutes} minutes`
        }::interval)`;
        channel.remindEvery = minutes;
        return `${channel.name} is reminded every ${minutes} minutes`;
      },
      async () => {
        const channel = chance.pick(model.channels);
        if (channel.enabled && chance.percent(30)) {
          await owner`select uptuple.disable_channel(${channel.name})`;
          channel.enabled = false;
          return `${channel.name} is disabled`;
        }
        await owner`select uptuple.enable_channel(${channel.name})`;
        model.enable(channel);
        return `${channel.name} is enabled`;
      },
    ];
    for (let step = 0; step < 120; step++) {
      history.push(await chance.pick([...actions.slice(0, 3), ...actions])());
      assert.deepEqual((await linesOf(owner)).sort(), model.lines().sort(), history.join("\n"));
      assert.deepEqual(await violations(owner), [], history.join("\n"));
    }
    assert.ok(model.lines().some((line) => line.endsWith("REMINDER")));
  });
}

Deno.test("runtimes that tell what is due, couriers and people do everything at once: no deadlock, nothing lost, no invariant broken", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = ["host", "db", "shop", "cart", "desk"];
  for (const name of names) {
    await addService(owner, name, { every: "1 day", failureThreshold: 1, damping: name !== "desk" });
  }
  for (const name of ["ops", "boss"]) await addChannel(owner, name, { maxAttempts: 2 });
  await owner`select uptuple.set_grouping('ops', '1 second'), uptuple.depends_on('db', 'host'), uptuple.depends_on('shop', 'db')`;

  await Promise.all([1, 2, 3, 4].map(async (seed) => {
    const sql = await database.connect();
    const chance = chanceFrom(seed);
    const held: ClaimedAlert[] = [];
    const anyDelivery = async () => {
      const [newest] = await sql`select coalesce(max(id), 0)::int as id from uptuple.delivery`;
      return 1 + chance.below(newest.id + 1);
    };
    const actions: (() => Promise<unknown>)[] = [
      () => record(sql, chance.pick(names), chance.pick(["UP", "DOWN", "DEGRADED"])),
      () => record(sql, chance.pick(names), chance.pick(["UP", "DOWN"])),
      () => tellDue(sql),
      async () => {
        await sql`
          update uptuple.incident set look_at = clock_timestamp(), waiting_since = waiting_since - interval '1 hour'
          where id in (select id from uptuple.incident where closed_at is null order by id for no key update skip locked)`;
        await tellDue(sql);
      },
      async () => held.push(...await claim(sql, 3)),
      async () => {
        const answers = held.splice(0, 3).map(({ delivery_id, claim_token }) => ({
          delivery_id,
          claim_token,
          response: { status: chance.pick([200, 200, 503, 422]) },
        }));
        await sql`select * from uptuple.finish_alerts(${sql.json(answers)})`;
      },
      async () => allowingRefusal(sql`select uptuple.requeue_alert(${await anyDelivery()})`),
      async () => allowingRefusal(sql`select uptuple.discard_alert(${await anyDelivery()}, 'known')`),
      () => allowingRefusal(sql`select uptuple.acknowledge(${chance.pick(names)})`),
      () => allowingRefusal(sql`select uptuple.unacknowledge(${chance.pick(names)})`),
      () => sql`select uptuple.unroute('boss'), uptuple.route('boss', services => ${[chance.pick(names)]})`,
      () => sql`select uptuple.escalate('ops', '10 minutes'), uptuple.set_reminders('boss', '10 minutes')`,
      () => sql`select uptuple.unroute('ops'), uptuple.set_reminders('boss', null)`,
      () => chance.pick([sql`select uptuple.disable_channel('ops')`, sql`select uptuple.enable_channel('ops')`]),
      () => chance.pick([sql`select uptuple.disable_service('cart')`, sql`select uptuple.enable_service('cart')`]),
      () => sql`select uptuple.set_damping('desk', ${chance.percent(50)})`,
    ];
    for (let step = 0; step < 80; step++) await chance.pick(actions)();
  }));

  assert.deepEqual(await violations(owner), []);
  await owner`select uptuple.enable_channel('ops'), uptuple.update_channel('ops'), uptuple.update_channel('boss')`;
  await owner`select uptuple.set_reminders('boss', null)`;
  for (let turn = 0; turn < 50; turn++) {
    await passTime(owner, "1 minute");
    await tellDue(owner);
    if ((await answerAll(owner, { status: 200 })).length === 0) break;
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
