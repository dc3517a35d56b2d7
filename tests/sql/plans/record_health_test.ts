import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import { nowSecond } from "../../support/history.ts";
import { addJobs, addResults, addServices, CHECKS_EACH, makePartitions, MANY, OTHERS } from "./many_checks.ts";
import { type ExplainedConnection, explainedConnection, forgetStatistics } from "./plans.ts";

/** Pages of one record, once its plans are made: a service, its state, a result, and the next check if it failed. */
const PAGES = 120;
const ROWS = 10;
/** Of these there are a few rows only. */
const SMALL = ["channel", "region", "worker", "second_look"];

/** Records how a service is and takes it back. */
async function check({ sql, explain }: ExplainedConnection, statuses: string[], when: string): Promise<void> {
  for (const status of statuses) {
    const what = `a record of ${status} ${when}`;
    let applied: boolean | undefined;
    const record = () =>
      explain(async (sql) => {
        const [row] = await sql<{ applied: boolean }[]>`select applied from uptuple.record_health('one 1', ${status})`;
        applied = row?.applied;
      });
    await sql.unsafe("begin; set local statement_timeout = '10s'");
    try {
      // The first reads catalogs, to make plans.
      await record();
      const work = await record();
      assert.ok(applied, what);
      assert.deepEqual([...work.scannedTables].filter((table) => !SMALL.includes(table)), [], `${what} scans tables`);
      assert.deepEqual([...work.otherJoins], [], `${what} joins otherwise than by nested loops`);
      for (const [index, rows] of work.rowsByIndex) {
        assert.ok(rows <= ROWS, `${what} reads ${rows} rows through ${index}`);
      }
      assert.ok(work.buffers < PAGES, `${what} looks at ${work.buffers} pages`);
    } finally {
      await sql.unsafe("rollback");
    }
  }
}

Deno.test("a record by hand reads its service and no more, whatever the statistics say", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await makePartitions(owner);
  await addServices(owner, "one", 1);
  const now = await nowSecond(owner);
  const statuses = ["UP", "DOWN"];
  // Its plans are made while there is nothing, and then kept, as those of a runtime that has been up for long.
  await using early = await explainedConnection(database.url);

  async function checkBoth(when: string): Promise<void> {
    await t.step(when, async () => {
      await check(early, statuses, `${when}, by an old plan`);
      await using late = await explainedConnection(database.url);
      await check(late, statuses, `${when}, by a new plan`);
    });
  }

  await checkBoth("no statistics, one service");
  await owner`analyze`;
  // Some planning goes by before a plan is kept.
  for (let call = 0; call < 6; call++) await check(early, statuses, "analysed, one service");
  await addServices(owner, "other", OTHERS);
  await checkBoth("analysed while there was one, 2,000 services");
  await owner`analyze`;
  await checkBoth("analysed, no jobs or results");
  await addJobs(owner, "one", now - 60, 60, 1);
  await checkBoth("analysed while there were none, one job waits");
  await addResults(owner, "other", now - 60 * CHECKS_EACH, 60, CHECKS_EACH);
  await addJobs(owner, "other", now - 60 * CHECKS_EACH, 60, CHECKS_EACH);
  await checkBoth(`analysed while there were none, ${MANY} jobs and results of others`);
  await owner`analyze`;
  await checkBoth(`analysed, ${MANY} jobs and results of others`);
  await owner`delete from uptuple.job`;
  await owner`delete from uptuple.result`;
  await checkBoth(`analysed with ${MANY} jobs and results of others, none there`);
  await addJobs(owner, "other", now + 60, 60, CHECKS_EACH);
  await checkBoth(`analysed with ${MANY} jobs and results of others, ${MANY} jobs lie ahead`);
  await forgetStatistics(owner);
  await checkBoth(`no statistics, ${MANY} jobs lie ahead`);
});
