import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  complete,
  completeBatch,
  completion,
  letTimePass,
  REFUSED,
  stateOf,
} from "../../support/services.ts";
import {
  checkBy,
  claimedBy,
  reportWorker,
  startedBy,
  toldOfWorkers,
  trustIn,
  type WorkerReport,
} from "../../support/workers.ts";

const SERVICES = ["cart", "mail", "shop", "wiki"];

/** Four services that are up, and runtimes that live. */
async function watched(sql: TestSql, ...workers: string[]): Promise<void> {
  for (const service of SERVICES) await addCheckedService(sql, service, { failureThreshold: 2 });
  for (const worker of workers) await reportWorker(sql, worker);
}

/** A worker says DOWN of some services, and the next check of each, by another one, UP. */
async function contradict(sql: TestSql, blind: string, other: string, services: string[]): Promise<void> {
  for (const service of services) {
    await checkBy(sql, blind, service, REFUSED);
    await checkBy(sql, other, service, ANSWERED);
  }
}

/** The newest result of a service. */
async function newest(sql: TestSql, service: string): Promise<Record<string, unknown>> {
  const [row] = await sql`
    select result.status, result.code, result.reason, result.applied_order is not null as applied
    from uptuple.result join uptuple.service on service.id = result.service_id
    where service.name = ${service} order by result.scheduled_slot desc limit 1`;
  return { ...row };
}

/** Its network is gone: nothing answers its last three probes, nor does its canary. */
const BLIND: WorkerReport = { unanswered: 3, canary: "connect.unreachable" };

Deno.test("who is contradicted on three services is quarantined by its next failing batch, before that counts", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await contradict(owner, "one", "two", ["cart", "mail", "shop"]);
  assert.equal(await trustIn(owner, "one"), "TRUSTED");

  await checkBy(owner, "one", "wiki", REFUSED);

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one contradicted"]);
  assert.deepEqual(await newest(owner, "wiki"), {
    status: "INCONCLUSIVE",
    code: "worker.quarantined",
    reason: "the runtime one is in quarantine; it saw DOWN: connection refused",
    applied: false,
  });
  assert.equal((await stateOf(owner, "wiki")).failure_streak, 0);
  const [shown] = await owner`select trust, quarantine_reason from uptuple.workers where worker = 'one'`;
  assert.deepEqual({ ...shown }, {
    trust: "QUARANTINED",
    quarantine_reason: "within two minutes it saw 3 services down that others saw up: cart, mail, shop",
  });
  await assertNoViolations(owner);
});

Deno.test("its next report quarantines it as well, and tells so once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await contradict(owner, "one", "two", ["cart", "mail", "shop"]);

  for (let time = 0; time < 3; time++) await reportWorker(owner, "one");

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one contradicted"]);
  const [event] =
    await owner`select severity, service_id, data ->> 'region' as region from uptuple.event where kind = 'worker.quarantined'`;
  assert.deepEqual({ ...event }, { severity: "warning", service_id: null, region: "default" });
});

Deno.test("the notice goes to the channels there are, and is ready at once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await owner`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:1/')`;

  await reportWorker(owner, "one", BLIND);

  const [delivery] = await owner`
    select delivery.state, event.kind from uptuple.delivery join uptuple.event on event.id = delivery.event_number`;
  assert.deepEqual({ ...delivery }, { state: "READY", kind: "worker.quarantined" });
});

