import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  answerAll,
  claim,
  claimOne,
  deliveries,
  fail,
  recover,
  violations,
} from "../support/alerts.ts";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import { type TestDatabase, testDatabase, type TestSql } from "../support/database.ts";
import { end, plan } from "../support/maintenance.ts";
import { addService } from "../support/services.ts";

/** A service `shop` that is down and told of, with one channel, in maintenance for an hour; gives its number. */
async function downInMaintenance(): Promise<{ database: TestDatabase; maintenance: string }> {
  const database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`select uptuple.update_service('shop', group_name => 'web')`;
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  return { database, maintenance: await plan(owner, { groups: ["web"] }) };
}

/** Runs `first` in a transaction that stays open until `second`, on another connection, waits for it; gives what the second said. */
async function interleave<Answer>(
  database: TestDatabase,
  first: (sql: TestSql) => Promise<unknown>,
  second: (sql: TestSql) => Promise<Answer>,
): Promise<Answer> {
  const one = await database.connect();
  const other = await database.connect();
  const otherBackend = await backendOf(other);
  await one`begin`;
  await first(one);
  const pending = second(other);
  await untilBlocked(database.owner, otherBackend);
  await one`commit`;
  return await pending;
}

Deno.test("maintenance is planned while a batch writes a FAILED: neither waits, and the notice goes", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  const prober = await database.connect();
  await neverWait(owner);

  await prober`begin`;
  await fail(prober, "shop");
  await plan(owner, { services: ["shop"] });
  await prober`commit`;

  assert.equal((await claimOne(owner)).kind, "service.failed");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("maintenance is ended while a notice is being held: it sees the notice and lets it go", async () => {
  const { database, maintenance } = await downInMaintenance();
  await using _ = database;
  const { owner } = database;

  const letGo = await interleave(database, (sql) => recover(sql, "shop"), (sql) => end(sql, maintenance));

  assert.equal(letGo, 1);
  assert.equal((await claimOne(owner)).kind, "service.recovered");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice is written while maintenance is being ended: it waits for that, and is not held any more", async () => {
  const { database, maintenance } = await downInMaintenance();
  await using _ = database;
  const { owner } = database;

  await interleave(database, (sql) => end(sql, maintenance), (sql) => recover(sql, "shop"));

  assert.equal((await claimOne(owner)).kind, "service.recovered");
});

Deno.test("a notice is written while maintenance is being prolonged: it waits for the new end", async () => {
  const { database, maintenance } = await downInMaintenance();
  await using _ = database;
  const { owner } = database;

  await interleave(
    database,
    (sql) => sql`select uptuple.change_maintenance(${maintenance}, duration => '5 hours')`.execute(),
    (sql) => recover(sql, "shop"),
  );

  const [held] = await owner`
    select held_until > clock_timestamp() + interval '4 hours' as long from uptuple.delivery where state = 'READY'`;
  assert.equal(held.long, true);
});

Deno.test("a service leaves the group while its notice is being held: the notice goes", async () => {
  const { database } = await downInMaintenance();
  await using _ = database;

  await interleave(
    database,
    (sql) => recover(sql, "shop"),
    (sql) => sql`select uptuple.update_service('shop', group_name => '')`.execute(),
  );

  assert.equal((await claimOne(database.owner)).kind, "service.recovered");
});

Deno.test("maintenance is ended while a claim takes the older notice: the one behind it goes right after", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const maintenance = await plan(owner, { services: ["shop"] });
  await recover(owner, "shop");

  await interleave(database, claimOne, (sql) => end(sql, maintenance));
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED SENDING", "ops shop RECOVERED WAITING"]);
  const [sending] = await owner`select id as delivery_id, claim_token from uptuple.delivery where state = 'SENDING'`;
  await answer(owner, sending as { delivery_id: string; claim_token: string }, { status: 200 });

  assert.equal((await claimOne(owner)).kind, "service.recovered");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a claim that runs while maintenance is being ended does not wait, and takes the notice afterwards", async () => {
  const { database, maintenance } = await downInMaintenance();
  await using _ = database;
  const { owner } = database;
  await recover(owner, "shop");
  const operator = await database.connect();
  await neverWait(owner);

  await operator`begin`;
  await end(operator, maintenance);
  assert.deepEqual(await claim(owner), []);
  await operator`commit`;

  assert.equal((await claimOne(owner)).kind, "service.recovered");
});

for (const channelFirst of [true, false]) {
  const order = channelFirst
    ? "a channel is added, then maintenance ended"
    : "maintenance is ended, then a channel added";
  Deno.test(`at the same moment ${order}: no deadlock, and the FAILED of the open incident goes`, async () => {
    const { database, maintenance } = await downInMaintenance();
    await using _ = database;
    const { owner } = database;
    const add = (sql: TestSql): Promise<unknown> => addChannel(sql, "late");
    const stop = (sql: TestSql): Promise<unknown> => end(sql, maintenance);

    await (channelFirst ? interleave(database, add, stop) : interleave(database, stop, add));

    assert.deepEqual((await claim(owner)).map(({ channel, kind }) => [channel, kind]), [["late", "service.failed"]]);
    assert.deepEqual(await violations(owner), []);
  });
}

Deno.test("a schedule is changed while occurrences are made ahead: none of the old one are left", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.plan_maintenance(everything => true, cron => '0 3 * * *', duration => '1 hour')`;
  await owner`delete from uptuple.maintenance_occurrence`;
  await owner`update uptuple.maintenance_window set made_until = clock_timestamp()`;

  await interleave(
    database,
    (sql) => sql`select uptuple.extend_maintenance()`.execute(),
    (sql) => sql`select uptuple.change_maintenance(1, cron => '30 4 * * *')`.execute(),
  );

  const rows = await owner`
    select distinct to_char(lower(during) at time zone 'UTC', 'HH24:MI') as starts from uptuple.maintenance_occurrence`;
  assert.deepEqual(rows.map(({ starts }) => starts), ["04:30"]);
});
