import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  claimOne,
  deliveries,
  events,
  fail,
  passTime,
  record,
  recover,
  violations,
} from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

async function count(owner: TestSql): Promise<Record<string, string>> {
  const [row] = await owner`
    select (select count(*) from uptuple.result) as results, (select count(*) from uptuple.incident) as incidents,
      (select count(*) from uptuple.event) as events, (select count(*) from uptuple.delivery) as deliveries,
      (select count(*) from uptuple.job) as jobs, (select failure_streak from uptuple.service_state) as failure_streak`;
  return { ...row };
}

Deno.test("DOWN DOWN DOWN DOWN UP UP gives exactly FAILED and RECOVERED with one incident id and six records", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addService(operator, "shop");
  await addChannel(operator, "ops");

  await record(operator, "shop", "DOWN", "DOWN", "DOWN", "DOWN", "UP", "UP");

  const [incident] = await owner`select id, closed_by from uptuple.incident`;
  assert.equal(incident.closed_by, "recovered");
  assert.deepEqual(await events(owner), [`shop FAILED ${incident.id}`, `shop RECOVERED ${incident.id}`]);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  const results = await owner`select status, applied_order from uptuple.result order by applied_order`;
  assert.deepEqual(
    results.map((result) => `${result.applied_order} ${result.status}`),
    ["1 DOWN", "2 DOWN", "3 DOWN", "4 DOWN", "5 UP", "6 UP"],
  );
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a rolled-back third DOWN leaves no trace, and the next one opens the incident", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const hasty = await database.connect();
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await record(owner, "shop", "DOWN", "DOWN");
  const before = await count(owner);

  await hasty`begin`;
  assert.notEqual((await record(hasty, "shop", "DOWN")).incident_id, null);
  await hasty`rollback`;

  assert.deepEqual(await count(owner), before);
  const third = await record(owner, "shop", "DOWN");
  assert.deepEqual(await events(owner), [`shop FAILED ${third.incident_id}`]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("notices are written whether or not a channel exists", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  const incident = await fail(owner, "shop");
  await recover(owner, "shop");

  assert.deepEqual(await events(owner), [`shop FAILED ${incident}`, `shop RECOVERED ${incident}`]);
  assert.deepEqual(await deliveries(owner), []);
});

Deno.test("a notice is delivered once to each channel", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");

  await fail(owner, "shop");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "boss shop FAILED READY"]);
  await assert.rejects(
    owner`insert into uptuple.delivery (event_number, channel_id, state) select event_number, channel_id, 'READY' from uptuple.delivery`,
    { code: "23505", constraint_name: "delivery_event_key" },
  );
});

Deno.test("the same notice cannot exist twice: who writes it again fails and leaves nothing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  const incident = await fail(owner, "shop");

  await assert.rejects(
    owner`
      select uptuple.write_notices(array[(
        'service.failed', service_id, 'default', id, clock_timestamp(), 4, null, 'again')::uptuple.transition])
      from uptuple.incident`,
    { code: "23505", constraint_name: "event_dedupe_key_key" },
  );

  assert.deepEqual(await events(owner), [`shop FAILED ${incident}`]);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
});

