import assert from "node:assert/strict";
import { readConfig } from "../../../src/config.ts";
import { connect } from "../../../src/database/connect.ts";
import { createRuntime } from "../../../src/runtime.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { until } from "../../support/wait.ts";
import { toldOfWorkers } from "../../support/workers.ts";

/** A server that can go away and come back under its address, as the whole network does for who is cut off. */
function server(port = 0): { port: number; gone(): Promise<void> } {
  const listening = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, () => new Response("ok"));
  return { port: listening.addr.port, gone: () => listening.shutdown() };
}

/** A runtime on a database, with or without a canary, until it is disposed of. */
function runtimeOn(url: string, canary?: string): AsyncDisposable {
  const environment: Record<string, string> = { UPTUPLE_ROLES: "probe" };
  if (canary !== undefined) environment.UPTUPLE_CANARY_URL = canary;
  const config = readConfig((name) => environment[name]);
  const database = connect({ url, maxConnections: 3 });
  const runtime = createRuntime(config, { database, url }, () => undefined);
  const tick = runtime.tick();
  return {
    async [Symbol.asyncDispose]() {
      await runtime.stop();
      await tick;
      await database.close();
    },
  };
}

const SERVICES = 6;

/** Watches services each second, and waits until all are up. */
async function watchAll(sql: TestSql, port: number): Promise<void> {
  await sql`
    select uptuple.add_service(name => 'service ' || n, url => 'http://127.0.0.1:' || ${port}::text, every => '1 second', timeout => '900 ms')
    from generate_series(1, ${SERVICES}) n`;
}

async function untilAll(sql: TestSql, status: string): Promise<void> {
  await until(`all services are ${status}`, async () => {
    const [row] = await sql`select count(*)::integer as n from uptuple.service_state where status = ${status}`;
    return row.n === SERVICES;
  }, 30_000);
}

async function failures(sql: TestSql): Promise<number> {
  const [row] = await sql`select count(*)::integer as n from uptuple.event where kind = 'service.failed'`;
  return row.n;
}

Deno.test("a runtime whose network is gone, canary and all, raises no alarm but one about itself, and comes back by itself", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const [target, canary] = [server(), server()];
  await watchAll(owner, target.port);
  const runtime = runtimeOn(database.url, `http://127.0.0.1:${canary.port}/`);
  await untilAll(owner, "UP");

  await canary.gone();
  await target.gone();
  await until("each service had more checks than its threshold", async () => {
    const [row] = await owner`
      select count(*)::integer as n
      from (select from uptuple.result where code = 'worker.quarantined' group by service_id having count(*) > 3) service`;
    return row.n === SERVICES;
  }, 30_000);
  assert.equal(await failures(owner), 0);
  assert.equal((await toldOfWorkers(owner)).filter((line) => line.startsWith("quarantined")).length, 1);

  // The network is back, and what is down now is down.
  const again = server(canary.port);
  await untilAll(owner, "DOWN");
  assert.equal(await failures(owner), SERVICES);
  const [told, ...more] = (await toldOfWorkers(owner)).map((line) => line.split(" ")[0]);
  assert.deepEqual([told, ...more], ["quarantined", "trusted"]);

  await runtime[Symbol.asyncDispose]();
  await again.gone();
  assert.deepEqual([...await owner<object[]>`select * from uptuple.invariant_violations`], []);
});

Deno.test("while its canary answers, what fails is down", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const [target, canary] = [server(), server()];
  await watchAll(owner, target.port);
  const runtime = runtimeOn(database.url, `http://127.0.0.1:${canary.port}/`);
  await untilAll(owner, "UP");

  await target.gone();
  await untilAll(owner, "DOWN");

  assert.deepEqual(await toldOfWorkers(owner), []);
  const [shown] = await owner`select canary, canary_reason from uptuple.workers`;
  assert.deepEqual({ ...shown }, { canary: "ANSWERS", canary_reason: `127.0.0.1:${canary.port}: HTTP 200` });
  await runtime[Symbol.asyncDispose]();
  await canary.gone();
});

Deno.test("without a canary one runtime believes what it sees", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const target = server();
  await watchAll(owner, target.port);
  const runtime = runtimeOn(database.url);
  await untilAll(owner, "UP");

  await target.gone();
  await untilAll(owner, "DOWN");

  assert.deepEqual(await toldOfWorkers(owner), []);
  const [shown] = await owner`select canary, trust from uptuple.workers`;
  assert.deepEqual({ ...shown }, { canary: null, trust: "TRUSTED" });
  await runtime[Symbol.asyncDispose]();
});

Deno.test("of two runtimes the one that cannot reach anything is contradicted, and no service is down by its word", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const target = server();
  await watchAll(owner, target.port);
  await using _seeing = runtimeOn(database.url);
  await untilAll(owner, "UP");
  const blind = blindRuntime(database.url);

  await until("the blind one is quarantined", async () => (await toldOfWorkers(owner)).length > 0, 40_000);
  assert.deepEqual((await toldOfWorkers(owner)).slice(0, 1), ["quarantined blind contradicted"]);
  assert.equal(await failures(owner), 0);
  await blind.stop();
  await target.gone();
});

/** A worker that claims as any other does, and to which every target refuses the connection. */
function blindRuntime(url: string): { stop(): Promise<void> } {
  const database = connect({ url, maxConnections: 1 });
  const stopping = new AbortController();
  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      await database.query`select uptuple.report_worker('blind', 'default', '{probe}', 1)`;
      const jobs = await database.query<{ job_id: string; scheduled_slot: string; owner_token: string }>`
        select job_id, scheduled_slot, owner_token from uptuple.claim_jobs('blind', 10)`;
      const observation = { error: { code: "connect.unreachable", message: "no route" }, timings: { total: 1 } };
      await database.query`select * from uptuple.complete_jobs(${jobs.map((job) => ({ ...job, observation }))}::jsonb)`;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  const working = work();
  return {
    async stop() {
      stopping.abort();
      await working;
      await database.close();
    },
  };
}
