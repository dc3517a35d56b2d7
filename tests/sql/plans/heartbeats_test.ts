import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { type ExplainedConnection, explainedConnection, type Work } from "./plans.ts";

const MANY = 100_000;
const DUE = 3;

/** Pages that a call takes every second when there is nothing to do. */
const PAGES_IDLE = 100;
/** Pages that a call may take, however few rows there are: mostly of catalogs, where plans are made first. */
const PAGES_FOR_NOTHING = 6000;
const PAGES_A_HEARTBEAT = 300;

async function addHeartbeats(sql: TestSql, count: number): Promise<void> {
  await sql`alter table uptuple.heartbeat set (autovacuum_enabled = off)`;
  await sql`
    with added as (
      insert into uptuple.service (
        name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold, probed
      )
      select 'heartbeat ' || gen_random_uuid(), 3600, 0, 0, 0, 1, 1, false from generate_series(1, ${count})
      returning id
    ),
    revised as (
      insert into uptuple.service_revision (service_id, revision, kind, target, config, timeout_ms)
      select id, 1, 'heartbeat', 'heartbeat:', '{"grace_seconds": 300}', 10000 from added
    ),
    stated as (
      insert into uptuple.service_state (service_id, region, failure_threshold) select id, 'default', 1 from added
    )
    insert into uptuple.heartbeat (service_id, revision, interval_seconds, expected_at, due_at)
    select id, 1, 3600, clock_timestamp() + interval '1 hour', clock_timestamp() + interval '65 minutes' from added`;
}

function assertBounded(work: Work, rows: number, what: string): void {
  assert.deepEqual([...work.otherJoins], [], `${what} joins otherwise than by nested loops`);
  const scanned = [...work.scannedTables].filter((table) => table !== "heartbeat_cursor");
  assert.deepEqual(scanned, [], `${what} scans tables`);
  for (
    const index of ["heartbeat_due", "heartbeat_pkey", "heartbeat_token_key", "service_pkey", "service_state_pkey"]
  ) {
    const read = work.rowsByIndex.get(index) ?? 0;
    assert.ok(read <= 8 * (rows + 1), `${what} reads ${read} rows through ${index}, for ${rows} heartbeats`);
  }
  const pages = PAGES_FOR_NOTHING + PAGES_A_HEARTBEAT * rows;
  assert.ok(work.buffers < pages, `${what} looks at ${work.buffers} pages`);
}

/** @param offset Which heartbeats become due: others each time, as one changes once a second at most. */
async function check({ explain }: ExplainedConnection, owner: TestSql, offset: number, when: string): Promise<void> {
  await explain((sql) => sql`select uptuple.check_heartbeats()`);
  const idle = await explain((sql) => sql`select uptuple.check_heartbeats()`);
  assertBounded(idle, 0, `check_heartbeats with nothing due ${when}`);
  assert.ok(idle.buffers < PAGES_IDLE, `check_heartbeats with nothing due ${when} looks at ${idle.buffers} pages`);

  await owner`
    update uptuple.heartbeat
    set expected_at = clock_timestamp() - interval '6 minutes', due_at = clock_timestamp() - interval '1 minute'
    where service_id in (select service_id from uptuple.heartbeat order by service_id limit ${DUE} offset ${offset})`;
  const [known] = await owner<[{ due: number }]>`
    select count(*)::integer as due from uptuple.heartbeat where due_at < clock_timestamp()`;
  let found = 0;
  const work = await explain(async (sql) => {
    const [row] = await sql<{ found: number }[]>`select uptuple.check_heartbeats() as found`;
    found = row?.found ?? 0;
  });
  assert.equal(found, known.due, when);
  assertBounded(work, found, `check_heartbeats ${when}`);
  if (found === 0) return;

  const [one] = await owner<
    [{ token: string }]
  >`select token from uptuple.heartbeat order by service_id limit 1 offset ${offset}`;
  const report = await explain((sql) =>
    sql`select uptuple.heartbeat_by_token(${one.token}::uuid, 'success', null, null)`
  );
  assertBounded(report, 1, `heartbeat_by_token ${when}`);
}

Deno.test("looking for overdue heartbeats reads those and no others, and a report reads its own, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`
    select uptuple.ensure_partitions(now_second - 86400, now_second + 86400)
    from (select extract(epoch from clock_timestamp())::bigint as now_second) clock`;
  // Its plans are made while there is nothing, and then kept, as those of a runtime that has been up for long.
  await using early = await explainedConnection(database.url);

  let offset = 0;
  const step = (when: string) =>
    t.step(when, async () => {
      await check(early, owner, offset += DUE, `${when}, by an old plan`);
      await using late = await explainedConnection(database.url);
      await check(late, owner, offset += DUE, `${when}, by a new plan`);
    });

  await step("no heartbeats");
  await owner`analyze uptuple.heartbeat`;
  await addHeartbeats(owner, MANY);
  await step("analysed while there were none, 100,000 heartbeats");
  await owner`analyze uptuple.heartbeat, uptuple.service, uptuple.service_state`;
  await step("analysed, 100,000 heartbeats");
});
