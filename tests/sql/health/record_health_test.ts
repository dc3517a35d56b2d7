import assert from "node:assert/strict";
import { fail, record, violations } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** Everything that a call could have changed, to compare before and after one that is refused. */
async function everything(owner: TestSql): Promise<unknown> {
  return await owner`
    select (select count(*) from uptuple.result) as results, (select count(*) from uptuple.event) as events,
      (select count(*) from uptuple.incident) as incidents, (select count(*) from uptuple.job) as jobs,
      (select array_agg(state order by service_id) from uptuple.service_state state) as states`;
}

Deno.test("each result stores its status, its reason and the order in which it was applied", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  await record(owner, "shop", "UP", "DEGRADED", "INCONCLUSIVE", "DOWN");

  const results = await owner`select status, reason, code, applied_order from uptuple.result order by recorded_at`;
  assert.deepEqual([...results], [
    { status: "UP", reason: "it is UP", code: null, applied_order: "1" },
    { status: "DEGRADED", reason: "it is DEGRADED", code: null, applied_order: "2" },
    { status: "INCONCLUSIVE", reason: "it is INCONCLUSIVE", code: null, applied_order: null },
    { status: "DOWN", reason: "it is DOWN", code: "manual", applied_order: "3" },
  ]);
});

Deno.test("DEGRADED counts as up", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  const broken = await record(owner, "shop", "DOWN", "DOWN", "DEGRADED", "DOWN", "DOWN");
  assert.equal(broken.state, "DEGRADED");
  assert.equal(broken.incident_id, null);

  await record(owner, "shop", "DOWN");
  const closed = await record(owner, "shop", "DEGRADED");
  assert.equal(closed.state, "DEGRADED");
  assert.equal(closed.incident_id, null);
});

Deno.test("INCONCLUSIVE is a gap: it neither extends a streak nor ends it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  const afterGap = await record(owner, "shop", "DOWN", "DOWN", "INCONCLUSIVE");
  assert.deepEqual({ ...afterGap }, {
    applied: false,
    state: "UNKNOWN",
    failure_streak: 2,
    success_streak: 0,
    incident_id: null,
  });

  const third = await record(owner, "shop", "DOWN");
  assert.equal(third.state, "DOWN");
});

Deno.test("a record by hand answers whether it was applied and the state it led to", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { recoveryThreshold: 2 });

  const incident = await fail(owner, "shop");
  const up = await record(owner, "shop", "UP");

  assert.deepEqual({ ...up }, {
    applied: true,
    state: "DOWN",
    failure_streak: 0,
    success_streak: 1,
    incident_id: incident,
  });
});

Deno.test("six records by hand in a second are six records, in the order of their arrival", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  await owner`
    do $$ begin
      for number in 1..6 loop
        perform uptuple.record_health('shop', case when number < 4 then 'DOWN' else 'UP' end, number::text);
      end loop;
    end $$`;

  const results = await owner`
    select reason, purpose, applied_order::int, scheduled_slot = floor(extract(epoch from recorded_at)) as arrival
    from uptuple.result order by applied_order`;
  assert.deepEqual(
    [...results],
    [1, 2, 3, 4, 5, 6].map((number) => ({
      reason: String(number),
      purpose: "MANUAL",
      applied_order: number,
      arrival: true,
    })),
  );
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a record by hand never keeps a window out, also not that of its own second", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const [job] = await owner`select * from uptuple.claim_job('probe')`;

  await record(owner, "shop", "DOWN");
  await owner`update uptuple.result set scheduled_slot = ${job.scheduled_slot}`;
  const [completed] = await owner`
    select outcome from uptuple.complete_jobs(jsonb_build_array(jsonb_build_object(
      'job_id', ${job.job_id}::bigint, 'owner_token', ${job.owner_token}::uuid, 'observation', '{"status": 200}'::jsonb)))`;

  assert.equal(completed.outcome, "ACCEPTED");
  const results = await owner`select purpose, status, applied_order from uptuple.result order by applied_order`;
  assert.deepEqual([...results], [
    { purpose: "MANUAL", status: "DOWN", applied_order: "1" },
    { purpose: "FIRST", status: "UP", applied_order: "2" },
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a record by hand makes the partition of its second when that is missing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`
    do $$ declare partition regclass; begin
      for partition in select inhrelid from pg_inherits where inhparent = 'uptuple.result'::regclass loop
        execute 'drop table ' || partition;
      end loop;
    end $$`;

  await record(owner, "shop", "UP");

  const [stored] = await owner`select tableoid::regclass::text as partition from uptuple.result`;
  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  assert.match(stored.partition, new RegExp(`^uptuple\\.result_(${today}|${Number(today) + 1})$`));
});

Deno.test("a record without a reason names who made it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addService(operator, "shop");

  await operator`select uptuple.record_health('shop', 'up')`;

  const [result] = await owner`select status, reason, worker from uptuple.result`;
  assert.deepEqual({ ...result }, {
    status: "UP",
    reason: "recorded by uptuple_test_operator",
    worker: "uptuple_test_operator",
  });
});

