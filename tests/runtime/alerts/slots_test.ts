import assert from "node:assert/strict";
import { createAlertLoop } from "../../../src/alerts/alert_loop.ts";
import { connect } from "../../../src/database/connect.ts";
import { NODE_TRANSPORT } from "../../../src/jobs/http/transport.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import { secretStore } from "../../../src/secrets.ts";
import { createShift } from "../../../src/shift.ts";
import { testDatabase } from "../../support/database.ts";
import { receiver, staysSilent } from "../../support/receivers.ts";
import { answer, says } from "../../support/targets.ts";
import { until } from "../../support/wait.ts";

/** Runs the loop of one runtime that only delivers. */
function delivering(url: string): AsyncDisposable {
  const database = connect({ url, maxConnections: 4 });
  const loop = createAlertLoop({
    database,
    worker: "courier",
    secrets: secretStore(() => undefined),
    transport: () => Promise.resolve(NODE_TRANSPORT),
    policy: networkPolicy(),
  });
  const shift = createShift();
  shift.extend(60_000);
  const running = loop.run(shift);
  return {
    async [Symbol.asyncDispose]() {
      shift.stop();
      await running;
      await database.close();
    },
  };
}

Deno.test("receivers that never answer hold no more than four slots each, for their timeout, and others are told meanwhile", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await using silent = await receiver(staysSilent());
  await using quick = await receiver(says(answer("200 OK")));
  await owner`
    select uptuple.add_channel(name => 'silent ' || n, url => ${silent.url}, timeout => '2 seconds')
    from generate_series(1, 3) n`;
  await owner`select uptuple.add_channel(name => 'quick', url => ${quick.url})`;
  await owner`
    select uptuple.add_service(name => 'service ' || n, url => 'http://127.0.0.1:1/', failure_threshold => 1)
    from generate_series(1, 10) n`;
  await owner`select uptuple.record_health('service ' || n, 'DOWN', 'HTTP 503') from generate_series(1, 10) n`;
  await using _courier = delivering(database.url);

  await until("the quick one has been told of everything", async () => {
    const [row] = await owner`
      select count(*)::integer as told from uptuple.delivery join uptuple.channel on channel.id = channel_id
      where channel.name = 'quick' and state = 'DELIVERED'`;
    return row.told === 10;
  });
  const [meanwhile] = await owner`
    select max(sending)::integer as most, sum(attempts)::integer as attempts
    from (
      select channel_id, count(*) filter (where state = 'SENDING') as sending, max(attempts) as attempts
      from uptuple.delivery join uptuple.channel on channel.id = channel_id
      where channel.name <> 'quick'
      group by channel_id
    ) each`;
  assert.deepEqual({ ...meanwhile }, { most: 4, attempts: 3 });

  await until("the silent ones have had their time", async () => {
    const [row] = await owner`select count(*)::integer as n from uptuple.delivery_attempts where outcome = 'RETRY'`;
    return row.n >= 12;
  });
  const [evidence] = await owner`
    select min(latency_ms) as shortest, max(latency_ms) as longest, min(answer) as said, max(answer) as also
    from uptuple.delivery_attempts where outcome = 'RETRY'`;
  assert.ok(evidence.shortest >= 1990 && evidence.longest < 4000, JSON.stringify(evidence));
  assert.equal(evidence.said, evidence.also);
  assert.match(evidence.said, /within 2000 ms$/);
});

Deno.test("a receiver that fails, redirects, resets and then works gets each notice under one id, and the recovery after the failure", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const reactions = [says(answer("500 Oops")), says(answer("302 Found", ["Location: http://127.0.0.1:1/"]))];
  await using server = await receiver((socket, request, index) => {
    const react = reactions[index] ?? says(answer("200 OK"));
    react(socket, request, index);
  });
  await owner`select uptuple.add_channel(name => 'ops', url => ${server.url})`;
  await owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/', failure_threshold => 1)`;
  await owner`select uptuple.record_health('inventory', 'DOWN', 'HTTP 503')`;
  await owner`select uptuple.record_health('inventory', 'UP', 'HTTP 200')`;
  await using _courier = delivering(database.url);

  for (const failures of [1, 2]) {
    await until("it failed", async () => {
      const [row] = await owner`select count(*)::integer as n from uptuple.delivery_attempts where outcome = 'RETRY'`;
      return row.n === failures;
    });
    await owner`update uptuple.delivery set due_at = clock_timestamp() where state = 'READY'`;
  }
  await until("all is told", async () => {
    const [row] = await owner`select count(*)::integer as n from uptuple.delivery where state = 'DELIVERED'`;
    return row.n === 2;
  });

  const posts = server.posts.map(({ body }) => JSON.parse(body));
  assert.deepEqual(posts.map(({ type }) => type), [
    "service.failed",
    "service.failed",
    "service.failed",
    "service.recovered",
  ]);
  assert.equal(new Set(server.posts.slice(0, 3).map(({ body }) => body)).size, 1);
  const attempts = await owner`select attempt, outcome, status, kind from uptuple.delivery_attempts`;
  assert.deepEqual([...attempts].map((row) => `${row.kind} ${row.attempt} ${row.outcome} ${row.status}`), [
    "service.failed 1 RETRY 500",
    "service.failed 2 RETRY 302",
    "service.failed 3 DELIVERED 200",
    "service.recovered 1 DELIVERED 200",
  ]);
});
