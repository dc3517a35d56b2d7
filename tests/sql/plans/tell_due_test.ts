import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { type ExplainedConnection, explainedConnection, stopAutovacuum } from "./plans.ts";

const MANY = 50_000;
const DUE = 4;
/** Pages that a call may take, however little is due: mostly of catalogs, where plans are made first. */
const PAGES_FOR_NOTHING = 6000;
const PAGES_AN_INCIDENT = 600;
const ROWS_AN_INCIDENT = 40;
/** Of these there are a few rows only. */
const SMALL = ["channel", "route", "silence_watch"];

/** Services that are down for an hour, each told to a channel with reminders, whose next look is at some time. */
async function addIncidents(sql: TestSql, count: number, lookAt: string): Promise<void> {
  await sql`
    with service as (
      insert into uptuple.service (name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold)
      select 'service ' || gen_random_uuid(), 86400, 0, 0, 0, 3, 1 from generate_series(1, ${count}) returning id
    ),
    incident as (
      insert into uptuple.incident (service_id, region, started_at, opened_at, opened_order, look_at, waiting_since)
      select id, 'default', hour_ago, hour_ago, 3, clock_timestamp() + ${lookAt}::interval, hour_ago
      from service cross join (select clock_timestamp() - interval '1 hour' as hour_ago) past
      returning id, service_id
    ),
    state as (
      insert into uptuple.service_state (service_id, region, status, incident_id)
      select service_id, 'default', 'DOWN', id from incident
    ),
    event as (
      insert into uptuple.event (kind, service_id, incident_id, dedupe_key, occurred_at, data)
      select 'service.failed', service_id, id, 'failed ' || id, clock_timestamp() - interval '1 hour', '{}' from incident
      returning id, service_id, incident_id
    )
    insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, state, finished_at)
    select event.id, channel.id, event.service_id, event.incident_id, 'DELIVERED', clock_timestamp()
    from event cross join uptuple.channel`;
}

async function check({ sql, explain }: ExplainedConnection, due: number, when: string): Promise<void> {
  let told = 0;
  // Every half minute all states are looked at, which is not what is measured here.
  await sql`update uptuple.silence_watch set looked_at = clock_timestamp()`;
  const work = await explain(async (sql) => {
    const [row] = await sql<{ told: number }[]>`select uptuple.tell_due() as told`;
    told = row?.told ?? -1;
  });
  assert.equal(told, due, `notices written ${when}`);
  assert.deepEqual([...work.scannedTables].filter((table) => !SMALL.includes(table)), [], `tell_due scans ${when}`);
  for (const [index, rows] of work.rowsByIndex) {
    assert.ok(rows <= ROWS_AN_INCIDENT * (due + 1), `tell_due reads ${rows} rows through ${index} ${when}`);
  }
  const pages = PAGES_FOR_NOTHING + PAGES_AN_INCIDENT * due;
  assert.ok(work.buffers < pages, `tell_due looks at ${work.buffers} pages ${when}`);
}

Deno.test("telling what is due reads what is due and no more, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await stopAutovacuum(owner);
  await owner`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:9/hook'), uptuple.set_reminders('ops', '10 minutes')`;
  await using early = await explainedConnection(database.url);

  async function checkBoth(when: string): Promise<void> {
    await t.step(when, async () => {
      await check(early, 0, `${when}, nothing due`);
      await addIncidents(owner, DUE, "-1 second");
      await check(early, DUE, `${when}, by an old plan`);
      await addIncidents(owner, DUE, "-1 second");
      await using late = await explainedConnection(database.url);
      await check(late, DUE, `${when}, by a new plan`);
    });
  }

  await checkBoth("no statistics, nothing open");
  await owner`analyze`;
  await addIncidents(owner, MANY, "1 hour");
  await checkBoth("analysed nearly empty, 50,000 open");
  await owner`analyze`;
  await checkBoth("analysed, 50,000 open");
});