for (
  const [what, happen] of [
    ["on two services only", (sql) => contradict(sql, "one", "two", ["cart", "mail", "cart", "mail"])],
    ["more than two minutes ago", async (sql) => {
      await contradict(sql, "one", "two", ["cart", "mail"]);
      await letTimePass(sql, 121);
      for (const worker of ["one", "two"]) await reportWorker(sql, worker);
      await contradict(sql, "one", "two", ["shop"]);
    }],
    ["as often as it contradicts the others: a short failure that all of them saw", async (sql) => {
      await contradict(sql, "one", "two", ["cart", "mail", "shop"]);
      await contradict(sql, "two", "one", ["cart", "mail", "wiki"]);
    }],
    ["by itself", (sql) => contradict(sql, "one", "one", ["cart", "mail", "shop"])],
    ["after another one agreed with it", async (sql) => {
      for (const service of ["cart", "mail", "shop"]) {
        for (const worker of ["one", "two"]) await checkBy(sql, worker, service, REFUSED);
        await checkBy(sql, "two", service, ANSWERED);
      }
    }],
    ["by nobody that is left", async (sql) => {
      await contradict(sql, "one", "two", ["cart", "mail", "shop"]);
      await sql`select uptuple.retire_worker('two')`;
    }],
    ["by a person", async (sql) => {
      for (const service of ["cart", "mail", "shop"]) {
        await checkBy(sql, "one", service, REFUSED);
        await sql`select uptuple.record_health(${service}, 'UP')`;
      }
    }],
  ] as [string, (sql: TestSql) => Promise<void>][]
) {
  Deno.test(`a runtime is trusted on if it was contradicted ${what}`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    await watched(owner, "one", "two");

    await happen(owner);
    for (const worker of ["one", "two"]) {
      if (await trustIn(owner, worker) !== "TRUSTED") assert.fail(`${worker} is in quarantine`);
    }
    await reportWorker(owner, "one");
    await checkBy(owner, "one", "wiki", REFUSED);

    assert.deepEqual(await toldOfWorkers(owner), []);
    assert.equal((await newest(owner, "wiki")).status, "DOWN");
  });
}

Deno.test("its verdicts bring it back when they agree three times in a row with those of the others", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await contradict(owner, "one", "two", ["cart", "mail", "shop"]);
  await reportWorker(owner, "one");
  for (const service of SERVICES) await checkBy(owner, "two", service, ANSWERED);

  for (const service of ["cart", "mail"]) await checkBy(owner, "one", service, ANSWERED);
  await checkBy(owner, "one", "shop", REFUSED);
  for (const service of ["cart", "mail"]) await checkBy(owner, "one", service, ANSWERED);
  assert.equal(await trustIn(owner, "one"), "QUARANTINED");
  await checkBy(owner, "one", "wiki", ANSWERED);

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one contradicted", "trusted one contradicted"]);
  assert.equal((await newest(owner, "wiki")).status, "INCONCLUSIVE");
  await checkBy(owner, "one", "wiki", ANSWERED);
  assert.equal((await newest(owner, "wiki")).status, "UP");
  await reportWorker(owner, "one");
  assert.equal(await trustIn(owner, "one"), "TRUSTED", "what was before does not count again");
  await assertNoViolations(owner);
});

Deno.test("an UP of which no other said anything since then proves nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await contradict(owner, "one", "two", ["cart", "mail", "shop"]);
  await reportWorker(owner, "one");

  for (let time = 0; time < 4; time++) await checkBy(owner, "one", "wiki", ANSWERED);

  assert.equal(await trustIn(owner, "one"), "QUARANTINED");
});

Deno.test("who was contradicted is trusted again when nobody is left to agree with", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await contradict(owner, "one", "two", ["cart", "mail", "shop"]);
  await reportWorker(owner, "one");

  await owner`select uptuple.retire_worker('two')`;
  await reportWorker(owner, "one");

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one contradicted", "trusted one contradicted"]);
});

Deno.test("quarantines that follow one another within an hour take twice as many agreements each", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one");
  const times = async () => {
    await reportWorker(owner, "one", BLIND);
    assert.equal(await trustIn(owner, "one"), "QUARANTINED");
    for (let time = 1;; time++) {
      await reportWorker(owner, "one", { unanswered: 0, canary: 200 });
      if (await trustIn(owner, "one") === "TRUSTED") return time;
    }
  };

  assert.deepEqual([await times(), await times(), await times()], [1, 2, 4]);
  await letTimePass(owner, 3700);
  assert.equal(await times(), 1);
});

Deno.test("a runtime in quarantine gets one job every five seconds while a colleague does the work", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const service of SERVICES) await addService(owner, service);
  for (const worker of ["one", "two"]) await reportWorker(owner, worker);
  await reportWorker(owner, "one", BLIND);

  assert.deepEqual(await claimedBy(owner, "one"), ["cart"]);
  assert.deepEqual(await claimedBy(owner, "one"), []);
  const [next] =
    await owner`select uptuple.next_job_due('default', 'one') as one, uptuple.next_job_due('default', 'two') as two`;
  assert.deepEqual({ ...next }, { one: null, two: 0 }, "nor is it kept awake by the others");
  await letTimePass(owner, 5);
  assert.deepEqual(await claimedBy(owner, "one"), ["mail"]);

  assert.deepEqual(await claimedBy(owner, "two"), ["shop", "wiki"]);
});

