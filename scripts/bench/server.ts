import { join } from "node:path";
import { openClient, type Sql } from "../../src/database/client.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/database/embedded.ts";
import { withDatabase } from "../../src/database/url.ts";
import { type ProcessStat, processStat } from "./process_usage.ts";

/** A PostgreSQL of a benchmark's own, durable as a real one, with all its files in a temporary directory. */
export interface BenchServer extends AsyncDisposable {
  /** Of the embedded server: its database is `uptuple`, empty. */
  readonly url: string;
  /** One connection, as the superuser, to the database `postgres`. */
  readonly admin: Sql;
  /** Makes an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** CPU that all processes of the server have taken since it started, in ms; NaN where there is no /proc. */
  cpuMs(): number;
  /** How much has been written to the log of the database, in bytes. */
  walBytes(): Promise<number>;
}

const END_SIGNALS: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];

/**
 * Starts a server with fsync on and the settings it ships with. Its files are removed when it is disposed of.
 *
 * @param settings Settings that differ, as `alter system set` takes them.
 */
export async function startBenchServer(settings: Record<string, string> = {}): Promise<BenchServer> {
  const directory = await Deno.makeTempDir({ prefix: "uptuple-bench-" });
  // PostgreSQL runs as another user if this is root.
  if (Deno.build.os !== "windows") await Deno.chmod(directory, 0o755);
  const server = await startWith(directory, settings);
  const admin = openClient(withDatabase(server.url, "postgres"), { maxConnections: 1, applicationName: "bench" });
  const postmaster = readPostmasterPid(server);
  let removal: Promise<void> | undefined;
  const remove = () =>
    removal ??= (async () => {
      await server.stop();
      await Deno.remove(directory, { recursive: true });
    })();
  // On a signal nothing is disposed of by itself, and the server would run on.
  const onSignal = () => void remove().finally(() => Deno.exit(130));
  for (const signal of END_SIGNALS) Deno.addSignalListener(signal, onSignal);
  return {
    url: server.url,
    admin,
    async createDatabase(name) {
      await admin`create database ${admin(name)} template template0 encoding 'UTF8' locale 'C'`;
      return withDatabase(server.url, name);
    },
    cpuMs: () => cpuOfServer(postmaster),
    async walBytes() {
      const [row] = await admin<{ bytes: number }[]>`
        select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as bytes`;
      return row?.bytes ?? NaN;
    },
    async [Symbol.asyncDispose]() {
      for (const signal of END_SIGNALS) Deno.removeSignalListener(signal, onSignal);
      await admin.end({ timeout: 1 });
      await remove();
    },
  };
}

/** Some settings count from the next start only. */
async function startWith(directory: string, settings: Record<string, string>): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ dataDir: directory });
  if (Object.keys(settings).length === 0) return server;
  const sql = openClient(server.url, { maxConnections: 1, applicationName: "bench" });
  for (const [name, value] of Object.entries(settings)) await sql.unsafe(`alter system set ${name} = '${value}'`);
  await sql.end();
  await server.stop();
  return await startEmbeddedServer({ dataDir: directory });
}

function readPostmasterPid(server: EmbeddedServer): number {
  const text = Deno.readTextFileSync(join(server.directory, "data", "postmaster.pid"));
  return Number(text.slice(0, text.indexOf("\n")));
}

/** The postmaster counts the CPU of its children that have ended; those that live count their own. */
function cpuOfServer(postmaster: number): number {
  if (Deno.build.os !== "linux") return NaN;
  let ms = 0;
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    let stat: ProcessStat;
    try {
      stat = processStat(pid);
    } catch {
      continue; // It has just ended.
    }
    if (pid === postmaster) ms += stat.ownCpuMs + stat.endedChildrenCpuMs;
    else if (stat.parent === postmaster) ms += stat.ownCpuMs;
  }
  return ms;
}
