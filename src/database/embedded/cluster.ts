import { join } from "node:path";
import { openClient, type Sql } from "../client.ts";
import { codeOf } from "../connection_errors.ts";
import { withDatabase } from "../url.ts";
import { readTextIfExists, removeIfExists } from "./binaries.ts";
import { control, isAlive, type Launch, makePrivateDirectory, own } from "./control.ts";
import { EmbeddedServerError } from "./error.ts";
import {
  DATABASE,
  hasSocket,
  lastLines,
  readPostmasterFile,
  readServerLog,
  samePath,
  type ServerFiles,
  serverUrl,
  SUPERUSER,
} from "./files.ts";

/** Recovery after a crash replays at most max_wal_size; a slow disk needs a while for it. */
const START_TIMEOUT_SECONDS = 90;

/** A server that is alive answers or refuses at once; one that does not within this time is another process with its number. */
const SILENCE_MEANS_DEAD_MS = 5_000;

/** Below the ports that Linux and macOS hand to outgoing connections, so that it is still free at the next start. */
const PORTS = { first: 20_000, count: 10_000 };

/**
 * Makes an empty cluster beside and renames it into place, so that a start that is killed half way leaves no half cluster.
 * Passwords guard the loopback port, the directory's mode guards the socket.
 */
export async function createCluster(launch: Launch): Promise<void> {
  const { files } = launch;
  const partial = `${files.data}.partial`;
  const secrets = join(files.directory, "secrets.partial");
  removeIfExists(partial);
  removeIfExists(secrets);
  makePrivateDirectory(launch, partial);
  makePrivateDirectory(launch, secrets);

  const password = randomHex(20);
  const passwordFile = join(secrets, "password");
  Deno.writeTextFileSync(passwordFile, password, { mode: 0o600 });
  own(launch, passwordFile);
  const initdbOptions = [
    `--username=${SUPERUSER} --pwfile="${passwordFile}" --encoding=UTF8 --locale=C --auth=scram-sha-256`,
    ...(launch.durable ? [] : ["--no-sync"]),
  ];
  const made = await control(launch, ["initdb", "-s", "-D", partial, "-o", initdbOptions.join(" ")]);
  removeIfExists(secrets);
  if (made.code !== 0) {
    throw new EmbeddedServerError(
      `PostgreSQL could not create its data in ${files.data}: ${lastLines(made.output)}`,
    );
  }

  const rules = ["host all all 127.0.0.1/32 scram-sha-256"];
  if (Deno.build.os !== "windows") rules.push("local all all trust");
  Deno.writeTextFileSync(join(partial, "pg_hba.conf"), rules.join("\n") + "\n");
  Deno.writeTextFileSync(join(partial, "postgresql.conf"), "include 'uptuple.conf'\n", { append: true });
  Deno.writeTextFileSync(files.password, password, { mode: 0o600 });
  Deno.renameSync(partial, files.data);
}

/**
 * A major release of PostgreSQL cannot read the data of another.
 *
 * @throws {EmbeddedServerError} If the data is of another than the programs.
 */
export function refuseOtherMajor(files: ServerFiles, dataMajor: string): void {
  const ours = readTextIfExists(join(files.binaries, "VERSION"))?.split(".")[0];
  if (ours === dataMajor) return;
  throw new EmbeddedServerError(
    `The data in ${files.data} is of PostgreSQL ${dataMajor}, and this program brings PostgreSQL ${ours}: dump it with the ` +
      `release of Uptuple that made it (pg_dump), move ${files.data} away, and restore it into this one.`,
  );
}

/**
 * Starts the server, on another port if the one it had is taken by now.
 *
 * @param port The port that it must have, because it is known already.
 * @returns Its port.
 */
export async function startServer(launch: Launch, port?: number): Promise<number> {
  const { files } = launch;
  // A server that was killed leaves its socket and a lock on it, which its successor heeds if the number lives on.
  removeIfExists(files.socket);
  makePrivateDirectory(launch, files.socket);
  makePrivateDirectory(launch, files.log);
  const deadline = Date.now() + START_TIMEOUT_SECONDS * 1000;
  while (true) {
    const chosen = port ?? choosePort(files);
    writeSettings(launch, chosen);
    removeIfExists(join(files.log, "startup.log"));
    const startedAt = new Date();
    const started = await control(launch, [
      ...["start", "-s", "-w", "-t", String(START_TIMEOUT_SECONDS)],
      ...["-D", files.data, "-l", join(files.log, "startup.log")],
    ]);
    if (started.code === 0) {
      Deno.writeTextFileSync(files.port, String(chosen));
      return chosen;
    }
    const log = readServerLog(files, startedAt);
    const portTaken = port === undefined && /could not bind|could not create any TCP\/IP sockets/.test(log);
    // The processes of a server that was killed with -9 need a moment to notice it and let go of its shared memory.
    const dying = /shared memory block .* is still in use/.test(log);
    if ((portTaken || dying) && Date.now() < deadline) continue;
    throw new EmbeddedServerError(
      `PostgreSQL did not start in ${files.data}; its log ends with: ${lastLines(log || started.output)}`,
    );
  }
}

