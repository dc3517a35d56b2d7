/**
 * `deno task bench:runtime`: one runtime under load, as it is started with `deno task start`, on a fresh embedded server (fsync on) in
 * a temporary directory, against targets of another process.
 *
 * First the load: how late checks are claimed, by the database's clock; the rate; memory over time; CPU of runtime and server. Then,
 * under the same load, alerts: services begin to fail, and what counts is the time from the completion of the third failure to the first
 * byte of its notice at the receiver; once with LISTEN and once without, as behind a transaction pooler. Linux only.
 *
 * Options: --minutes 2 (of load), --services 10000, --interval 30 (s), --failing 200 (services), --hanging 0 (services whose targets never
 * answer, so that each of their checks waits for its timeout of 10 s). Four minutes more than the load.
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fillServices } from "./bench/fill.ts";
import { median, numberOption, percentile, printTable, whole } from "./bench/numbers.ts";
import { cpuMs, residentMegabytes, waitedForCpuMs } from "./bench/process_usage.ts";
import { type Program, startProgram } from "./bench/program.ts";
import { type BenchServer, startBenchServer } from "./bench/server.ts";
import type { Targets, TargetsCommand } from "./bench/targets.ts";
import { openClient, type Sql } from "../src/database/client.ts";
import { migrate } from "../src/database/migrate.ts";

/** What is measured, and on what. */
interface Bench {
  server: BenchServer;
  url: string;
  sql: Sql;
  targets: Program<Targets>;
  receiver: Receiver;
  intervalSeconds: number;
  failing: number;
}

/** A process of the program. */
interface Runtime extends AsyncDisposable {
  pid: number;
}

/** Where notices arrive. */
interface Receiver extends AsyncDisposable {
  url: string;
  /** When the first byte of each came, in ms since the epoch, by the event's id. */
  arrivals: Map<string, number>;
}

const REPOSITORY = join(import.meta.dirname ?? ".", "..");
const MEMORY_SAMPLE_MS = 5_000;
/** A service's third failure follows its first after two of these. */
const CONFIRM_SECONDS = 1;

async function main(args: string[]): Promise<void> {
  const minutes = numberOption(args, "minutes", 2);
  const services = numberOption(args, "services", 10_000);
  const intervalSeconds = numberOption(args, "interval", 30);
  const failing = Math.min(numberOption(args, "failing", 200), services);
  const hanging = numberOption(args, "hanging", 0);
  if (Deno.build.os !== "linux") throw new Error("bench:runtime reads memory from /proc, and so runs on Linux only.");

  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startBenchServer());
  const targets = stack.use(await startProgram<Targets>("targets.ts"));
  const receiver = stack.use(await startReceiver());
  const url = await server.createDatabase("runtime");
  await migrate(url);
  const sql = openClient(url, { maxConnections: 1, applicationName: "bench" });
  stack.defer(() => sql.end());
  const bench: Bench = { server, url, sql, targets, receiver, intervalSeconds, failing };
  await addServices(bench, services);
  await targets.ask<TargetsCommand>({ hangingAfter: services - hanging });

  const cores = navigator.hardwareConcurrency;
  const hung = hanging === 0 ? "" : `, ${whole(hanging)} of which hang`;
  console.log(`${whole(services)} services at ${intervalSeconds} s${hung}; ${cores} cores shared with the targets`);
  {
    await using runtime = startRuntime(url);
    await warmUp(bench);
    await measureLoad(bench, runtime, minutes * 60, services);
    await measureAlerts(bench, "with LISTEN");
  }
  // The client takes a URL that says so for one of a transaction pooler, where LISTEN does not work.
  await using _runtime = startRuntime(`${url}?pgbouncer=true`);
  await warmUp(bench);
  await measureAlerts(bench, "without LISTEN");
}

async function addServices({ sql, targets, receiver, intervalSeconds, failing }: Bench, count: number): Promise<void> {
  await fillServices(sql, count, intervalSeconds);
  await sql`
    update uptuple.service_revision
    set target = ${targets.hello.http} || '/check/' || service_id`;
  await sql`update uptuple.service set confirm_seconds = ${CONFIRM_SECONDS} where id <= ${failing}`;
  await sql`select uptuple.add_channel(name => 'receiver', url => ${receiver.url})`;
  await sql`analyze`;
}

/** At its start a runtime has the present window of every service to make up for. One interval later it has caught up. */
async function warmUp({ sql, intervalSeconds }: Bench): Promise<void> {
  await pause(intervalSeconds * 1000);
  const [row] = await sql<{ done: boolean }[]>`
    select exists (select from uptuple.result where recorded_at > clock_timestamp() - interval '5 s') as done`;
  if (row?.done !== true) throw new Error("The runtime has recorded nothing in the last 5 s: see above.");
}

