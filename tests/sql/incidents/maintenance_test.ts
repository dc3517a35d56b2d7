import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, fail, record, tellDue, violations } from "../../support/alerts.ts";
import { testDatabase } from "../../support/database.ts";
import { addService, letTimePass } from "../../support/services.ts";

Deno.test("there are neither reminders nor escalations while a service is in maintenance", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await owner`select uptuple.set_reminders('ops', '10 minutes'), uptuple.escalate('boss', '10 minutes')`;
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await owner`
    select uptuple.plan_maintenance('move', services => '{shop}', starts_at => clock_timestamp(), duration => '2 hours')`;
  await letTimePass(owner, 1200);

  assert.equal(await tellDue(owner), 0);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED"]);
});

Deno.test("a failure whose parent is down in maintenance is withheld", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "db");
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await owner`select uptuple.depends_on('shop', 'db')`;
  await owner`
    select uptuple.plan_maintenance('move', services => '{db}', starts_at => clock_timestamp(), duration => '2 hours')`;
  await record(owner, "shop", "DOWN", "DOWN");
  await record(owner, "db", "DOWN", "DOWN", "DOWN", "DOWN");
  await record(owner, "shop", "DOWN");

  assert.deepEqual(await deliveries(owner), []);
  assert.deepEqual(await violations(owner), []);
});