Deno.test("a runtime in quarantine that has no trusted colleague works on", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const service of SERVICES) await addService(owner, service);
  for (const worker of ["one", "two"]) await reportWorker(owner, worker, BLIND);

  assert.deepEqual(await claimedBy(owner, "one"), SERVICES);
});

Deno.test("a person who knows better ends a quarantine, and an unknown name is refused with the cure", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one");
  await reportWorker(owner, "one", BLIND);
  const operator = await database.connect("uptuple_operator");

  const answers = [];
  for (let time = 0; time < 2; time++) answers.push((await operator`select uptuple.trust_worker('one') as was`)[0].was);

  assert.deepEqual(answers, [true, false]);
  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one canary", "trusted one canary"]);
  await assert.rejects(operator`select uptuple.trust_worker('nobody')`, { code: "UT001", message: /'nobody'/ });
  const viewer = await database.connect("uptuple_viewer");
  await assert.rejects(viewer`select uptuple.trust_worker('one')`, { code: "42501" });
});

Deno.test("a runtime that comes back under its name is still in quarantine, and one with a new name is not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one");
  await reportWorker(owner, "one", BLIND);
  await owner`select uptuple.retire_worker('one')`;

  for (const worker of ["one", "one again"]) await reportWorker(owner, worker);

  assert.deepEqual([await trustIn(owner, "one"), await trustIn(owner, "one again")], ["QUARANTINED", "TRUSTED"]);
});

Deno.test("a batch of several runtimes is believed as far as they are", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await reportWorker(owner, "one", BLIND);
  const jobs = [await startedBy(owner, "one", "cart"), await startedBy(owner, "two", "mail")];

  const outcomes = await completeBatch(owner, jobs.map((job) => completion(job, REFUSED)));

  assert.deepEqual(outcomes, ["ACCEPTED", "ACCEPTED"]);
  assert.deepEqual([(await newest(owner, "cart")).status, (await newest(owner, "mail")).status], [
    "INCONCLUSIVE",
    "DOWN",
  ]);
});

Deno.test("a runtime in quarantine is a problem with its cure, as long as it lives", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "it's one");
  await reportWorker(owner, "it's one", BLIND);
  const viewer = await database.connect("uptuple_viewer");
  const problems = () =>
    viewer<
      { problem: string; cure: string }[]
    >`select problem, cure from uptuple.problems where problem like '%quarantine%'`;

  const [problem] = await problems();
  assert.match(
    problem?.problem ?? "",
    /^The runtime it's one is in quarantine since \S+, and its checks are INCONCLUSIVE: nothing answers/,
  );
  assert.match(problem?.cure ?? "", /select uptuple\.trust_worker\('it''s one'\);$/);
  await owner`select uptuple.retire_worker('it''s one')`;
  assert.equal((await problems()).length, 0);
});

Deno.test("what a service did before it was disabled contradicts nobody afterwards", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  for (const service of ["cart", "mail", "shop"]) await checkBy(owner, "one", service, REFUSED);
  for (const service of ["cart", "mail", "shop"]) {
    await owner`select uptuple.disable_service(${service}), uptuple.enable_service(${service})`;
    await checkBy(owner, "two", service, ANSWERED);
  }

  assert.equal((await owner<object[]>`select from uptuple.worker_contradiction`).length, 0);
});

Deno.test("contradictions are forgotten after two minutes", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one", "two");
  await contradict(owner, "one", "two", ["cart"]);
  await letTimePass(owner, 121);
  await contradict(owner, "one", "two", ["mail"]);

  await reportWorker(owner, "two");

  assert.equal((await owner<object[]>`select from uptuple.worker_contradiction`).length, 1);
});

Deno.test("a job that was given to a runtime before its quarantine is not believed after it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "one");
  const job = await startedBy(owner, "one", "cart");
  await reportWorker(owner, "one", BLIND);

  assert.equal(await complete(owner, job, REFUSED), true);

  assert.equal((await newest(owner, "cart")).status, "INCONCLUSIVE");
});
