import assert from "node:assert/strict";
import { fillHistory } from "../../../scripts/bench/fill_history.ts";
import type { Sql } from "../../../src/database/client.ts";
import { testDatabase } from "../../support/database.ts";
import { explainedConnection } from "./plans.ts";

const SERVICES = 50;
const DAYS = 40;
/** Tables that grow with time or with the number of services; the page of one service reads none of them whole. */
const LARGE_TABLES = [
  "result",
  "job",
  "service_hour",
  "service_day",
  "incident",
  "event",
  "delivery",
  "delivery_attempt",
  "service_revision",
];

Deno.test("the page of one service reads what is of that service, through indexes, analysed or not", async () => {
  await using database = await testDatabase();
  await fillHistory(database.owner as unknown as Sql, { services: SERVICES, days: DAYS, every: 600 });
  await using connection = await explainedConnection(database.url);
  const stretches: [string, number][] = [["1h", 0], ["6h", 0], ["24h", 0], ["7d", 170], ["30d", 725], ["90d", 60]];

  for (const state of ["analysed", "without statistics"]) {
    if (state !== "analysed") await database.owner`delete from pg_statistic`;
    for (const [stretch, hours] of stretches) {
      const work = await connection.explain((sql) =>
        sql`select * from uptuple.latency_series('service 1', ${stretch})`
      );
      assert.deepEqual(largeTables(work.scannedTables), [], `${stretch}, ${state}`);
      assert.ok(
        (work.rowsByIndex.get("service_hour_pkey") ?? 0) <= hours,
        `${stretch}, ${state}: ${[...work.rowsByIndex]}`,
      );
    }
    for (const call of ["service_page('service 1')", "dashboard_history('{service 1}')"]) {
      const work = await connection.explain((sql) => sql.unsafe(`select uptuple.${call}`));
      assert.deepEqual(largeTables(work.scannedTables), [], `${call}, ${state}`);
      assert.ok((work.rowsByIndex.get("result_window_key") ?? 0) <= 120, `${call}, ${state}: ${[...work.rowsByIndex]}`);
      assert.ok((work.rowsByIndex.get("service_day_pkey") ?? 0) <= 90, `${call}, ${state}: ${[...work.rowsByIndex]}`);
    }
  }
});

function largeTables(tables: Set<string>): string[] {
  return [...tables].filter((table) => LARGE_TABLES.includes(table));
}
