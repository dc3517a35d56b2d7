import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { type ExplainedConnection, explainedConnection, forgetStatistics, stopAutovacuum } from "./plans.ts";

const SERVICES = 2000;
const OCCURRENCES = 50_000;

/** Pages that a call may take: mostly of catalogs, where plans are made first. */
const PAGES = 4000;

async function addServices(sql: TestSql): Promise<void> {
  await sql`
    insert into uptuple.service (name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold)
    select 'service ' || number, 86400, number, number % 1000, 0, 3, 1 from generate_series(1, ${SERVICES}) number`;
  await sql`
    insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
    select id, 1, 'http', 'http://127.0.0.1/', uptuple.http_config('GET', '{}', null, '200-299', 0, false), 10000 from uptuple.service`;
  await sql`insert into uptuple.service_state (service_id, region) select id, 'default' from uptuple.service`;
  await sql`insert into uptuple.service_membership (service_id, tags) select id, '{}' from uptuple.service`;
}

/** A hundred windows over everything, whose occurrences lie before and after now and leave a day around it free. */
async function addOccurrences(sql: TestSql): Promise<void> {
  await sql`
    with planned as (
      insert into uptuple.maintenance_window (title, recurrence, starts_at, cron, duration, time_zone)
      select 'Maintenance', 'CRON', now(), '0 3 * * *', '1 hour', 'UTC' from generate_series(1, 100)
      returning id
    ),
    scoped as (
      insert into uptuple.maintenance_scope (window_id, everything) select id, true from planned
    )
    insert into uptuple.maintenance_occurrence (window_id, during)
    select id, tstzrange(starts_at, starts_at + interval '10 minutes')
    from planned
    cross join generate_series(1, ${OCCURRENCES / 200}) turn
    cross join lateral (
      values (now() + interval '1 day' + turn * interval '1 hour'), (now() - interval '1 day' - turn * interval '1 hour')
    ) given (starts_at)`;
}

/** Applies a failure that no incident is open for, by hand and without storing anything. */
async function checkFailures({ sql, explain }: ExplainedConnection, when: string): Promise<void> {
  await sql.unsafe("begin");
  const work = await explain((sql) => sql`select * from uptuple.record_health('service 1', 'DOWN')`);
  await sql.unsafe("rollback");
  const scanned = [...work.scannedTables].filter((table) =>
    table.includes("maintenance") || table.includes("membership")
  );
  assert.deepEqual(scanned, [], `a failure ${when} scans tables`);
  assert.equal(work.rowsByIndex.get("maintenance_occurrence_during") ?? 0, 0, `a failure ${when} reads occurrences`);
}

/** Asks for a failing service, as the hot path does, while nothing, and while one thing, is in maintenance. */
async function checkLookUps({ explain }: ExplainedConnection, when: string): Promise<void> {
  for (const call of ["in_maintenance", "maintenance_end", "hold_until"]) {
    const work = await explain((sql) =>
      sql.unsafe(`select uptuple.${call}(1000${call === "hold_until" ? "" : ", clock_timestamp()"})`)
    );
    assert.deepEqual([...work.scannedTables], [], `${call} ${when} scans tables`);
    assert.deepEqual([...work.otherJoins], [], `${call} ${when} joins otherwise than by nested loops`);
    const rows = work.rowsByIndex.get("maintenance_occurrence_during") ?? 0;
    assert.equal(rows, 0, `${call} ${when} reads ${rows} occurrences`);
    assert.equal(work.rowsByIndex.get("service_membership_by_service") ?? 0, 0, `${call} ${when} reads memberships`);
    assert.ok(work.buffers < PAGES, `${call} ${when} looks at ${work.buffers} pages`);
  }

  const held = await explain((sql) => sql`select uptuple.hold_notices()`);
  assert.deepEqual([...held.scannedTables], [], `hold_notices ${when} scans tables`);
}

Deno.test("a failure asks for maintenance by one look into an index, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await stopAutovacuum(owner);
  await using early = await explainedConnection(database.url);
  await t.step("no statistics, nothing there, the first calls", () => checkLookUps(early, "at first"));

  /** By plans that were made long ago and by plans made now. */
  async function check(when: string): Promise<void> {
    await t.step(when, async () => {
      await checkLookUps(early, `${when}, by an old plan`);
      await using late = await explainedConnection(database.url);
      await checkLookUps(late, `${when}, by a new plan`);
    });
  }

  await owner`analyze`;
  await check("analysed, nothing there");
  await addServices(owner);
  await t.step("a failure, nothing there", () => checkFailures(early, "at first"));
  await addOccurrences(owner);
  await check("analysed while it was empty, 50,000 occurrences");
  await owner`analyze`;
  await check("analysed, 50,000 occurrences");
  await t.step("a failure, 50,000 occurrences", () => checkFailures(early, "by an old plan"));
  await forgetStatistics(owner);
  await check("no statistics, 50,000 occurrences");
});
