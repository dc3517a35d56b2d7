import assert from "node:assert/strict";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import type { TestDatabase, TestSql } from "../support/database.ts";
import { emptiedDatabase } from "../support/emptied_database.ts";
import {
  addCheckedService,
  ANSWERED,
  assertNoViolations,
  complete,
  enqueue,
  openWindow,
  REFUSED,
  stateOf,
} from "../support/services.ts";
import { checkBy, reportWorker, startedBy, toldOfWorkers, trustIn } from "../support/workers.ts";

const BLIND = { unanswered: 3, canary: "dns" };

/** Services that are up, with a threshold, and runtimes that live. */
async function watched(
  sql: TestSql,
  services: string[],
  failureThreshold: number,
  ...workers: string[]
): Promise<void> {
  for (const service of services) await addCheckedService(sql, service, { failureThreshold });
  for (const worker of workers) await reportWorker(sql, worker);
}

/** Runs `first` in a transaction that stays open until `second`, on another connection, waits for it or has its answer. */
async function interleave(
  database: TestDatabase,
  first: (sql: TestSql) => Promise<unknown>,
  second: (sql: TestSql) => Promise<unknown>,
): Promise<void> {
  const one = await database.connect();
  const other = await database.connect();
  const pid = await backendOf(other);
  await one`begin`;
  await first(one);
  const late = second(other);
  await untilBlocked(database.owner, pid, late);
  await one`commit`;
  await late;
}

async function resultsOf(sql: TestSql, service: string): Promise<string[]> {
  const rows = await sql<{ status: string }[]>`
    select result.status from uptuple.result join uptuple.service on service.id = result.service_id
    where service.name = ${service} and result.worker <> 'tester' order by result.scheduled_slot`;
  return rows.map(({ status }) => status);
}

Deno.test("two runtimes complete a DOWN each at the same moment: one incident, opened by the second", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["shop"], 1, "one", "two");
  const first = await startedBy(owner, "one", "shop");
  const second = await startedBy(owner, "two", "shop");

  await interleave(database, (sql) => complete(sql, first, REFUSED), (sql) => complete(sql, second, REFUSED));

  assert.equal((await stateOf(owner, "shop")).status, "DOWN");
  const [count] = await owner`select count(*)::integer as n from uptuple.incident`;
  assert.equal(count.n, 1);
  await assertNoViolations(owner);
});

Deno.test("a runtime is quarantined while a batch of its own is recorded: the batch came before", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["shop"], 5, "one");
  const job = await startedBy(owner, "one", "shop");

  await interleave(database, (sql) => complete(sql, job, REFUSED), (sql) => reportWorker(sql, "one", BLIND));

  assert.deepEqual(await resultsOf(owner, "shop"), ["DOWN"]);
  const [order] = await owner`
    select worker.quarantined_at > result.recorded_at as after
    from uptuple.worker join uptuple.result on result.worker = worker.name`;
  assert.equal(order.after, true);
  await assertNoViolations(owner);
});

Deno.test("a batch with a failure comes in while its runtime is being quarantined: it is not believed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["shop"], 1, "one");
  const job = await startedBy(owner, "one", "shop");

  await interleave(database, (sql) => reportWorker(sql, "one", BLIND), (sql) => complete(sql, job, REFUSED));

  assert.deepEqual(await resultsOf(owner, "shop"), ["INCONCLUSIVE"]);
  assert.equal((await stateOf(owner, "shop")).status, "UP");
  await assertNoViolations(owner);
});

Deno.test("a quarantine that is rolled back lets the batch that waited for it count", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["shop"], 1, "one");
  const job = await startedBy(owner, "one", "shop");
  const [hasty, prober] = [await database.connect(), await database.connect()];
  const pid = await backendOf(prober);

  await hasty`begin`;
  await reportWorker(hasty, "one", BLIND);
  const completing = complete(prober, job, REFUSED);
  await untilBlocked(owner, pid, completing);
  await hasty`rollback`;
  await completing;

  assert.equal((await stateOf(owner, "shop")).status, "DOWN");
  assert.deepEqual(await toldOfWorkers(owner), []);
});

Deno.test("two failing batches of one runtime do not wait for each other", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["cart", "shop"], 1, "one", "two");
  const [cart, shop] = [await startedBy(owner, "one", "cart"), await startedBy(owner, "one", "shop")];
  const [first, second] = [await database.connect(), await database.connect()];
  await neverWait(second);

  await first`begin`;
  await complete(first, cart, REFUSED);
  await complete(second, shop, REFUSED);
  await first`commit`;

  assert.equal((await stateOf(owner, "shop")).failure_streak, 1);
  assert.equal((await stateOf(owner, "cart")).failure_streak, 1);
});

Deno.test("two batches find at once that their runtime was contradicted too often: it is told once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["a", "b", "c", "d", "e"], 3, "one", "two");
  for (const service of ["a", "b", "c"]) {
    await checkBy(owner, "one", service, REFUSED);
    await checkBy(owner, "two", service, ANSWERED);
  }
  const [first, second] = [await startedBy(owner, "one", "d"), await startedBy(owner, "one", "e")];

  await interleave(database, (sql) => complete(sql, first, REFUSED), (sql) => complete(sql, second, REFUSED));

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one contradicted"]);
  assert.deepEqual([await resultsOf(owner, "d"), await resultsOf(owner, "e")], [["INCONCLUSIVE"], ["INCONCLUSIVE"]]);
  await assertNoViolations(owner);
});

Deno.test("an UP that contradicts a runtime waits for no quarantine of it, which waits for the UP's state", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["a", "b", "c"], 5, "one", "two");
  for (const service of ["a", "b"]) {
    await checkBy(owner, "one", service, REFUSED);
    await checkBy(owner, "two", service, ANSWERED);
  }
  await checkBy(owner, "one", "c", REFUSED);
  const up = await startedBy(owner, "two", "c");
  const down = await startedBy(owner, "one", "c");

  // The UP holds c's state; the DOWN holds its worker's row and waits for the state.
  await interleave(database, (sql) => complete(sql, up, ANSWERED), (sql) => complete(sql, down, REFUSED));

  assert.deepEqual(await toldOfWorkers(owner), [], "what had not been committed contradicted nobody");
  await reportWorker(owner, "one");
  assert.equal(await trustIn(owner, "one"), "QUARANTINED");
});

Deno.test("windows are made while a failure asks for a second look: neither waits for the other", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, ["shop"], 5, "one", "two");
  await openWindow(owner, "shop");
  const job = await startedBy(owner, "one", "shop");
  const [prober, producer] = [await database.connect(), await database.connect()];
  await neverWait(producer);
  await owner`insert into uptuple.second_look select id, 'default', 'one', clock_timestamp() from uptuple.service`;

  await prober`begin`;
  await complete(prober, job, REFUSED);
  await enqueue(producer);
  await prober`commit`;

  await assertNoViolations(owner);
});
