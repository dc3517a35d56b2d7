import assert from "node:assert/strict";
import { emptiedDatabase } from "../support/emptied_database.ts";
import { backendOf, untilBlocked } from "../support/blocked.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  completeBatch,
  completion,
  enqueue,
  letTimePass,
} from "../support/services.ts";

Deno.test("add against add: of two services with one name the second waits and is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const first = await database.connect();
  const second = await database.connect();
  const secondPid = await backendOf(second);

  await first`begin`;
  await addService(first, "inventory");
  const refused = addService(second, "inventory");
  refused.catch(() => {});
  await untilBlocked(owner, secondPid);
  await first`commit`;

  await assert.rejects(refused, { code: "23505", message: "there is already a service named 'inventory'" });
  const [services] = await owner`select count(*)::integer from uptuple.service`;
  assert.equal(services.count, 1);
});

Deno.test("update against update: the second change is made on top of the first, as the next revision", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const first = await database.connect();
  const second = await database.connect();
  const secondPid = await backendOf(second);

  await first`begin`;
  await first`select uptuple.update_service('inventory', url => 'http://127.0.0.1/new')`;
  const waiting = second`select uptuple.update_service('inventory', method => 'HEAD') as revision`;
  waiting.catch(() => {});
  await untilBlocked(owner, secondPid);
  await first`commit`;

  assert.equal((await waiting)[0].revision, 3);
  const [newest] =
    await owner`select target, config ->> 'method' as method from uptuple.service_revision where revision = 3`;
  assert.deepEqual({ ...newest }, { target: "http://127.0.0.1/new", method: "HEAD" });
});

Deno.test("check_now against check_now: two people who ask in one second get one job", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 day" });
  await letTimePass(owner, 1);
  const people = await Promise.all(Array.from({ length: 4 }, () => database.connect()));

  const answers = await Promise.all(people.map((person) => person`select uptuple.check_now('inventory') as id`));

  const ids = new Set(answers.map(([answer]) => answer.id));
  const [jobs] = await owner`
    select count(*)::integer as jobs, count(distinct scheduled_slot)::integer as seconds from uptuple.job where purpose = 'REQUEST'`;
  assert.equal(ids.size, jobs.jobs);
  assert.equal(jobs.jobs, jobs.seconds);
});

Deno.test("people who change services, producers and runtimes at the same time neither deadlock nor break a promise", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const names = ["a", "b", "c", "d"];
  for (const name of names) await addService(owner, name, { every: "1 second", failureThreshold: 1 });
  const sessions = await Promise.all(Array.from({ length: 5 }, () => database.connect()));
  const [person, other, producer, worker, helper] = sessions as [
    typeof owner,
    typeof owner,
    typeof owner,
    typeof owner,
    typeof owner,
  ];

  const change = async (sql: typeof owner, order: string[]) => {
    for (let round = 0; round < 6; round++) {
      for (const name of order) await sql`select uptuple.disable_service(${name})`;
      for (const name of order) {
        await sql`select uptuple.update_service(${name}, every => ${`${1 + (round % 3)} seconds`})`;
      }
      for (const name of order) await sql`select uptuple.enable_service(${name})`;
      await sql`select uptuple.record_health(${order[0] as string}, 'DOWN')`;
    }
  };
  const work = async (sql: typeof owner, status: number) => {
    for (let round = 0; round < 25; round++) {
      const jobs = await claim(sql, 10);
      const outcomes = await completeBatch(
        sql,
        jobs.toReversed().map((job) => completion(job, { status, timings: { total: 1 } })),
      );
      assert.ok(outcomes.every((outcome) => outcome === "ACCEPTED"), String(outcomes));
    }
  };
  const produce = async (sql: typeof owner) => {
    for (let round = 0; round < 25; round++) {
      await enqueue(sql);
      await sql`select uptuple.sweep()`;
    }
  };
  await Promise.all([
    change(person, names),
    change(other, names.toReversed()),
    produce(producer),
    work(worker, 200),
    work(helper, 500),
  ]);

  for (const name of names) await owner`select uptuple.enable_service(${name})`;
  const jobs = await claim(owner, 100);
  await completeBatch(owner, jobs.map((job) => completion(job, ANSWERED)));
  await assertNoViolations(owner);
});
