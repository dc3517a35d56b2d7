import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  checkNextWindow,
  claim,
  claimOne,
  complete,
  letTimePass,
  makeWindowDue,
  openWindow,
  REFUSED,
} from "../../support/services.ts";

/** Verdicts and gaps of a service's windows, oldest first. */
async function windows(sql: TestSql, service = "inventory"): Promise<string[]> {
  const rows = await sql<{ verdict: string | null; gap: string | null }[]>`select * from uptuple.windows(${service})`;
  return rows.map(({ verdict, gap }) => {
    assert.ok((verdict === null) !== (gap === null), "a window has a verdict or the name of its gap");
    return (verdict ?? gap) as string;
  });
}

async function uptime(sql: TestSql, service = "inventory"): Promise<Record<string, unknown>> {
  const [row] = await sql`select * from uptuple.uptime(${service})`;
  return { ...row };
}

Deno.test("each window has its verdict or the name of its gap", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });

  await checkNextWindow(owner, "inventory", ANSWERED);
  await checkNextWindow(owner, "inventory", REFUSED);
  await checkNextWindow(owner, "inventory", { error: { code: "secret.missing", message: "not set" } });
  await makeWindowDue(owner, "inventory"); // nobody claims it
  await makeWindowDue(owner, "inventory");
  await owner`update uptuple.job set attempts = 2 where state = 'READY'`;
  const broken = await claimOne(owner);
  await owner`select uptuple.retry_job(${broken.job_id}, ${broken.owner_token}, 'stalled')`;
  await makeWindowDue(owner, "inventory");
  await owner`select uptuple.cancel_jobs(service => 'inventory')`;
  await openWindow(owner, "inventory"); // nobody makes its job
  await makeWindowDue(owner, "inventory");

  assert.deepEqual(await windows(owner), [
    "UP",
    "DOWN",
    "INCONCLUSIVE",
    "MISSED",
    "FAILED",
    "CANCELED",
    "ABSENT",
    "PENDING",
  ]);
  assert.deepEqual(await uptime(owner), {
    expected: "7",
    up: "1",
    down: "1",
    uptime: "0.500000",
    coverage: "0.285714",
  });
  const [shown] = await owner`select * from uptuple.coverage`;
  assert.deepEqual({ ...shown }, {
    service: "inventory",
    expected: "7",
    up: "1",
    down: "1",
    gaps: "5",
    uptime: "0.500000",
    coverage: "0.285714",
  });
});

Deno.test("gaps count in neither direction: uptime is of the windows with a verdict, and coverage tells how many those are", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await checkNextWindow(owner, "inventory", ANSWERED);
  await openWindow(owner, "inventory");
  await checkNextWindow(owner, "inventory", ANSWERED);
  await checkNextWindow(owner, "inventory", REFUSED);

  assert.deepEqual(await uptime(owner), {
    expected: "4",
    up: "2",
    down: "1",
    uptime: "0.666667",
    coverage: "0.750000",
  });
});

Deno.test("five hours without any runtime are absent windows: nothing is made up, and coverage says so", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "30 seconds" });
  await checkNextWindow(owner, "inventory", REFUSED);
  await checkNextWindow(owner, "inventory", REFUSED);

  await letTimePass(owner, 5 * 3600);
  await checkNextWindow(owner, "inventory", REFUSED);

  const all = await windows(owner);
  assert.equal(all.filter((window) => window === "ABSENT").length, 600);
  const { up, down } = await uptime(owner);
  assert.deepEqual([up, down], ["0", "3"]);
  const [state] = await owner`select status, failure_streak from uptuple.service_state`;
  assert.deepEqual(
    { ...state },
    { status: "UP", failure_streak: 1 },
    "a streak does not last over a gap of five hours",
  );
});

Deno.test("a request does not count in coverage", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await checkNextWindow(owner, "inventory", ANSWERED);
  const before = await uptime(owner);

  await letTimePass(owner, 5);
  await owner`select uptuple.check_now('inventory')`;
  await complete(owner, await claimOne(owner), REFUSED);

  assert.deepEqual(await uptime(owner), before);
});

Deno.test("a change of the interval is counted with the grid that was in force at the time", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await openWindow(owner, "inventory");
  await letTimePass(owner, 590);
  const before = (await windows(owner)).length;
  assert.equal(before, 10);

  await owner`select uptuple.update_service('inventory', every => '10 seconds')`;
  await openWindow(owner, "inventory");
  await letTimePass(owner, 95);

  assert.equal((await windows(owner)).length, before + 10);
});

Deno.test("a time that is still to come has no windows", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await checkNextWindow(owner, "inventory", ANSWERED);

  const [ahead] = await owner`
    select expected, coverage from uptuple.uptime('inventory', until => clock_timestamp() + interval '1 day')`;

  assert.deepEqual({ ...ahead }, { expected: "1", coverage: "1.000000" });
});

Deno.test("a stretch of time can be asked for, from its first second up to and without its last", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  for (let window = 0; window < 3; window++) await checkNextWindow(owner, "inventory", ANSWERED);
  const [slots] =
    await owner`select array_agg(scheduled_slot order by scheduled_slot) as all from uptuple.windows('inventory')`;

  const [asked] = await owner`
    select array_agg(scheduled_slot) as slots
    from uptuple.windows('inventory', to_timestamp(${slots.all[1]}), to_timestamp(${slots.all[2]}))`;

  assert.deepEqual(asked.slots, [slots.all[1]]);
});

Deno.test("where nothing is expected yet, there is no uptime and no coverage", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });

  assert.deepEqual(await uptime(owner), { expected: "0", up: "0", down: "0", uptime: null, coverage: null });
});

Deno.test("a service that is not there has no report", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  for (const report of ["windows", "uptime"]) {
    await assert.rejects(owner.unsafe(`select * from uptuple.${report}('nobody')`), {
      code: "UT001",
      message: "there is no service named 'nobody'",
      hint: "select service from uptuple.status lists the services.",
    });
  }
});

Deno.test("the backlog tells what is due, ahead, running and left behind, by region", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["dead", "running", "due", "ahead"]) await addService(owner, name, { every: "1 day" });
  await addService(owner, "elsewhere", { every: "1 day", region: "eu-west" });
  await claim(owner, 1);
  await letTimePass(owner, 40);
  await owner`update uptuple.job set due_at = clock_timestamp() - interval '50 s' where service_id = 2`;
  await claim(owner, 1);
  await owner`update uptuple.job set due_at = clock_timestamp() + interval '1 minute' where service_id = 4`;

  const rows = await owner<Record<string, unknown>[]>`
    select region, due, ahead, running, leases_ended, longest_wait >= interval '40 s' as long_wait from uptuple.jobs_backlog`;

  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { region: "default", due: "1", ahead: "1", running: "1", leases_ended: "1", long_wait: true },
    { region: "eu-west", due: "1", ahead: "0", running: "0", leases_ended: "0", long_wait: true },
  ]);
});
