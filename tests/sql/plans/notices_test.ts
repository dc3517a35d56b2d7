import assert from "node:assert/strict";
import type { Sql } from "../../../src/database/client.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { type ExplainedConnection, explainedConnection, forgetStatistics, stopAutovacuum, type Work } from "./plans.ts";

const SERVICES = 2000;
const CHANNELS = 2;
const EVENTS_EACH = 50;
const MANY = SERVICES * EVENTS_EACH * CHANNELS;
/** As many services fail at once. */
const FAILING = 200;

/** Pages that a call may take, however little is told, once its plans are made. */
const PAGES_FOR_NOTHING = 400;
/** An event and two deliveries, each through indexes of up to three levels, and twice through its lane. */
const PAGES_A_NOTICE = 300;
/** A notice that may belong to the same digest is looked up, with its event. */
const PAGES_A_COLLECTED = 6;
const ROWS_A_NOTICE = 20;
/** Of these there are a few rows only. */
const SMALL = ["channel", "route", "setting"];

/** Services that are down, of whom nothing was told yet, and two channels: one that tells each by itself, and one that groups for five minutes. */
async function addFailing(sql: TestSql): Promise<void> {
  await stopAutovacuum(sql);
  await sql`
    select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:9/hook'),
      uptuple.add_channel(name => 'people', url => 'http://127.0.0.1:9/hook', kind => 'slack'), uptuple.set_grouping('people', '5 minutes')`;
  await addServices(sql, "failing", FAILING);
  await sql`
    with opened as (
      insert into uptuple.incident (service_id, region, started_at, opened_at, opened_order)
      select id, 'default', clock_timestamp() - interval '1 minute', clock_timestamp(), 3 from uptuple.service
      returning id, service_id
    )
    update uptuple.service_state state set status = 'DOWN', incident_id = opened.id from opened where state.service_id = opened.service_id`;
  // What grows from nothing here is what is told, not whom it is about.
  await sql`analyze uptuple.service, uptuple.service_state, uptuple.incident`;
}

async function addServices(sql: TestSql, name: string, count: number): Promise<void> {
  await sql`
    with added as (
      insert into uptuple.service (name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold)
      select ${name} || ' ' || number, 86400, 0, 0, 0, 3, 1 from generate_series(1, ${count}) number returning id
    )
    insert into uptuple.service_state (service_id, region) select id, 'default' from added`;
}

/**
 * Notices of all other services to both channels, `each` for every one of the first `services`, that are due, or wait for an hour. One of each
 * service was told within the time of a digest.
 */
async function addNotices(sql: TestSql, services: number, each: number, due: string): Promise<void> {
  await sql.unsafe("begin; set local session_replication_role = replica");
  await sql`
    with event as (
      insert into uptuple.event (kind, service_id, dedupe_key, occurred_at, data)
      select 'service.recovered', service.id, format('%s of %s: %s', turn, ${each}::integer, service.id), clock_timestamp(), '{}'
      from generate_series(1, ${each}) turn
      cross join (select id from uptuple.service where name like 'other %' order by id limit ${services}) service
      returning id, service_id, dedupe_key like '1 of %' as is_first
    )
    insert into uptuple.delivery (event_number, channel_id, service_id, state, due_at, collect_until)
    select event.id, channel.id, event.service_id, 'READY', clock_timestamp() + ${due}::interval,
      case when channel.name = 'people' and event.is_first then clock_timestamp() + interval '4 minutes' end
    from event
    cross join uptuple.channel`;
  await sql.unsafe("commit");
}

async function forgetNotices(sql: TestSql): Promise<void> {
  await sql.unsafe("begin; set local session_replication_role = replica");
  await sql`delete from uptuple.delivery`;
  await sql`delete from uptuple.event`;
  await sql.unsafe("commit");
}

/** @param collected Notices that are in the digest's time, which are counted once for all. */
function assertBounded(work: Work, notices: number, collected: number, what: string): void {
  assert.deepEqual([...work.scannedTables].filter((table) => !SMALL.includes(table)), [], `${what} scans tables`);
  assert.deepEqual([...work.otherJoins], [], `${what} joins otherwise than by nested loops`);
  for (const [index, rows] of work.rowsByIndex) {
    const atMost = ROWS_A_NOTICE * (notices + 1) +
      (index === "delivery_collect" || index === "event_pkey" ? collected : 0);
    assert.ok(rows <= atMost, `${what} reads ${rows} rows through ${index}, for ${notices} notices`);
  }
  const pages = PAGES_FOR_NOTHING + PAGES_A_NOTICE * notices + PAGES_A_COLLECTED * collected;
  assert.ok(work.buffers < pages, `${what} looks at ${work.buffers} pages, for ${notices} notices`);
}

