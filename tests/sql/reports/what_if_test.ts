import assert from "node:assert/strict";
import { chanceFrom } from "../../support/random.ts";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { ANSWERED, assertNoViolations, complete, type Observation, REFUSED, startJob } from "../../support/services.ts";

/** An alert as these tests compare it: its kind, whether it would be told, whether it was, the streak. */
type Alert = [kind: string, would: boolean, did: boolean, streak: number | null];

async function whatIf(sql: TestSql, config: object = {}): Promise<Alert[]> {
  const rows = await sql<Record<string, never>[]>`select * from uptuple.what_if('inventory', ${
    sql.json(config as never)
  })`;
  return rows.map((row) => [row.kind, row.would_tell, row.told, row.streak] as unknown as Alert);
}

/** A service with a history: one observation a minute. Returns its id. */
async function past(sql: TestSql, observations: Observation[], args = "url => 'https://a/'"): Promise<string> {
  const [added] = await sql.unsafe(
    `select uptuple.add_service(name => 'inventory', every => '1 minute', confirm_every => '1 day', ${args}) as id`,
  );
  const base = Math.floor(Date.now() / 1000) - 80_000;
  await sql`select uptuple.ensure_partitions(${base}, ${base + 86_400})`;
  for (const [index, observation] of observations.entries()) {
    await complete(sql, await startJob(sql, added?.id, base + index * 60), observation);
  }
  return added?.id;
}

const UP = ANSWERED;
const DOWN = REFUSED;
const took = (total: number): Observation => ({ status: 200, timings: { total } });
const answered = (status: number): Observation => ({ status, timings: { total: 5 } });

Deno.test("with the settings as they are, what would have been told is what was told", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await past(owner, [UP, DOWN, DOWN, UP, DOWN, DOWN, DOWN, DOWN, UP, UP]);

  assert.deepEqual(await whatIf(owner), [["service.failed", true, true, 3], ["service.recovered", true, true, 1]]);
  const [told] =
    await owner`select occurred_at, reason, code from uptuple.what_if('inventory') where kind = 'service.failed'`;
  const [event] = await owner`select occurred_at, data from uptuple.event where kind = 'service.failed'`;
  assert.deepEqual([told.occurred_at, told.code, told.reason], [event.occurred_at, event.data.code, event.data.reason]);
});

Deno.test("other thresholds tell sooner, later, or not at all", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await past(owner, [UP, DOWN, DOWN, UP, DOWN, DOWN, DOWN, DOWN, UP, UP]);

  assert.deepEqual(await whatIf(owner, { failure_threshold: 2 }), [
    ["service.failed", true, false, 2],
    ["service.recovered", true, false, 1],
    ["service.failed", true, false, 2],
    ["service.failed", false, true, null],
    ["service.recovered", true, true, 1],
  ]);
  assert.deepEqual(await whatIf(owner, { failure_threshold: 4, recovery_threshold: 2 }), [
    ["service.failed", false, true, null],
    ["service.failed", true, false, 4],
    ["service.recovered", false, true, null],
    ["service.recovered", true, false, 2],
  ]);
  assert.deepEqual(await whatIf(owner, { failure_threshold: 5 }), [
    ["service.failed", false, true, null],
    ["service.recovered", false, true, null],
  ]);
});

Deno.test("other statuses are tried on those that came, and no answer stays no answer", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await past(owner, [answered(404), answered(404), answered(404), UP, DOWN, DOWN, DOWN, UP]);

  assert.deepEqual(await whatIf(owner, { expected_statuses: "200-299, 404" }), [
    ["service.failed", false, true, null],
    ["service.recovered", false, true, null],
    ["service.failed", true, true, 3],
    ["service.recovered", true, true, 1],
  ]);
});

