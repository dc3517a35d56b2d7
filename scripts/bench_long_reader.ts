/**
 * `deno task bench:long-reader`: what one transaction that is held open does to the checks. Drives the whole cycle at a fixed rate for a
 * while, then as long again with a REPEATABLE READ transaction open since before, then again after its end.
 *
 * A fresh embedded server, fsync on, in a temporary directory. Options: --minutes 5 (with the transaction held), --rate 1000 (checks a
 * second).
 */
import { numberOption, printTable, whole } from "./bench/numbers.ts";
import { type BenchServer, startBenchServer } from "./bench/server.ts";
import { drive, type Driven } from "./bench/drive.ts";
import { fillServices } from "./bench/fill.ts";
import { migrate } from "../src/database/migrate.ts";
import { openClient, type Sql } from "../src/database/client.ts";

const INTERVAL_SECONDS = 60;
/** How long the phases before and after last, in seconds. */
const QUIET_SECONDS = 60;

interface Phase extends Driven {
  name: string;
  serverCpuMs: number;
  deadRows: number;
  snapshot: string;
}

async function main(args: string[]): Promise<void> {
  const minutes = numberOption(args, "minutes", 5);
  const rate = numberOption(args, "rate", 1000);
  await using server = await startBenchServer();
  await migrate(server.url);
  const sql = openClient(server.url, { maxConnections: 1, applicationName: "bench" });
  await fillServices(sql, rate * INTERVAL_SECONDS, INTERVAL_SECONDS);
  await sql`vacuum analyze`;
  // Into the rhythm: the first windows come a few seconds after the services.
  await drive(server.url, 10, 2);

  const phases = [await runPhase(server, sql, "before", QUIET_SECONDS)];
  const reader = openClient(server.url, { maxConnections: 1, applicationName: "long reader" });
  await reader.unsafe("begin isolation level repeatable read");
  await reader`select count(*) from uptuple.service_state`;
  phases.push(await runPhase(server, sql, "a snapshot is held", minutes * 60));
  await reader.unsafe("rollback");
  await reader.end();
  phases.push(await runPhase(server, sql, "after", QUIET_SECONDS));
  await sql.end();

  printTable(
    ["", "seconds", "checks/s", "late p50 ms", "late p99 ms", "server CPU us/check", "dead rows", "oldest snapshot"],
    phases.map((phase) => [
      phase.name,
      String(phase.seconds),
      whole(phase.checks / phase.seconds),
      whole(phase.latenessP50),
      whole(phase.latenessP99),
      whole(phase.serverCpuMs * 1000 / phase.checks),
      whole(phase.deadRows),
      phase.snapshot,
    ]),
  );
  const [before, held, after] = phases.map(({ checks, seconds }) => checks / seconds);
  console.log(
    `\nWith the snapshot held: ${percentOf(held, before)} of the rate before; after it: ${percentOf(after, before)}.`,
  );
}

async function runPhase(server: BenchServer, sql: Sql, name: string, seconds: number): Promise<Phase> {
  const cpu = server.cpuMs();
  const driven = await drive(server.url, seconds, 2);
  const serverCpuMs = server.cpuMs() - cpu;
  const [row] = await sql<{ dead: number; snapshot: string | null }[]>`
    select sum(dead_rows)::float8 as dead, max(round(extract(epoch from oldest_snapshot_age)) || ' s, ' || oldest_snapshot_holder) as snapshot
    from uptuple.maintenance`;
  return { ...driven, name, serverCpuMs, deadRows: row?.dead ?? NaN, snapshot: row?.snapshot ?? "none" };
}

function percentOf(value: number | undefined, whole: number | undefined): string {
  return value === undefined || whole === undefined ? "-" : `${(value / whole * 100).toFixed(1)} %`;
}

if (import.meta.main) await main(Deno.args);
