import assert from "node:assert/strict";
import { startReceiver } from "../../scripts/example_receiver.ts";
import { testDatabase, type TestSql } from "../support/database.ts";
import { startWorker } from "../support/runtime.ts";
import { ownServer } from "../support/server.ts";
import { until } from "../support/wait.ts";
import { outcome, switchableTarget, untilDelivered, untilStatus, watch } from "../support/watched.ts";
import { openClient } from "../../src/database/client.ts";
import { migrate } from "../../src/database/migrate.ts";

const KEPT = { violations: [], unexplained: 0 };

/** The kinds that the example receiver stored, in order. */
async function stored(sql: TestSql): Promise<string[]> {
  const rows = await sql<
    { type: string }[]
  >`
    select body::json ->> 'type' as type from example_receiver.notice order by arrival`;
  return rows.map((row) => row?.type ?? "");
}

/** Time moved by moving rows: every lease that a killed runtime held is over now. */
async function endLeasesOf(sql: TestSql, worker: string): Promise<void> {
  await sql`update uptuple.job set due_at = clock_timestamp() where state = 'RUNNING' and worker = ${worker}`;
  await sql`update uptuple.delivery set due_at = clock_timestamp() where state = 'SENDING' and worker = ${worker}`;
}

/** Every notice that waits for its next attempt is due now. */
async function makeRetriesDue(sql: TestSql): Promise<void> {
  await sql`update uptuple.delivery set due_at = clock_timestamp() where state = 'READY' and due_at > clock_timestamp()`;
}

Deno.test("two runtimes tell of one failure and one recovery, once each and in order", async () => {
  await using database = await testDatabase();
  await using target = switchableTarget();
  await using receiver = await startReceiver({ port: 0, url: database.url });
  await watch(database.owner, target.url, receiver.url);
  await using first = startWorker(database.url);
  await using second = startWorker(database.url);
  await Promise.all([first.ready, second.ready]);
  await untilStatus(database.owner, "UP");

  target.answer(503);
  await untilStatus(database.owner, "DOWN");
  target.answer(200);
  await untilStatus(database.owner, "UP");
  await untilDelivered(database.owner, 2);
  await until("both runtimes have worked", async () => {
    const [row] = await database.owner`select count(distinct worker)::integer as n from uptuple.result`;
    return row.n === 2;
  });

  assert.deepEqual(await stored(database.owner), ["service.failed", "service.recovered"]);
  const { verdicts, ...kept } = await outcome(database);
  assert.ok(verdicts >= 4);
  assert.deepEqual(kept, KEPT);
});

Deno.test("a runtime that is killed after it claimed a check is replaced, and nothing is told twice", async () => {
  await using database = await testDatabase();
  await using target = switchableTarget();
  await using receiver = await startReceiver({ port: 0, url: database.url });
  await watch(database.owner, target.url, receiver.url);
  await using victim = startWorker(database.url);
  await victim.ready;
  await untilStatus(database.owner, "UP");

  target.hang();
  await until("the victim is in the middle of a check", async () => {
    const rows = await database.owner<object[]>`
      select from uptuple.job where state = 'RUNNING' and worker = ${victim.worker()}`;
    return rows.length > 0;
  });
  await victim.end("SIGKILL");
  target.answer(503);
  await using heir = startWorker(database.url);
  await heir.ready;
  await endLeasesOf(database.owner, victim.worker());
  await untilStatus(database.owner, "DOWN");
  target.answer(200);
  await untilStatus(database.owner, "UP");
  await untilDelivered(database.owner, 2);

  assert.deepEqual(await stored(database.owner), ["service.failed", "service.recovered"]);
  const { verdicts: _verdicts, ...kept } = await outcome(database);
  assert.deepEqual(kept, KEPT);
});