Deno.test("assertions on status, latency and certificate are tried as of the time of each check", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const expiring = (days: number): Observation => ({
    ...UP,
    certificate: { not_after: new Date(Date.now() + days * 86_400_000).toISOString() },
  });
  await past(owner, [took(900), took(950), took(990), took(5), expiring(3), expiring(3), expiring(3), expiring(90)]);

  const slow = { latency_ms: { "<": 800 }, otherwise: "DOWN" };
  const certified = { any: [{ certificate_days: { ">=": 14 } }, { latency_ms: { "!=": 12.5 } }] };
  assert.deepEqual(await whatIf(owner), []);
  assert.deepEqual(await whatIf(owner, { assertions: [slow] }), [["service.failed", true, false, 3], [
    "service.recovered",
    true,
    false,
    1,
  ]]);
  assert.deepEqual(await whatIf(owner, { assertions: [{ ...slow, otherwise: "DEGRADED" }] }), []);
  assert.deepEqual(await whatIf(owner, { assertions: [certified] }), [["service.failed", true, false, 3], [
    "service.recovered",
    true,
    false,
    1,
  ]]);
  const [alert] = await owner`
    select code, reason from uptuple.what_if('inventory', ${
    owner.json({ assertions: [slow] })
  }) where kind = 'service.failed'`;
  assert.deepEqual([alert.code, alert.reason], ["assertion.latency", "latency_ms < 800: found 990"]);
});

Deno.test("assertions that are given replace those there are; other statuses leave their outcomes as they were", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const body = (text: string, status = 200): Observation => ({ status, body: text, timings: { total: 5 } });
  await past(
    owner,
    [
      body("no", 500),
      body("no", 500),
      body("no", 500),
      body("ok"),
      body("ok", 500),
      body("ok", 500),
      body("ok", 500),
      body("ok"),
    ],
    `url => 'https://a/', assertions => '[{"body": {"contains": "ok"}}]'`,
  );

  assert.deepEqual(await whatIf(owner, { expected_statuses: "200-599" }), [
    ["service.failed", true, true, 3],
    ["service.recovered", true, true, 1],
    ["service.failed", false, true, null],
    ["service.recovered", false, true, null],
  ]);
  assert.deepEqual((await whatIf(owner, { assertions: [], expected_statuses: "200-599" })).map(([, would]) => would), [
    false,
    false,
    false,
    false,
  ]);
});

Deno.test("what is not stored cannot be tried, and the refusal says why", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await past(owner, [UP]);
  const refusals: [config: unknown, message: RegExp][] = [
    [
      { assertions: [{ any: [{ status: 200 }, { body: { contains: "x" } }] }] },
      /^config has an assertion on body, and bodies and headers are not stored$/,
    ],
    [{ assertions: [{ json: "$.a", exists: true }] }, /^config has an assertion on json/],
    [{ assertions: [{ header: "a", exists: true }] }, /^config has an assertion on header/],
    [{ assertions: [{ speed: 1 }] }, /^assertion 1 is/],
    [{ timeout: 5 }, /^config has 'timeout', which cannot be tried on what is stored$/],
    [{ failure_threshold: 0 }, /^failure_threshold is 0, and must be between 1 and 100$/],
    [{ recovery_threshold: 1.5 }, /^recovery_threshold is 1.5/],
    [{ failure_threshold: null }, /^failure_threshold is null/],
    [{ expected_statuses: "2xx" }, /^expected_statuses has '2xx'/],
    [[], /^config must be a JSON object$/],
  ];

  for (const [config, message] of refusals) {
    await assert.rejects(whatIf(owner, config as object), (error: { code: string; message: string }) => {
      assert.match(error.message, message);
      assert.equal(error.code, "22023");
      return true;
    });
  }
  await assert.rejects(owner`select * from uptuple.what_if('nobody')`, { code: "UT001" });
  await assert.rejects(owner`select * from uptuple.what_if('inventory', '{}', now(), now() - interval '1 day')`, {
    code: "22023",
  });
});

Deno.test("an alert counts in the time it was told, with the streak that led to it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await past(owner, [DOWN, DOWN, DOWN, UP]);
  const [opened] = await owner`select opened_at from uptuple.incident`;

  const later = await owner<Record<string, unknown>[]>`
    select kind, would_tell, told from uptuple.what_if('inventory', '{}', ${opened.opened_at}::timestamptz + interval '1 ms')`;
  assert.deepEqual(later.map((row) => [row.kind, row.would_tell, row.told]), [["service.recovered", true, true]]);
});

