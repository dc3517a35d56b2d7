/**
 * `deno task bench:pages`: what the pages cost with 1,000 services and 90 days of roll-ups: the dashboard and the page of one service, each
 * as one request through the whole application, and in the SQL alone; and how large they are.
 *
 * A fresh embedded server with the settings it ships with, in a temporary directory; about 1 GB of disk. The past is made up, in the shape
 * that roll-ups have, and not counted from results. About 2 minutes.
 *
 * Options: --services 1000, --days 90, --every 60 (seconds), --runs 21.
 */
import { gzipSync } from "node:zlib";
import { openClient } from "../src/database/client.ts";
import { connect } from "../src/database/connect.ts";
import { migrate } from "../src/database/migrate.ts";
import { createApp } from "../src/web/app.tsx";
import { readDashboard, readDashboardMark } from "../src/web/dashboard.ts";
import { readHistories } from "../src/web/service_history.ts";
import { CHART_STRETCHES, type ChartStretch, readLatencies, readServicePage } from "../src/web/service_page.ts";
import { fillHistory } from "./bench/fill_history.ts";
import { median, numberOption, percentile, printTable, whole } from "./bench/numbers.ts";
import { startBenchServer } from "./bench/server.ts";

async function main(args: string[]): Promise<void> {
  const size = {
    services: numberOption(args, "services", 1000),
    days: numberOption(args, "days", 90),
    every: numberOption(args, "every", 60),
  };
  const runs = numberOption(args, "runs", 21);
  await using server = await startBenchServer();
  const url = await server.createDatabase("pages");
  await migrate(url);
  const sql = openClient(url, { maxConnections: 1, applicationName: "bench" });
  await fillHistory(sql, size);
  await sql.end({ timeout: 1 });
  console.log(
    `${navigator.hardwareConcurrency} cores, ${size.services} services every ${size.every} s, ${size.days} days`,
  );

  const database = connect({ url, maxConnections: 2 });
  try {
    const app = createApp({ database, access: { kind: "public" } });
    const get = async (path: string) => await (await app.request(path)).text();
    const rows: string[][] = [];
    const measure = async (title: string, call: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await call();
      const first = performance.now() - startedAt;
      const ms: number[] = [];
      for (let run = 0; run < runs; run++) {
        const before = performance.now();
        await call();
        ms.push(performance.now() - before);
      }
      rows.push([title, ...[median(ms), Math.min(...ms), percentile(ms, 90), first].map((each) => each.toFixed(1))]);
    };

    await measure("the past of all services, once a minute", () => readHistories(database));
    // The application reads it on its own; from then on it is at hand.
    await get("/");
    await measure("dashboard, the whole request", () => get("/"));
    await measure("  of which the SQL", () => readDashboard(database));
    await measure("whether anything has changed, once a second", () => readDashboardMark(database));
    await measure("service page, the whole request", () => get("/services/service%201"));
    await measure("  of which its own SQL", () => readServicePage(database, "service 1"));
    await measure("  of which its past", () => readHistories(database, ["service 1"]));
    for (const stretch of Object.keys(CHART_STRETCHES) as ChartStretch[]) {
      await measure(`chart of ${stretch}`, () => readLatencies(database, "service 1", stretch));
    }
    console.log("\nms, SQL and round trip included");
    printTable(["", "median", "lowest", "p90", "first"], rows);

    const pages = await Promise.all(
      ["/", "/services/service%201"].map(async (path) => [path, await get(path)] as const),
    );
    console.log();
    printTable(
      ["", "kB", "kB compressed"],
      pages.map((
        [path, page],
      ) => [path, whole(new TextEncoder().encode(page).length / 1000), whole(gzipSync(page).length / 1000)]),
    );
  } finally {
    await database.close();
  }
}

if (import.meta.main) await main(Deno.args);
