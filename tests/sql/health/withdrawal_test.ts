import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, events, fail, record, violations } from "../../support/alerts.ts";
import { testDatabase } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

for (
  const { call, done } of [
    { call: "disable_service", done: "the service was disabled" },
    { call: "remove_service", done: "the service was removed" },
  ]
) {
  Deno.test(`${call} withdraws an open incident, and who got FAILED gets a RECOVERED with that reason`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    await addService(owner, "shop");
    await addChannel(owner, "ops");
    await addChannel(owner, "off");
    await owner`select uptuple.disable_channel('off')`;
    const incident = await fail(owner, "shop");

    await owner.unsafe(`select uptuple.${call}('shop')`);

    const [closed] = await owner`select id, closed_by from uptuple.incident`;
    assert.deepEqual({ ...closed }, { id: incident, closed_by: "withdrawn" });
    const [recovered] = await owner`
      select incident_id, data ->> 'code' as code, data ->> 'reason' as reason, (data ->> 'down_seconds')::float >= 0 as has_length
      from uptuple.event where kind = 'service.recovered'`;
    assert.deepEqual({ ...recovered }, { incident_id: incident, code: "withdrawn", reason: done, has_length: true });
    assert.deepEqual(await deliveries(owner), [
      "ops shop FAILED READY",
      "off shop FAILED SUPERSEDED",
      "ops shop RECOVERED WAITING",
      "off shop RECOVERED SUPERSEDED",
    ]);
    const sent = await answerAll(owner, { status: 200 });
    assert.deepEqual(sent.map((notice) => JSON.parse(notice.request.body).data.reason), ["it is DOWN", done]);
    assert.deepEqual(await violations(owner), []);
  });
}

Deno.test("disabling a service without an incident tells nobody, and a second time answers false", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await record(owner, "shop", "DOWN", "DOWN");

  const [first] = await owner`select uptuple.disable_service('shop') as done`;
  const [second] = await owner`select uptuple.disable_service('shop') as done`;

  assert.deepEqual([first.done, second.done], [true, false]);
  assert.deepEqual(await events(owner), []);
});

Deno.test("a service that is enabled again starts as UNKNOWN, and failing on opens a new incident", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const first = await fail(owner, "shop");
  await owner`select uptuple.disable_service('shop')`;

  await owner`select uptuple.enable_service('shop')`;
  const [shown] = await owner`select status, failure_streak, incident_id from uptuple.status`;
  assert.deepEqual({ ...shown }, { status: "UNKNOWN", failure_streak: 0, incident_id: null });

  assert.equal((await record(owner, "shop", "DOWN", "DOWN")).incident_id, null);
  const second = (await record(owner, "shop", "DOWN")).incident_id;
  assert.deepEqual(await events(owner), [`shop FAILED ${first}`, `shop RECOVERED ${first}`, `shop FAILED ${second}`]);
});

Deno.test("the name of a removed service is free, and its successor shares neither state nor incidents with it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const first = await fail(owner, "shop");
  await owner`select uptuple.remove_service('shop')`;

  await addService(owner, "shop");
  const second = await fail(owner, "shop");

  const incidents = await owner`select incident_id, state from uptuple.incidents order by incident_id`;
  assert.deepEqual([...incidents], [
    { incident_id: first, state: "WITHDRAWN" },
    { incident_id: second, state: "OPEN" },
  ]);
});

Deno.test("a check that was under way when its service was removed is stored and tells nobody", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 1 });
  const [job] = await owner`select * from uptuple.claim_job('probe')`;
  await owner`select uptuple.remove_service('shop')`;

  const [answer] = await owner`
    select uptuple.complete_job(${job.job_id}, ${job.owner_token}, '{"error": {"code": "connect.refused"}}') as accepted`;

  assert.equal(answer.accepted, true);
  const results = await owner`select status, applied_order from uptuple.result`;
  assert.deepEqual([...results], [{ status: "DOWN", applied_order: null }]);
  assert.deepEqual(await events(owner), []);
  assert.deepEqual(await violations(owner), []);
});