Deno.test("failures in maintenance would raise nothing, as they raised nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await past(owner, []);
  await owner`
    select uptuple.plan_maintenance(
      'Move', services => '{inventory}', starts_at => clock_timestamp() - interval '23 hours', duration => '22 hours')`;
  const base = Math.floor(Date.now() / 1000) - 80_000;
  for (const [index, observation] of [DOWN, DOWN, DOWN, DOWN, UP].entries()) {
    await complete(owner, await startJob(owner, id, base + index * 60), observation);
  }

  assert.deepEqual(await whatIf(owner, { failure_threshold: 2 }), []);

  await owner`update uptuple.maintenance_occurrence set cancelled_at = clock_timestamp()`;
  assert.deepEqual((await whatIf(owner, { failure_threshold: 2 })).map(([kind]) => kind), [
    "service.failed",
    "service.recovered",
  ]);
});

for (const seed of [21, 22, 23, 24]) {
  Deno.test(`the state machine written twice says the same of a random history (seed ${seed})`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    const chance = chanceFrom(seed);
    const thresholds = () => ({ failure_threshold: 1 + chance.below(3), recovery_threshold: 1 + chance.below(3) });
    const [own, others] = [thresholds(), thresholds()];
    const ids = new Map<string, string>();
    for (const [name, { failure_threshold, recovery_threshold }] of [["inventory", own], ["other", others]] as const) {
      const [added] = await owner`
        select uptuple.add_service(
          name => ${name}, url => 'https://a/', every => '1 minute', confirm_every => '1 day',
          failure_threshold => ${failure_threshold}, recovery_threshold => ${recovery_threshold}
        ) as id`;
      // A replay does not know of damping.
      await owner`select uptuple.set_damping(${name}, false)`;
      ids.set(name, added.id);
    }
    /** As if the grid had begun, so that an end of it leaves a trace. */
    const beginGrid = () =>
      owner`update uptuple.service_active set during = tstzrange(clock_timestamp(), null) where upper_inf(during)`;
    await beginGrid();
    const start = Math.floor(Date.now() / 1000) - 79_000;
    await owner`select uptuple.ensure_partitions(${start - 1000}, ${start + 86_400})`;
    const check = async (slot: number, purpose: string, observation: Observation): Promise<void> => {
      for (const id of ids.values()) {
        assert.equal(await complete(owner, await startJob(owner, id, slot, purpose), observation), true);
      }
    };
    let slot = start;
    let enabled = true;
    let trend = UP;

    for (let step = 0; step < 120; step++) {
      if (chance.percent(20)) trend = trend === UP ? DOWN : UP;
      const observation = chance.percent(8)
        ? { error: { code: "secret.missing", message: "not set" } }
        : chance.percent(10)
        ? answered(500)
        : trend;
      const dice = chance.below(100);
      if (dice < 70) {
        slot += 60 * (chance.percent(6) ? 5 : 1);
        await check(slot, chance.pick(["GRID", "GRID", "GRID", "CONFIRM"]), observation);
      } else if (dice < 80) {
        await check(slot + 7, "REQUEST", observation);
        slot += 60;
      } else if (dice < 86) {
        await check(start - 1 - step, "GRID", observation);
      } else if (dice < 95) {
        const status = chance.pick(["UP", "DOWN", "DOWN", "DEGRADED", "INCONCLUSIVE"]);
        for (const name of ids.keys()) await owner`select uptuple.record_health(${name}, ${status})`;
      } else {
        for (const name of ids.keys()) {
          if (enabled) await owner`select uptuple.disable_service(${name})`;
          else await owner`select uptuple.enable_service(${name})`;
        }
        if (!enabled) await beginGrid();
        enabled = !enabled;
      }
    }

    const toldOf = async (name: string): Promise<string[]> => {
      const events = await owner<{ kind: string }[]>`
        select kind from uptuple.event
        where service_id = ${ids.get(name)!} and kind in ('service.failed', 'service.recovered') order by id`;
      return events.map((event) => event.kind);
    };
    const alerts = await whatIf(owner);
    assert.ok(alerts.length > 1, "the history has alerts in it");
    assert.deepEqual(alerts.map(([kind]) => kind), await toldOf("inventory"));
    assert.deepEqual(alerts.filter(([, would, did]) => !would || !did), []);
    const otherwise = (await whatIf(owner, others)).filter(([, would]) => would);
    assert.deepEqual(
      otherwise.map(([kind]) => kind),
      await toldOf("other"),
      "as a service with those settings did tell",
    );
    await assertNoViolations(owner);
  });
}
