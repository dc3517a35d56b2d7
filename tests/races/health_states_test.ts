import assert from "node:assert/strict";
import { addChannel, deliveries, events, record, violations } from "../support/alerts.ts";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import { testDatabase, type TestSql } from "../support/database.ts";
import { plan } from "../support/maintenance.ts";
import { addService, type ClaimedJob, completeBatch, completion, startJob } from "../support/services.ts";

/** A check of a window that a runtime is working on; `age` is how long ago, in s, the window started. */
async function runningJob(owner: TestSql, service: string, age: number): Promise<ClaimedJob> {
  const [row] = await owner`
    select id, floor(extract(epoch from clock_timestamp()))::int - ${age}::int as slot from uptuple.service where name = ${service}`;
  return await startJob(owner, row.id, row.slot);
}

/** Completes jobs whose targets have answered with that status. */
async function complete(sql: TestSql, status: number, ...jobs: ClaimedJob[]): Promise<string[]> {
  return await completeBatch(sql, jobs.map((job) => completion(job, { status })));
}

Deno.test("two batches touch the same services in opposed orders: no deadlock, and each result counts once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 2 });
  await addService(owner, "cart", { failureThreshold: 2 });
  const shop = [await runningJob(owner, "shop", 60), await runningJob(owner, "shop", 30)] as const;
  const cart = [await runningJob(owner, "cart", 60), await runningJob(owner, "cart", 30)] as const;
  const first = await database.connect();
  const firstBackend = await backendOf(first);
  const second = await database.connect();
  const secondBackend = await backendOf(second);
  const gate = await database.connect();

  // Who locked states in the order of its batch would now hold cart and wait for shop, while the other holds shop.
  await gate`begin`;
  await gate`select from uptuple.service_state where service_id = 1 for no key update`;
  const one = complete(first, 500, shop[0], cart[0]);
  await untilBlocked(owner, firstBackend);
  const other = complete(second, 500, cart[1], shop[1]);
  await untilBlocked(owner, secondBackend);
  await gate`commit`;

  assert.deepEqual(await one, ["ACCEPTED", "ACCEPTED"]);
  assert.deepEqual(await other, ["ACCEPTED", "ACCEPTED"]);
  const states =
    await owner`select status, failure_streak, applied_count from uptuple.service_state order by service_id`;
  assert.deepEqual([...states], Array(2).fill({ status: "DOWN", failure_streak: 2, applied_count: "2" }));
  assert.deepEqual((await events(owner)).map((line) => line.replace(/ \d+$/, "")).sort(), [
    "cart FAILED",
    "shop FAILED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("many batches at once over the same services in any order: every result is applied once, none is lost", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const services = ["a", "b", "c", "d", "e"];
  for (const service of services) await addService(owner, service, { failureThreshold: 100 });
  const rounds = 6;
  const batches: ClaimedJob[][] = [];
  for (let round = 0; round < rounds; round++) {
    const batch = await Promise.all(services.map((service) => runningJob(owner, service, 600 - round)));
    batches.push(round % 2 === 0 ? batch : batch.reverse());
  }
  const couriers = await Promise.all([1, 2, 3].map(() => database.connect()));

  await Promise.all(couriers.map(async (sql, number) => {
    for (const batch of batches.filter((_, index) => index % couriers.length === number)) {
      assert.deepEqual(await complete(sql, 500, ...batch), Array(services.length).fill("ACCEPTED"));
    }
  }));

  const counts = await owner`
    select count(*)::int as results, count(applied_order)::int as applied, max(applied_order)::int as newest,
      max(state.applied_count)::int as counted, max(state.failure_streak) as streak
    from uptuple.result join uptuple.service_state state using (service_id)
    group by service_id`;
  for (const row of counts) {
    assert.equal(row.results, rounds);
    assert.deepEqual([row.newest, row.counted, row.streak], [row.applied, row.applied, row.applied]);
  }
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a check and a person report the third DOWN at once: one incident, one FAILED", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await record(owner, "shop", "DOWN", "DOWN");
  const job = await runningJob(owner, "shop", 20);
  const prober = await database.connect();
  const person = await database.connect();
  const personBackend = await backendOf(person);

  await prober`begin`;
  await complete(prober, 500, job);
  const recording = record(person, "shop", "DOWN");
  await untilBlocked(owner, personBackend);
  await prober`commit`;

  assert.deepEqual(await events(owner), [`shop FAILED ${(await recording).incident_id}`]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("the third DOWN is rolled back while another one waits for it: the other opens the incident", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await record(owner, "shop", "DOWN", "DOWN");
  const job = await runningJob(owner, "shop", 20);
  const prober = await database.connect();
  const person = await database.connect();
  const personBackend = await backendOf(person);

  await prober`begin`;
  await complete(prober, 500, job);
  const recording = record(person, "shop", "DOWN");
  await untilBlocked(owner, personBackend);
  await prober`rollback`;

  const { incident_id, failure_streak } = await recording;
  assert.equal(failure_streak, 3);
  assert.deepEqual(await events(owner), [`shop FAILED ${incident_id}`]);
  const [left] = await owner`select state, owner_token from uptuple.job where id = ${job.job_id}`;
  assert.deepEqual({ ...left }, { state: "RUNNING", owner_token: job.owner_token });
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service is disabled while its third DOWN comes in: nobody is told", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await record(owner, "shop", "DOWN", "DOWN");
  const job = await runningJob(owner, "shop", 20);
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);

  await operator`begin`;
  await operator`select uptuple.disable_service('shop')`;
  const completing = complete(prober, 500, job);
  await untilBlocked(owner, proberBackend);
  await operator`commit`;

  assert.deepEqual(await completing, ["ACCEPTED"]);
  assert.deepEqual(await events(owner), []);
  const [stored] = await owner`select status, applied_order from uptuple.result where job_id = ${job.job_id}`;
  assert.deepEqual({ ...stored }, { status: "DOWN", applied_order: null });
  const [state] = await owner`select status, failure_streak, applied_count, incident_id from uptuple.service_state`;
  assert.deepEqual({ ...state }, { status: "UNKNOWN", failure_streak: 0, applied_count: "2", incident_id: null });
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service is enabled again while a check from before comes in: the check counts", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const job = await runningJob(owner, "shop", 20);
  await owner`select uptuple.disable_service('shop')`;
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);

  await operator`begin`;
  await operator`select uptuple.enable_service('shop')`;
  const completing = complete(prober, 200, job);
  await untilBlocked(owner, proberBackend);
  await operator`commit`;

  assert.deepEqual(await completing, ["ACCEPTED"]);
  const [state] = await owner`select status, applied_count from uptuple.service_state`;
  assert.deepEqual({ ...state }, { status: "UP", applied_count: "1" });
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a failure threshold is lowered while a DOWN comes in: the DOWN goes by the new one", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 3 });
  await record(owner, "shop", "DOWN");
  const job = await runningJob(owner, "shop", 20);
  const operator = await database.connect();
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);

  await operator`begin`;
  await operator`select uptuple.update_service('shop', failure_threshold => 2)`;
  const completing = complete(prober, 500, job);
  await untilBlocked(owner, proberBackend);
  await operator`commit`;

  assert.deepEqual(await completing, ["ACCEPTED"]);
  assert.deepEqual((await events(owner)).map((line) => line.replace(/ \d+$/, "")), ["shop FAILED"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("tags and thresholds of a service change while a batch is about to tell of it: no deadlock", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 1 });
  await addService(owner, "cart", { failureThreshold: 1 });
  await plan(owner, { groups: ["web"] });
  const jobs = [await runningJob(owner, "shop", 30), await runningJob(owner, "cart", 30)];
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();
  const proberBackend = await backendOf(prober);
  const gate = await database.connect();

  // The batch holds the state of the shop and waits for that of the cart. While anything is in maintenance, its notices need what a change of
  // tags locks.
  await gate`begin`;
  await gate`select from uptuple.service_state where service_id = 2 for no key update`;
  const completing = complete(prober, 500, ...jobs);
  await untilBlocked(owner, proberBackend);
  const changing = operator`select uptuple.update_service('shop', tags => '{beta}', failure_threshold => 2)`.execute();
  await untilBlocked(owner, operatorBackend);
  await gate`commit`;

  assert.deepEqual(await completing, ["ACCEPTED", "ACCEPTED"]);
  await changing;
  assert.deepEqual((await events(owner)).map((line) => line.replace(/ \d+$/, "")).sort(), [
    "cart FAILED",
    "shop FAILED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("the third DOWN comes in while its service is being disabled: the incident opens and is withdrawn", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await record(owner, "shop", "DOWN", "DOWN");
  const job = await runningJob(owner, "shop", 20);
  const operator = await database.connect();
  const operatorBackend = await backendOf(operator);
  const prober = await database.connect();

  await prober`begin`;
  await complete(prober, 500, job);
  const disabling = operator`select uptuple.disable_service('shop')`.execute();
  await untilBlocked(owner, operatorBackend);
  await prober`commit`;
  await disabling;

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY", "ops shop RECOVERED WAITING"]);
  const [incident] = await owner`select closed_by from uptuple.incident`;
  assert.equal(incident.closed_by, "withdrawn");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a service is removed while a person records for it: the record is refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const operator = await database.connect();
  const person = await database.connect();
  const personBackend = await backendOf(person);

  await operator`begin`;
  await operator`select uptuple.remove_service('shop')`;
  const recording = assert.rejects(record(person, "shop", "DOWN"), { code: "UT001" });
  await untilBlocked(owner, personBackend);
  await operator`commit`;

  await recording;
  assert.deepEqual([...await owner`select from uptuple.result`], []);
});

Deno.test("one service is enabled and another one disabled while checks of both come in: no deadlock", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "cart");
  const shop = await runningJob(owner, "shop", 30);
  const cart = await runningJob(owner, "cart", 30);
  await owner`select uptuple.disable_service('cart')`;
  const disabler = await database.connect();
  const disablerBackend = await backendOf(disabler);
  const enabler = await database.connect();
  const enablerBackend = await backendOf(enabler);
  const prober = await database.connect();
  const gate = await database.connect();

  // Both wait for the producer that the gate plays. Whoever held a state here would close a circle with the batch.
  await gate`begin`;
  await gate`select from uptuple.enqueue_cursor for no key update`;
  await neverWait(prober);
  const disabling = disabler`select uptuple.disable_service('shop')`.execute();
  await untilBlocked(owner, disablerBackend);
  const enabling = enabler`select uptuple.enable_service('cart')`.execute();
  await untilBlocked(owner, enablerBackend);
  assert.deepEqual(await complete(prober, 500, shop, cart), ["ACCEPTED", "ACCEPTED"]);
  await gate`commit`;

  await disabling;
  await enabling;
  const shown = await owner`select service, status from uptuple.status order by service`;
  assert.deepEqual([...shown], [{ service: "cart", status: "UNKNOWN" }, { service: "shop", status: "PAUSED" }]);
});

Deno.test("event ids follow the order in which a service's incidents were committed, however many write at once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  for (const service of ["a", "b", "c"]) await addService(owner, service, { failureThreshold: 1 });
  const writers = await Promise.all([1, 2, 3, 4].map(() => database.connect()));

  await Promise.all(writers.map(async (sql, number) => {
    for (let turn = 0; turn < 12; turn++) {
      await record(sql, ["a", "b", "c"][(turn + number) % 3]!, (turn + number) % 2 === 0 ? "DOWN" : "UP");
    }
  }));

  const written = await owner`
    select service_id, array_agg(kind order by id) as kinds, array_agg(applied_order order by id) as orders,
      array_agg(occurred_at order by id) as times
    from uptuple.event group by service_id`;
  assert.equal(written.length, 3);
  for (const { kinds, orders, times } of written) {
    const numbers = orders.map(Number);
    assert.deepEqual(numbers, numbers.toSorted((left: number, right: number) => left - right));
    assert.deepEqual(times, times.toSorted((left: Date, right: Date) => left.getTime() - right.getTime()));
    const expected = kinds.map((_: string, index: number) => index % 2 === 0 ? "service.failed" : "service.recovered");
    assert.deepEqual(kinds, expected);
  }
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a second writer of a service's notice draws its id after the first one has committed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 1 });
  const job = await runningJob(owner, "shop", 20);
  const first = await database.connect();
  const second = await database.connect();
  const secondBackend = await backendOf(second);

  await first`begin`;
  await record(first, "shop", "DOWN");
  const completing = complete(second, 200, job);
  await untilBlocked(owner, secondBackend);
  const [{ drawn }] = await owner`select last_value::int as drawn from uptuple.event_id_seq`;
  assert.equal(drawn, 1);
  await first`commit`;
  await completing;

  assert.deepEqual((await events(owner)).map((line) => line.split(" ")[1]), ["FAILED", "RECOVERED"]);
});
