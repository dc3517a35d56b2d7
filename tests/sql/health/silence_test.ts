import assert from "node:assert/strict";
import { fail, passTime, record } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

async function shown(owner: TestSql): Promise<string> {
  const [row] = await owner`select status from uptuple.status`;
  return row.status;
}

Deno.test("a service that was never checked is UNKNOWN", async () => {
  await using database = await testDatabase();
  await addService(database.owner, "shop");

  assert.equal(await shown(database.owner), "UNKNOWN");
});

for (
  const { every, within, after } of [
    { every: "1 second", within: "115 seconds", after: "121 seconds" },
    { every: "5 minutes", within: "14 minutes 55 seconds", after: "15 minutes 1 second" },
  ]
) {
  Deno.test(`a service checked every ${every} is UNKNOWN after ${after} without a result`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    await addService(owner, "shop", { every });
    await record(owner, "shop", "UP");

    await passTime(owner, within);
    assert.equal(await shown(owner), "UP");
    await owner`update uptuple.service_state set verdict_at = clock_timestamp() - ${after}::interval`;
    assert.equal(await shown(owner), "UNKNOWN");

    await record(owner, "shop", "UP");
    assert.equal(await shown(owner), "UP");
  });
}

Deno.test("a service that is silent is UNKNOWN also if it was down, and its incident stays open", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const incident = await fail(owner, "shop");

  await passTime(owner, "121 seconds");

  assert.equal(await shown(owner), "UNKNOWN");
  const [open] = await owner`select incident_id, state from uptuple.incidents`;
  assert.deepEqual({ ...open }, { incident_id: incident, state: "OPEN" });
});

Deno.test("checks that come to no verdict do not keep a service up", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await record(owner, "shop", "UP");

  await passTime(owner, "121 seconds");
  await record(owner, "shop", "INCONCLUSIVE");

  const [row] = await owner`select status, checked_status from uptuple.status`;
  assert.deepEqual({ ...row }, { status: "UNKNOWN", checked_status: "INCONCLUSIVE" });
});

Deno.test("a disabled service is PAUSED", async () => {
  await using database = await testDatabase();
  await addService(database.owner, "shop");
  await record(database.owner, "shop", "UP");

  await database.owner`select uptuple.disable_service('shop')`;

  assert.equal(await shown(database.owner), "PAUSED");
});