Deno.test("a notice says what happened where and why, and a recovery how long it was down", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(
      name => 'shop', url => 'http://127.0.0.1:8081/', group_name => 'sales', tags => '{eu,payments}', failure_threshold => 1)`;
  await addChannel(owner, "ops");
  const { incident_id } = await record(owner, "shop", "DOWN");
  await record(owner, "shop", "UP");

  const failed = await claimOne(owner);
  await answer(owner, failed, { status: 200 });
  const recovered = await claimOne(owner);

  const body = JSON.parse(failed.request.body);
  assert.deepEqual(Object.keys(body), ["type", "timestamp", "data"]);
  assert.equal(body.type, "service.failed");
  assert.match(body.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(body.data, {
    event_id: failed.event_id,
    incident_id: Number(incident_id),
    service: "shop",
    group: "sales",
    tags: ["eu", "payments"],
    region: "default",
    kind: "service.failed",
    severity: "critical",
    occurred_at: body.timestamp,
    code: "manual",
    reason: "it is DOWN",
    failing_since: body.data.failing_since,
  });
  const { data } = JSON.parse(recovered.request.body);
  assert.equal(data.kind, "service.recovered");
  assert.equal(data.incident_id, Number(incident_id));
  assert.equal(data.failing_since, body.data.failing_since);
  assert.equal(typeof data.down_seconds, "number");
});

Deno.test("a notice brings its event id as Idempotency-Key and webhook-id", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`
    select uptuple.add_channel(
      name => 'ops', url => 'https://hooks.example/x', headers => '{"Authorization": "Bearer \${UPTUPLE_SECRET_OPS}"}',
      signing_secrets => '{"\${UPTUPLE_SECRET_SIGNING}"}', timeout => '3 seconds')`;
  await fail(owner, "shop");
  const [event] = await owner`select event_id from uptuple.event`;

  const claimed = await claimOne(owner);

  assert.equal(claimed.event_id, event.event_id);
  assert.deepEqual({ ...claimed.request, body: null }, {
    method: "POST",
    url: "https://hooks.example/x",
    headers: {
      "Content-Type": "application/json",
      "Authorization": "Bearer ${UPTUPLE_SECRET_OPS}",
      "Idempotency-Key": event.event_id,
      "webhook-id": event.event_id,
    },
    body: null,
  });
  assert.deepEqual(claimed.signing_secrets, ["${UPTUPLE_SECRET_SIGNING}"]);
  assert.equal(claimed.timeout_ms, 3000);
  assert.equal(claimed.connect_timeout_ms, 2000);
});

Deno.test("a content type of the channel's own is sent once, however it is spelled", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`
    select uptuple.add_channel('ops', 'https://hooks.example/x', headers => '{"content-type": "application/cloudevents+json"}')`;
  await fail(owner, "shop");

  const { request } = await claimOne(owner);

  const types = Object.entries(request.headers).filter(([name]) => name.toLowerCase() === "content-type");
  assert.deepEqual(types, [["content-type", "application/cloudevents+json"]]);
});

Deno.test("event id and body are byte-identical in every attempt, whatever is changed meanwhile", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const elsewhere = await database.connect();
  await elsewhere.unsafe(
    "set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set intervalstyle = 'sql_standard'; set extra_float_digits = -3",
  );
  await addService(owner, "shop");
  await addChannel(owner, "ops", { maxAttempts: 3 });
  await fail(owner, "shop");

  const first = await claimOne(owner);
  await answer(owner, first, { status: 503 });
  await passTime(owner, "5 seconds");
  await owner`select uptuple.update_service('shop', new_name => 'cart', group_name => 'sales', tags => '{new}')`;
  const second = await claimOne(elsewhere);
  await passTime(owner, "30 seconds");
  await owner`select uptuple.update_channel('ops', new_name => 'team', url => 'https://hooks.example/moved', headers => '{"X-New": "1"}')`;
  const third = await claimOne(elsewhere);
  assert.equal(await answer(owner, third, { status: 500 }), "DEAD");
  const [requeued] = await owner`select uptuple.requeue_alert(${first.delivery_id}) as event_id`;
  const fourth = await claimOne(owner);

  assert.equal(requeued.event_id, first.event_id);
  assert.deepEqual([first.attempt, second.attempt, third.attempt, fourth.attempt], [1, 2, 3, 1]);
  assert.equal(fourth.request.url, "https://hooks.example/moved");
  for (const later of [second, third, fourth]) {
    assert.equal(later.request.body, first.request.body);
    assert.equal(later.event_id, first.event_id);
    assert.equal(later.request.headers["Idempotency-Key"], first.event_id);
    assert.equal(later.request.headers["webhook-id"], first.event_id);
  }
  assert.equal(JSON.parse(first.request.body).data.service, "shop");
});

Deno.test("hostile names and reasons make valid JSON bodies that say just that", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const name = `"}],\\ 'shop' <script>&amp; 🛒 ‮ \${UPTUPLE_SECRET_KEY} $1 %s`;
  const reason = `'; drop schema uptuple; -- \u0000"\\u0000\\" \u2028 \u001f 🔥`.replaceAll("\u0000", "");
  await owner`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:8081/', group_name => ${name}, tags => ${[
    name,
  ]})`;
  await owner`select uptuple.add_channel('ops', 'https://hooks.example/x')`;
  for (let count = 0; count < 3; count++) await owner`select uptuple.record_health(${name}, 'DOWN', ${reason})`;

  const { request } = await claimOne(owner);

  const { data } = JSON.parse(request.body);
  assert.equal(data.service, name);
  assert.equal(data.group, name);
  assert.deepEqual(data.tags, [name]);
  assert.equal(data.reason, reason.replace("\u001f", "\ufffd"));
});

Deno.test("a runtime is woken when a notice becomes ready, and not for one that waits", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const heard: string[] = [];
  const listener = await database.connect();
  await listener.listen("uptuple_alerts", () => heard.push("alerts"));
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await recover(owner, "shop");

  // Whatever was sent before this one has arrived once this one has.
  const { promise, resolve } = Promise.withResolvers<void>();
  await listener.listen("test_done", () => resolve());
  await owner`notify test_done`;
  await promise;
  assert.deepEqual(heard, ["alerts"]);
});