/** Tells of something that concerns no incident, and of incidents that open and close, and takes it back. */
async function tell({ sql, explain }: ExplainedConnection, count: number): Promise<Record<string, Work>> {
  const works: Record<string, Work> = {};
  // A plan that reads everything for each of 200 takes minutes.
  await sql.unsafe("begin; set local statement_timeout = '10s'");
  try {
    // Of many, every statement of every function would be reported.
    if (count > 1) await sql`set local auto_explain.log_nested_statements = off`;
    const services = await sql<{ service_id: string; incident_id: string }[]>`
      select service_id::text, incident_id::text from uptuple.service_state where incident_id is not null order by service_id limit ${count}`;
    // Each before that which calls it, so that its plans are its own.
    const waiting = await sql<{ id: string }[]>`
      select id::text from uptuple.delivery where collect_until is not null order by collect_until limit ${count}`;
    works["collect_notices"] = await explain((sql) =>
      sql`select uptuple.collect_notices(${waiting.map(({ id }) => id)}::bigint[])`
    );
    for (const call of ["lock_lanes", "advance_lanes"]) {
      works[call] = await explain((sql) =>
        sql`select uptuple.${sql(call)}(${services.map(({ service_id }) => service_id)}::bigint[])`
      );
    }
    const degraded = services.map(({ service_id }) => ({
      kind: "service.degraded",
      severity: "warning",
      service_id,
      region: "default",
      dedupe_key: `service:${service_id}:default:service.degraded:1`,
      occurred_at: new Date(),
    }));
    works["write_events"] = await explain((sql) =>
      sql`
        select uptuple.write_events(array(select notice from jsonb_populate_recordset(null::uptuple.notice, ${
        sql.json(degraded as never)
      }) notice))`
    );
    const kinds = { write_incident_events: "service.recovered", write_notices: "service.failed" };
    for (const [call, kind] of Object.entries(kinds)) {
      const transitions = services.map((service) => ({ ...service, kind, region: "default", occurred_at: new Date() }));
      works[call] = await explain((sql) =>
        sql`
          select uptuple.${sql(call)}(array(select change from jsonb_populate_recordset(null::uptuple.transition, ${
          sql.json(transitions as never)
        }) change))`
      );
    }
    assert.equal(await countWritten(sql, services.map(({ service_id }) => service_id)), 3 * CHANNELS * count);
  } finally {
    await sql.unsafe("rollback");
  }
  return works;
}

async function countWritten(sql: Sql, serviceIds: string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from uptuple.delivery where service_id = any (${serviceIds})`;
  return row?.count ?? 0;
}

/** What is told at first in a state of things reads catalogs, to make plans, so it is told twice. */
async function check(connection: ExplainedConnection, collected: number, when: string): Promise<void> {
  for (const count of [1, FAILING]) {
    await tell(connection, count);
    for (const [what, work] of Object.entries(await tell(connection, count))) {
      assertBounded(work, count, collected, `${what} ${when}`);
    }
  }
}

Deno.test("telling of one service, or of 200 at once, reads what concerns them and no more, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await addFailing(owner);
  // Its plans are made while there is nothing, and then kept, as those of a runtime that has been up for long.
  await using early = await explainedConnection(database.url);
  for (let call = 0; call < 6; call++) await tell(early, 1);

  async function checkBoth(collected: number, when: string): Promise<void> {
    await t.step(when, async () => {
      await check(early, collected, `${when}, by an old plan`);
      await using late = await explainedConnection(database.url);
      await check(late, collected, `${when}, by a new plan`);
    });
  }

  await checkBoth(0, "no statistics, nothing waits");
  await owner`analyze`;
  await checkBoth(0, "analysed, nothing waits");
  await addServices(owner, "other", SERVICES);
  await addNotices(owner, 1, 1, "-1 second");
  await checkBoth(1, "analysed while it was empty, one notice waits");
  await addNotices(owner, SERVICES, EVENTS_EACH, "-1 second");
  await checkBoth(SERVICES, `analysed while it was empty, ${MANY} notices wait`);
  await owner`analyze`;
  await checkBoth(SERVICES, `analysed, ${MANY} notices wait`);
  await forgetNotices(owner);
  // Their entries are still in the index.
  await checkBoth(SERVICES, `analysed while ${MANY} waited, nothing waits`);
  await addNotices(owner, SERVICES, EVENTS_EACH, "1 hour");
  await checkBoth(SERVICES, `analysed while ${MANY} waited, ${MANY} are to go later`);
  await forgetStatistics(owner);
  await checkBoth(SERVICES, `no statistics, ${MANY} are to go later`);
});
