/**
 * `deno task bench:status`: how many requests a second one process answers, of a status page with 50 services and 90 days, of its API and
 * of its feed; and what a request costs it. The load comes over kept-alive connections from a process of its own.
 *
 * A fresh embedded server with the settings it ships with, in a temporary directory. Requests a second depend on what else the machine
 * does; the CPU of a request hardly does, and its reciprocal is what a core could answer. About a minute.
 *
 * Options: --services 50, --connections 32, --rounds 5, --seconds 2 (of each round).
 */
import { openClient } from "../src/database/client.ts";
import { migrate } from "../src/database/migrate.ts";
import { fillHistory } from "./bench/fill_history.ts";
import { median, numberOption, printTable, whole } from "./bench/numbers.ts";
import { cpuMs, residentMegabytes } from "./bench/process_usage.ts";
import { startProgram } from "./bench/program.ts";
import { startBenchServer } from "./bench/server.ts";
import type { LoadResult, LoadRound } from "./bench/status_load.ts";

const PATHS = ["/status", "/api/v2/summary.json", "/status/feed.atom"];

async function main(args: string[]): Promise<void> {
  const services = numberOption(args, "services", 50);
  const connections = numberOption(args, "connections", 32);
  const rounds = numberOption(args, "rounds", 5);
  const ms = numberOption(args, "seconds", 2) * 1000;
  await using server = await startBenchServer();
  const url = await server.createDatabase("status");
  await migrate(url);
  const sql = openClient(url, { maxConnections: 1, applicationName: "bench" });
  await fillHistory(sql, { services, days: 90, every: 60 });
  await sql`select uptuple.add_status_page(title => 'Example status', services => array(select name from uptuple.service))`;
  await sql.end({ timeout: 1 });
  console.log(`${navigator.hardwareConcurrency} cores, ${services} services with 90 days, ${connections} connections`);

  await using web = await startProgram<{ port: number }>("status_server.ts", { args: [url] });
  await using client = await startProgram<object>("status_load.ts");
  const rows: string[][] = [];
  for (const path of PATHS) {
    const round = (length: number) =>
      client.ask<LoadResult>({ port: web.hello.port, path, connections, ms: length } satisfies LoadRound);
    // The first requests read the page and compile what serves it.
    await round(1000);
    const measured: { perSecond: number; cpuMicroseconds: number; bytes: number }[] = [];
    for (let turn = 0; turn < rounds; turn++) {
      const before = cpuMs(web.pid);
      const { requests, ms: took, bytes } = await round(ms);
      measured.push({
        perSecond: requests / took * 1000,
        cpuMicroseconds: (cpuMs(web.pid) - before) * 1000 / requests,
        bytes,
      });
    }
    const cpu = median(measured.map(({ cpuMicroseconds }) => cpuMicroseconds));
    rows.push([
      path,
      whole(median(measured.map(({ perSecond }) => perSecond))),
      whole(Math.max(...measured.map(({ perSecond }) => perSecond))),
      whole(cpu),
      whole(1_000_000 / cpu),
      whole(median(measured.map(({ bytes }) => bytes))),
    ]);
  }
  console.log();
  printTable(["", "requests/s, median", "best", "CPU, \u00b5s each", "a core's worth/s", "bytes each"], rows);
  console.log(`\nmemory of the process afterwards: ${whole(residentMegabytes(web.pid))} MB`);
}

if (import.meta.main) await main(Deno.args);
