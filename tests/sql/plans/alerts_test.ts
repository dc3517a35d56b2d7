import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { type ExplainedConnection, explainedConnection, type Work } from "./plans.ts";

const MANY = 200_000;
const BATCH = 4;

/** Pages that a call may take, however few rows there are: mostly of catalogs, where plans are made first. */
const PAGES_FOR_NOTHING = 6000;
const PAGES_A_NOTICE = 200;
/** Rows that claiming or answering a notice may look at, in each index. */
const ROWS_A_NOTICE = 8;
const INDEXES = [
  "delivery_claim",
  "delivery_sending",
  "delivery_lane",
  "delivery_pkey",
  "event_pkey",
  "delivery_settled",
  "delivery_dead",
];

async function addChannel(sql: TestSql): Promise<void> {
  await sql`alter table uptuple.delivery set (autovacuum_enabled = off)`;
  await sql`alter table uptuple.event set (autovacuum_enabled = off)`;
  await sql`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:9/hook')`;
}

/** Notices of as many services, each the only one of its lane, and ready for a second. */
async function addNotices(sql: TestSql, count: number): Promise<void> {
  await sql`
    with service as (
      insert into uptuple.service (name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold)
      select 'service ' || gen_random_uuid(), 86400, 0, 0, 0, 3, 1 from generate_series(1, ${count}) returning id
    ),
    event as (
      insert into uptuple.event (kind, service_id, dedupe_key, occurred_at, data)
      select 'test', service.id, 'test ' || service.id, clock_timestamp(), '{"service": "one of many"}' from service
      returning id, service_id
    )
    insert into uptuple.delivery (event_number, channel_id, service_id, state, due_at)
    select event.id, channel.id, event.service_id, 'READY', clock_timestamp() - interval '1 s'
    from event
    cross join uptuple.channel`;
}

function assertBounded(work: Work, notices: number, what: string): void {
  assert.deepEqual([...work.otherJoins], [], `${what} joins otherwise than by nested loops`);
  assert.deepEqual([...work.scannedTables].filter((table) => table !== "channel"), [], `${what} scans tables`);
  for (const index of INDEXES) {
    const rows = work.rowsByIndex.get(index) ?? 0;
    assert.ok(
      rows <= ROWS_A_NOTICE * (notices + 1),
      `${what} reads ${rows} rows through ${index}, for ${notices} notices`,
    );
  }
  const pages = PAGES_FOR_NOTHING + PAGES_A_NOTICE * notices;
  assert.ok(work.buffers < pages, `${what} looks at ${work.buffers} pages, for ${notices} notices`);
}

/** Claims and answers as many notices as a channel lets go out at a time, and checks what was read for them. */
async function checkNotices({ explain }: ExplainedConnection, due: number, when: string): Promise<void> {
  let claimed: { delivery_id: string; claim_token: string }[] = [];
  const claim = await explain(async (sql) => {
    claimed = await sql`select delivery_id, claim_token from uptuple.claim_alerts('tester', 1000)`;
  });
  assert.equal(claimed.length, due, `notices claimed ${when}`);
  assertBounded(claim, due, `claim_alerts ${when}`);

  const answers = claimed.map((each) => ({ ...each, response: { status: 204 } }));
  const finish = await explain((sql) => sql`select * from uptuple.finish_alerts(${sql.json(answers)})`);
  assertBounded(finish, due, `finish_alerts ${when}`);
}

Deno.test("claiming and answering notices reads those notices and no others, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner);
  // Its plans are made while there is nothing, and then kept, as those of a runtime that has been up for long.
  await using early = await explainedConnection(database.url);

  async function check(due: number, when: string): Promise<void> {
    await t.step(when, async () => {
      await checkNotices(early, due, `${when}, by an old plan`);
      await using late = await explainedConnection(database.url);
      await checkNotices(late, due === 1 ? 0 : due, `${when}, by a new plan`);
    });
  }

  await check(0, "no statistics, nothing waits");
  await owner`analyze`;
  await addNotices(owner, 1);
  await check(1, "analysed while it was empty, one notice waits");
  await addNotices(owner, MANY);
  await check(BATCH, "analysed while it was empty, 200,000 notices wait");
  await owner`analyze`;
  await check(BATCH, "analysed, 200,000 notices wait");
  await owner`update uptuple.delivery set state = 'DELIVERED', finished_at = clock_timestamp(), claim_token = null where state <> 'DELIVERED'`;
  await owner`vacuum uptuple.delivery`;
  await check(0, "analysed while 200,000 waited, nothing waits");
});

Deno.test("looking for channels whose notices are dead reads what is dead and nothing that waits, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner);
  await owner`select uptuple.add_channel(name => 'boss', url => 'http://127.0.0.1:9/hook')`;
  await using early = await explainedConnection(database.url);

  async function check(told: number, when: string): Promise<void> {
    await t.step(when, async () => {
      let found = 0;
      const work = await early.explain(async (sql) => {
        const [row] = await sql<{ told: number }[]>`select uptuple.tell_dead_deliveries() as told`;
        found = row?.told ?? -1;
      });
      assert.equal(found, told);
      assertBounded(work, 10, `tell_dead_deliveries ${when}`);
    });
  }

  await check(0, "no statistics, nothing there");
  await owner`analyze`;
  await addNotices(owner, MANY / 2);
  await check(0, "analysed while it was empty, 200,000 notices wait");
  await owner`
    update uptuple.delivery set state = 'DEAD', finished_at = clock_timestamp(), last_cause = 'HTTP 422'
    where id in (select id from uptuple.delivery order by id limit 5)`;
  await check(2, "some are dead");
  await owner`analyze`;
  await check(0, "they have been told");
});