Deno.test("hostile text in a reason is stored safe and short", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const reason = `'; drop table uptuple.result; -- \u0002"\\ 🧨 ` + "y".repeat(1_000_000);

  await owner`select uptuple.record_health('shop', 'DOWN', ${reason})`;

  const [result] = await owner`select reason from uptuple.result`;
  assert.equal([...result.reason].length, 500);
  assert.ok(result.reason.startsWith(`'; drop table uptuple.result; -- \ufffd"\\ 🧨 yyy`));
});

Deno.test("a record on a disabled service is stored and moves nothing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 1 });
  await owner`select uptuple.disable_service('shop')`;

  const late = await record(owner, "shop", "DOWN");

  assert.deepEqual({ ...late }, {
    applied: false,
    state: "UNKNOWN",
    failure_streak: 0,
    success_streak: 0,
    incident_id: null,
  });
  const results = await owner`select status, applied_order from uptuple.result`;
  assert.deepEqual([...results], [{ status: "DOWN", applied_order: null }]);
  assert.deepEqual(await violations(owner), []);
});

const refusals = [
  {
    what: "an unknown service",
    call: ["cart", "UP", null, null, null],
    code: "UT001",
    message: /there is no service named 'cart'/,
  },
  {
    what: "no service",
    call: [null, "UP", null, null, null],
    code: "UT001",
    message: /there is no service named null/,
  },
  {
    what: "a status that is no verdict",
    call: ["shop", "BROKEN", null, null, null],
    code: "22023",
    message: /status is 'BROKEN'/,
  },
  { what: "no status", call: ["shop", null, null, null, null], code: "22023", message: /status is null/ },
  { what: "a negative latency", call: ["shop", "UP", null, -1, null], code: "22023", message: /latency_ms is -1/ },
  {
    what: "a latency that is no number",
    call: ["shop", "UP", null, "NaN", null],
    code: "22023",
    message: /latency_ms is NaN/,
  },
  {
    what: "an endless latency",
    call: ["shop", "UP", null, "Infinity", null],
    code: "22023",
    message: /latency_ms is Infinity/,
  },
  {
    what: "a region that the service is not in",
    call: ["shop", "UP", null, null, "moon"],
    code: "UT001",
    message: /from region 'moon'/,
  },
] as const;

Deno.test("a record that makes no sense is refused with the cure and changes nothing", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await record(owner, "shop", "DOWN", "DOWN");
  const before = await everything(owner);

  for (const { what, call, code, message } of refusals) {
    await t.step(what, async () => {
      const [service, status, reason, latency, region] = call;
      const refused = owner`
        select * from uptuple.record_health(
          ${service}, ${status}, ${reason}, ${latency === null ? null : String(latency)}::text::real, ${region})`;

      await assert.rejects(refused, (error: Error & { code: string; hint?: string }) => {
        assert.equal(error.code, code);
        assert.match(error.message, message);
        assert.ok(error.hint);
        return true;
      });
      assert.deepEqual(await everything(owner), before);
    });
  }
});

Deno.test("a runtime and an operator may record, a viewer may not", async () => {
  await using database = await testDatabase();
  await addService(database.owner, "shop");
  const worker = await database.connect("uptuple_worker");
  const operator = await database.connect("uptuple_operator");
  const viewer = await database.connect("uptuple_viewer");

  assert.equal((await record(worker, "shop", "UP")).applied, true);
  assert.equal((await record(operator, "shop", "UP")).applied, true);
  await assert.rejects(record(viewer, "shop", "UP"), { code: "42501" });
});