Deno.test("a receiver that answers 503 for a while gets the notice later, under the same id, and the recovery after it", async () => {
  await using database = await testDatabase();
  await using target = switchableTarget();
  await using receiver = await startReceiver({ port: 0, url: database.url });
  const ids: (string | null)[] = [];
  let refusals = 2;
  const gate = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    ids.push(request.headers.get("idempotency-key"));
    if (refusals-- > 0) return new Response("busy", { status: 503 });
    return await fetch(receiver.url, { method: "POST", headers: request.headers, body: await request.text() });
  });
  await watch(database.owner, target.url, `http://127.0.0.1:${gate.addr.port}/`);
  await using runtime = startWorker(database.url);
  await runtime.ready;
  await untilStatus(database.owner, "UP");

  target.answer(503);
  await untilStatus(database.owner, "DOWN");
  target.answer(200);
  await untilStatus(database.owner, "UP");
  await until("both notices are delivered", async () => {
    await makeRetriesDue(database.owner);
    const [row] = await database.owner`select count(*)::integer as n from uptuple.delivery where state = 'DELIVERED'`;
    return row.n === 2;
  });
  await gate.shutdown();

  assert.deepEqual(await stored(database.owner), ["service.failed", "service.recovered"]);
  assert.equal(ids.length, 4);
  assert.equal(new Set(ids.slice(0, 3)).size, 1);
  const { verdicts: _verdicts, ...kept } = await outcome(database);
  assert.deepEqual(kept, KEPT);
});

Deno.test("a runtime that is killed between a receiver's acceptance and its own acknowledgement doubles nothing", async () => {
  await using database = await testDatabase();
  await using target = switchableTarget();
  const accepted = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<void>();
  await using receiver = await startReceiver({ port: 0, url: database.url });
  let posts = 0;
  // The receiver has stored the notice; its answer never reaches the runtime, which is dead by then.
  const gate = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const first = posts++ === 0;
    const answer = await fetch(receiver.url, { method: "POST", headers: request.headers, body: await request.text() });
    if (first) {
      accepted.resolve();
      await killed.promise;
    }
    return answer;
  });
  await watch(database.owner, target.url, `http://127.0.0.1:${gate.addr.port}/`);
  await using victim = startWorker(database.url);
  await victim.ready;
  await untilStatus(database.owner, "UP");

  target.answer(503);
  await accepted.promise;
  await victim.end("SIGKILL");
  killed.resolve();
  target.answer(200);
  await using heir = startWorker(database.url);
  await heir.ready;
  await endLeasesOf(database.owner, victim.worker());
  await untilStatus(database.owner, "UP");
  await untilDelivered(database.owner, 2);
  await gate.shutdown();

  assert.equal(posts, 3);
  assert.deepEqual(await stored(database.owner), ["service.failed", "service.recovered"]);
  const { verdicts: _verdicts, ...kept } = await outcome(database);
  assert.deepEqual(kept, KEPT);
});

Deno.test("a database server that is killed and started again in the middle of it all loses and doubles nothing", async () => {
  await using server = await ownServer({ durable: true });
  await migrate(server.url);
  const sql = openClient(server.url, { maxConnections: 1, applicationName: "test" }) as unknown as TestSql;
  await using target = switchableTarget();
  await using receiver = await startReceiver({ port: 0, url: server.url });
  await watch(sql, target.url, receiver.url);
  await using first = startWorker(server.url);
  await using second = startWorker(server.url);
  await Promise.all([first.ready, second.ready]);
  await untilStatus(sql, "UP");

  target.answer(503);
  await until("it has begun to fail", async () => {
    const [row] = await sql`select failure_streak as n from uptuple.service_state`;
    return row.n > 0;
  });
  await server.kill();
  await server.revive();
  const again = openClient(server.url, { maxConnections: 1, applicationName: "test" }) as unknown as TestSql;
  await endLeasesOf(again, first.worker());
  await endLeasesOf(again, second.worker());
  await untilStatus(again, "DOWN");
  target.answer(200);
  await untilStatus(again, "UP");
  await until("both notices are delivered", async () => {
    await makeRetriesDue(again);
    const [row] = await again`select count(*)::integer as n from uptuple.delivery where state = 'DELIVERED'`;
    return row.n === 2;
  });

  assert.deepEqual(await stored(again), ["service.failed", "service.recovered"]);
  const { verdicts: _verdicts, ...kept } = await outcome({ owner: again as never });
  assert.deepEqual(kept, KEPT);
  await sql.end({ timeout: 0 }).catch(() => {});
  await again.end({ timeout: 1 });
});