async function measureLoad(bench: Bench, { pid }: Runtime, seconds: number, services: number): Promise<void> {
  const { server, sql } = bench;
  const commits = async () =>
    (await sql<{ count: number }[]>`
      select xact_commit::float8 as count from pg_stat_database where datname = current_database()`)[0]?.count ?? NaN;
  const since = Math.floor(Date.now() / 1000);
  const [runtimeCpu, serverCpu, committed, waited] = [cpuMs(pid), server.cpuMs(), await commits(), waitedForCpuMs()];
  const memory = [residentMegabytes(pid)];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    await pause(Math.min(MEMORY_SAMPLE_MS, end - performance.now()));
    memory.push(residentMegabytes(pid));
  }
  const used = { runtime: cpuMs(pid) - runtimeCpu, server: server.cpuMs() - serverCpu };
  const transactions = (await commits() - committed) / seconds;
  const crowded = (waitedForCpuMs() - waited) / seconds / 10;

  const claims = await latenessOfClaims(sql, since, since + seconds);
  const expected = services * seconds / bench.intervalSeconds;
  const perCheck = (cpu: number) =>
    `${whole(cpu * 1000 / claims.done)} us (${(cpu / seconds / 10).toFixed(0)} % of a core)`;
  const third = Math.floor(memory.length / 3);
  console.log(`\nLoad, ${seconds} s`);
  printTable(["", ""], [
    ["checks per second", (claims.done / seconds).toFixed(1)],
    ["checks done, of those that were due", `${whole(claims.done)} of ${whole(expected)}`],
    ["claims late by, p50", ms(claims.p50)],
    ["p95", ms(claims.p95)],
    ["p99", ms(claims.p99)],
    ["the latest", ms(claims.latest)],
    ["CPU of the runtime per check", perCheck(used.runtime)],
    ["CPU of the server per check", perCheck(used.server)],
    ["a process of this machine waited for a core", `${crowded.toFixed(0)} % of the time`],
    ["transactions per second", whole(transactions)],
    ["memory of the runtime at the start", megabytes(memory[0] ?? NaN)],
    ["median of its first third", megabytes(median(memory.slice(0, third)))],
    ["of its last third", megabytes(median(memory.slice(-third)))],
    ["at the most", megabytes(Math.max(...memory))],
  ]);
}

interface Lateness {
  done: number;
  p50: number;
  p95: number;
  p99: number;
  latest: number;
}

/** In ms, of windows that began between two epoch seconds. A job that is done has kept the end of its lease, 30 s after its claim. */
async function latenessOfClaims(sql: Sql, since: number, until: number): Promise<Lateness> {
  const [lateness] = await sql<Lateness[]>`
    select count(*)::integer as done, percentile_cont(0.5) within group (order by late) as p50,
      percentile_cont(0.95) within group (order by late) as p95, percentile_cont(0.99) within group (order by late) as p99,
      max(late) as latest
    from (
      select extract(epoch from job.due_at - interval '30 s' - to_timestamp(job.scheduled_slot)) ::float8 * 1000 - service.phase_ms as late
      from uptuple.job
      join uptuple.service on service.id = job.service_id
      where job.scheduled_slot >= ${since} and job.scheduled_slot < ${until} and job.purpose = 'GRID' and job.state = 'DONE'
    ) claim`;
  if (lateness === undefined) throw new Error("No job was found.");
  return lateness;
}

/** Lets services fail, one after the other as their windows come, and recover. */
async function measureAlerts({ sql, targets, receiver, intervalSeconds, failing }: Bench, how: string): Promise<void> {
  const [begin] = await sql<{ last: string }[]>`select coalesce(max(id), 0) as last from uptuple.event`;
  await targets.ask<TargetsCommand>({ failing });
  await pause((intervalSeconds + 2 * CONFIRM_SECONDS + 3) * 1000);
  const events = await sql<{ event_id: string; completed_ms: number }[]>`
    select event_id, extract(epoch from occurred_at)::float8 * 1000 as completed_ms
    from uptuple.event where id > ${begin?.last ?? 0} and kind = 'service.failed'`;
  await targets.ask<TargetsCommand>({ failing: 0 });
  await pause((intervalSeconds + 3) * 1000);

  const delays = events.flatMap(({ event_id, completed_ms }) => {
    const arrival = receiver.arrivals.get(event_id);
    return arrival === undefined ? [] : [arrival - completed_ms];
  });
  console.log(`\nAlerts ${how}: from the completion of the third failure to the first byte of its notice`);
  printTable(["", ""], [
    ["notices received, of services that failed", `${delays.length} of ${failing}`],
    ["p50", ms(percentile(delays, 50))],
    ["p99", ms(percentile(delays, 99))],
    ["the latest", ms(Math.max(...delays))],
  ]);
}

/** Starts the program, as `deno task start` does, without its pages. */
function startRuntime(url: string): Runtime {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", "-P", "main.ts"],
    cwd: REPOSITORY,
    env: { DATABASE_URL: url, UPTUPLE_ROLES: "probe,deliver" },
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  return {
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.kill("SIGTERM");
      await child.status;
    },
  };
}

async function startReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, number>();
  const server = createServer((socket) => {
    let received = "";
    let firstByteAt = 0;
    socket.on("error", () => {});
    socket.on("data", (chunk: Uint8Array) => {
      if (received === "") firstByteAt = Date.now();
      received += Buffer.from(chunk).toString("latin1");
      const head = received.indexOf("\r\n\r\n");
      const length = Number(/^content-length: (\d+)/im.exec(received)?.[1]);
      if (head < 0 || received.length < head + 4 + length) return;
      const id = /^webhook-id: (\S+)/im.exec(received)?.[1] ?? "";
      if (!arrivals.has(id)) arrivals.set(id, firstByteAt);
      socket.end("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivals,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}

function megabytes(value: number): string {
  return `${value.toFixed(0)} MB`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

if (import.meta.main) {
  await main(Deno.args).catch((e) => {
    console.error(e.error, e.suppressed, e);
    throw e;
  });
}
