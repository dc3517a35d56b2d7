import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import { addServices, makePartitions } from "./many_checks.ts";
import { explainedConnection } from "./plans.ts";

const DONE = 20_000;
const WAITING = 50;
/** Pages for each job that is claimed: four rows written or read, through indexes of up to three levels. */
const PAGES_A_JOB = 60;
/** Pages to look at the head: what was claimed since it was noted, and catalogs. */
const PAGES_OF_HEAD = 500;

Deno.test("a claim does not walk over the jobs that were done before, though a long reader keeps them all", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await makePartitions(owner);
  await addServices(owner, "service", DONE + WAITING);
  await owner`
    insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
    select extract(epoch from clock_timestamp())::bigint - 30, id,
      clock_timestamp() - case when id <= ${DONE} then interval '20 s' - id * interval '0.1 ms' else interval '1 s' end, 1, 86400, 'default'
    from uptuple.service
    order by md5(id::text)`;

  const reader = await database.connect();
  await reader.unsafe("begin isolation level repeatable read");
  await reader`select count(*) from uptuple.job`;
  await owner`update uptuple.job set state = 'DONE', finished_at = clock_timestamp() where due_at < clock_timestamp() - interval '10 s'`;
  await owner`select uptuple.enqueue_jobs()`;

  await using explained = await explainedConnection(database.url);
  const claim = (sql: typeof explained.sql) => sql`select job_id from uptuple.claim_jobs('tester', ${WAITING / 2})`;
  const next = (sql: typeof explained.sql) => sql`select uptuple.next_job_due()`;
  await claim(explained.sql);
  const claimed = await explained.explain(claim);
  const looked = await explained.explain(next);
  await reader`rollback`;

  assert.ok(claimed.buffers < WAITING / 2 * PAGES_A_JOB, `claim_jobs looks at ${claimed.buffers} pages`);
  assert.ok(looked.buffers < PAGES_OF_HEAD, `next_job_due looks at ${looked.buffers} pages`);
});