function writeSettings(launch: Launch, port: number): void {
  const { files } = launch;
  const settings: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: hasSocket(files, port) ? files.socket : "",
    unix_socket_permissions: "0700",
    max_connections: "100",
    timezone: "UTC",
    log_timezone: "UTC",
    // A week of logs, each day's file overwritten a week later.
    logging_collector: "on",
    log_directory: files.log,
    log_filename: "postgres-%a.log",
    log_truncate_on_rotation: "on",
    log_rotation_age: "1d",
    log_rotation_size: "0",
    log_checkpoints: "off",
    ...(launch.durable ? {} : {
      fsync: "off",
      full_page_writes: "off",
      synchronous_commit: "off",
      max_connections: "300",
      wal_level: "minimal",
      max_wal_senders: "0",
    }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  const file = join(files.data, "uptuple.conf");
  Deno.writeTextFileSync(
    file,
    `# Written at each start. Your own settings: alter system set ...; they win over these.\n${lines.join("\n")}\n`,
    { mode: 0o600 },
  );
  own(launch, file);
}

/**
 * Looks for a running server, such as one that outlived its program.
 *
 * `pg_ctl status` believes any process that has the number in postmaster.pid. After a power failure that may be anyone, and in
 * a container whose first process does not collect the dead, a dead server keeps its number. So the server itself is asked;
 * if nobody answers, the file is removed.
 *
 * @returns Its port, or null if there is none.
 */
export async function findRunning(launch: Launch, password: string): Promise<number | null> {
  const { files } = launch;
  const startedAt = Date.now();
  while (await isAlive(launch)) {
    const running = readPostmasterFile(files);
    const answer = running === null ? "silent" : await askServer(serverUrl(running.port, password), files);
    if (answer === "ours" && running !== null) return running.port;
    const waited = Date.now() - startedAt;
    if ((answer === "refused" && running?.ready) || (answer !== "busy" && waited > SILENCE_MEANS_DEAD_MS)) {
      removeIfExists(join(files.data, "postmaster.pid"));
      return null;
    }
    if (waited > START_TIMEOUT_SECONDS * 1000) {
      throw new EmbeddedServerError(
        `A PostgreSQL server on ${files.data} has been starting or stopping for ${START_TIMEOUT_SECONDS} s: ` +
          `see ${files.log}.`,
      );
    }
    await delay(100);
  }
  return null;
}

/** Asks the server at a URL whose data it serves. `busy`: a server that starts or stops. `silent`: not ours, or no answer. */
export async function askServer(url: string, files: ServerFiles): Promise<"ours" | "busy" | "refused" | "silent"> {
  const sql = openUtilityClient(withDatabase(url, "postgres"));
  try {
    const [row] = await sql<{ directory: string }[]>`select current_setting('data_directory') as directory`;
    return row !== undefined && samePath(row.directory, files.data) ? "ours" : "silent";
  } catch (error) {
    const code = codeOf(error);
    return code === "57P03" ? "busy" : code === "ECONNREFUSED" ? "refused" : "silent";
  } finally {
    await sql.end({ timeout: 0 });
  }
}

/** Creates the database that the URL names, if it is not there. */
export async function createDatabase(url: string): Promise<void> {
  const sql = openUtilityClient(withDatabase(url, "postgres"));
  try {
    const existing = await sql`select from pg_database where datname = ${DATABASE}`;
    if (existing.length === 0) await sql`create database ${sql(DATABASE)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function openUtilityClient(url: string): Sql {
  return openClient(url, { maxConnections: 1, applicationName: "uptuple server control", connectTimeoutMs: 3000 });
}

/** The port that was used before if it is still free, else any free one. */
function choosePort(files: ServerFiles): number {
  const remembered = Number(readTextIfExists(files.port) ?? NaN);
  if (remembered >= 1 && remembered <= 65_535 && isFree(remembered)) return remembered;
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    if (isFree(port)) return port;
  }
  throw new EmbeddedServerError(
    `No free port was found on 127.0.0.1 from ${PORTS.first} on: PostgreSQL needs one.`,
  );
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse || error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}

function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}

function delay(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
