import { join, resolve } from "node:path";
import { openClient, type Sql } from "./client.ts";
import { codeOf } from "./connection_errors.ts";
import { type ProgramLock, takeProgramLock } from "./program_lock.ts";
import {
  installServerBinaries,
  readTextIfExists,
  removeIfExists,
  removeServerBinaries,
  ServerBinariesError,
} from "./server_binaries.ts";
import { withDatabase } from "./url.ts";

/** A PostgreSQL server of the program's own, on loopback. */
export interface EmbeddedServer {
  /** Logs in as the superuser over loopback, with the generated password; its database is `uptuple`. */
  readonly url: string;
  /** The same through the private unix socket, without a password; null where there is none (Windows, a long path). */
  readonly socketUrl: string | null;
  /** The directory that holds the server's files; not the one asked for if the server's user cannot enter that one. */
  readonly directory: string;
  /** What happened: the first start here, a later one, or a server that a killed program had left running. */
  readonly start: "created" | "started" | "taken over";
  /**
   * Starts the server again if it died.
   *
   * @returns True if it had died.
   */
  revive(): Promise<boolean>;
  /** Disconnects everybody, stops the server within a few seconds, and gives the directory back. */
  stop(): Promise<void>;
}

/** How to start the embedded server. */
export interface EmbeddedServerOptions {
  /** Where everything is kept, such as `.uptuple`. Created if absent. */
  dataDir: string;
  /** Where the server's files go instead when this is root and the server's user cannot enter `dataDir`. */
  fallbackDir?: string;
  /** False for tests: fast, and lost with a power failure. */
  durable?: boolean;
}

/** The embedded server cannot be started; the message is one sentence with the cure, and quotes the server if it spoke. */
export class EmbeddedServerError extends Error {
  override name = "EmbeddedServerError";
}

/** Another program runs on this data directory. Nothing was touched. */
export class AlreadyRunningError extends EmbeddedServerError {
  override name = "AlreadyRunningError";
}

/** What `FALLBACK_DIRECTORY` is for: root starts the program below a directory that only root may enter, such as /root. */
const FALLBACK_DIRECTORY = "/var/lib/uptuple";
const SUPERUSER = "postgres";
const DATABASE = "uptuple";
/** Recovery after a crash replays at most max_wal_size; a slow disk needs a while for it. */
const START_TIMEOUT_SECONDS = 90;
const STOP_TIMEOUT_SECONDS = 4;
/** A server that is alive answers or refuses at once; one that does not within this time is another process with its number. */
const SILENCE_MEANS_DEAD_MS = 5_000;
/** Below the ports that Linux and macOS hand to outgoing connections, so that it is still free at the next start. */
const PORTS = { first: 20_000, count: 10_000 };
/** Linux and the BSDs cut a socket's path at 108 and 104 bytes. */
const SOCKET_PATH_LIMIT = 103;

/** A user of the operating system, by number. */
interface Account {
  uid: number;
  gid: number;
}

/** The paths of one server. */
interface ServerFiles {
  /** For the person who asks: the directory with everything below. */
  directory: string;
  binaries: string;
  data: string;
  socket: string;
  log: string;
  password: string;
  port: string;
}

/** All that the steps of a start share. */
interface Launch {
  files: ServerFiles;
  /** Who the server runs as; null for the user that this program runs as. */
  account: Account | null;
  durable: boolean;
}

/**
 * Starts PostgreSQL with its data below a directory, or takes over the server that a killed program left running there.
 * At most one program owns a directory; the lock that says so dies with it.
 *
 * As root, which PostgreSQL refuses to run as, the server runs as the owner of its data, or as `nobody`.
 *
 * @throws {AlreadyRunningError} If another program owns the directory.
 * @throws {EmbeddedServerError} If it cannot be started.
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const home = resolve(options.dataDir);
  try {
    refuseUnquotablePath(home);
    Deno.mkdirSync(home, { recursive: true });
    const taken = takeProgramLock(join(home, "lock"));
    if ("heldBy" in taken) throw new AlreadyRunningError(describeHolder(home, taken.heldBy));
    try {
      return await startOwned(home, options, taken.lock);
    } catch (error) {
      taken.lock.release();
      throw error;
    }
  } catch (error) {
    throw explainStartFailure(error, home);
  }
}

/**
 * The URL of the embedded server that runs below `dataDir`, whoever started it; null if none answers.
 *
 * @param dataDir As given to `startEmbeddedServer`.
 */
export async function findEmbeddedServer(dataDir: string): Promise<string | null> {
  const home = resolve(dataDir);
  const files = filesBelow(readTextIfExists(join(home, "location")) ?? home, home);
  const running = readPostmasterFile(files);
  const password = readTextIfExists(files.password);
  if (running === null || password === null) return null;
  const url = serverUrl(running.port, password);
  return await askServer(url, files) === "ours" ? url : null;
}

async function startOwned(home: string, options: EmbeddedServerOptions, lock: ProgramLock): Promise<EmbeddedServer> {
  const launch = await prepare(home, options);
  const { files } = launch;

  const created = readTextIfExists(join(files.data, "PG_VERSION")) === null;
  if (created) await createCluster(launch);
  const password = readTextIfExists(files.password);
  if (password === null) {
    throw new EmbeddedServerError(
      `${files.password} is gone, and with it the password of the data in ${files.data}: ` +
        `put the file back, or remove ${files.directory} to begin with an empty database.`,
    );
  }

  const orphanPort = await findRunning(launch, password);
  const port = orphanPort ?? await startServer(launch);
  const url = serverUrl(port, password);
  try {
    await createDatabase(url);
  } catch (error) {
    await stopServer(launch);
    throw error;
  }

  let stopped = false;
  return {
    url,
    socketUrl: socketUrl(files, port),
    directory: files.directory,
    start: orphanPort !== null ? "taken over" : created ? "created" : "started",
    async revive() {
      if (stopped || await findRunning(launch, password) !== null) return false;
      await startServer(launch, port);
      return true;
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      await stopServer(launch);
      lock.release();
    },
  };
}

/** Finds a place for the server's files that its user can enter, and brings the programs there. */
async function prepare(home: string, options: EmbeddedServerOptions): Promise<Launch> {
  const durable = options.durable ?? true;
  const isRoot = Deno.build.os !== "windows" && Deno.uid() === 0;
  const location = readTextIfExists(join(home, "location"));
  const launch = launchFrom(filesBelow(location ?? home, home), isRoot, durable);
  await installServerBinaries(launch.files.binaries, () => stopServer(launch));
  if (await canRun(launch)) return launch;

  const fallback = resolve(options.fallbackDir ?? FALLBACK_DIRECTORY);
  const moved = launchFrom(filesBelow(fallback, home), isRoot, durable);
  if (location !== null) throw cannotEnter(launch);
  claimFallback(fallback, home);
  removeServerBinaries(launch.files.binaries);
  await installServerBinaries(moved.files.binaries, () => stopServer(moved));
  if (!await canRun(moved)) throw cannotEnter(moved);
  Deno.writeTextFileSync(join(home, "location"), fallback);
  return moved;
}

function launchFrom(files: ServerFiles, isRoot: boolean, durable: boolean): Launch {
  return { files, account: isRoot ? accountFor(files.data) : null, durable };
}

/** Whoever owns the data that is there, so that root may start what a user began; else nobody. */
function accountFor(data: string): Account {
  try {
    const { uid, gid } = Deno.statSync(data);
    if (uid !== null && uid !== 0) return { uid, gid: gid ?? uid };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const nobody = Deno.build.os === "darwin" ? 4_294_967_294 : 65_534;
  return { uid: nobody, gid: nobody };
}

/** The fallback directory is for one program: a second one would find the first one's data. */
function claimFallback(fallback: string, home: string): void {
  Deno.mkdirSync(fallback, { recursive: true });
  const owner = readTextIfExists(join(fallback, "owner"));
  if (owner !== null && owner !== home) {
    throw new EmbeddedServerError(
      `PostgreSQL does not run as root, its user cannot enter ${home}, and ${fallback} already serves ${owner}: ` +
        `set UPTUPLE_DATA_DIR to a directory that every user may enter, or remove ${fallback} if it is no longer needed.`,
    );
  }
  Deno.writeTextFileSync(join(fallback, "owner"), home);
}

function cannotEnter(launch: Launch): EmbeddedServerError {
  return new EmbeddedServerError(
    `PostgreSQL does not run as root, and user ${launch.account?.uid} cannot enter ${launch.files.directory}: ` +
      `set UPTUPLE_DATA_DIR to a directory that every user may enter, or run this as another user than root.`,
  );
}

/** @returns False if the server's user cannot reach its programs. */
async function canRun(launch: Launch): Promise<boolean> {
  try {
    const { code, output } = await control(launch, ["--version"]);
    if (code !== 0) throw new EmbeddedServerError(`PostgreSQL's programs do not run on this machine: ${output}`);
    return true;
  } catch (error) {
    if (launch.account !== null && error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}

/**
 * Makes an empty cluster beside and renames it into place, so that a start that is killed half way leaves no half cluster.
 * Passwords guard the loopback port, the directory's mode guards the socket.
 */
async function createCluster(launch: Launch): Promise<void> {
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
 * Starts the server, on another port if the one it had is taken by now.
 *
 * @param port The port that it must have, because it is known already.
 * @returns Its port.
 */
async function startServer(launch: Launch, port?: number): Promise<number> {
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
async function findRunning(launch: Launch, password: string): Promise<number | null> {
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
async function askServer(url: string, files: ServerFiles): Promise<"ours" | "busy" | "refused" | "silent"> {
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

async function createDatabase(url: string): Promise<void> {
  const sql = openUtilityClient(withDatabase(url, "postgres"));
  try {
    const existing = await sql`select from pg_database where datname = ${DATABASE}`;
    if (existing.length === 0) await sql`create database ${sql(DATABASE)}`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function isAlive(launch: Launch): Promise<boolean> {
  return (await control(launch, ["status", "-D", launch.files.data])).code === 0;
}

/** Fast, and if that takes too long without a goodbye: the next start then recovers, and nothing committed is lost. */
async function stopServer(launch: Launch): Promise<void> {
  if (!await isAlive(launch)) return;
  const stop = (mode: string) =>
    control(launch, ["stop", "-s", "-w", "-t", String(STOP_TIMEOUT_SECONDS), "-m", mode, "-D", launch.files.data]);
  if ((await stop("fast")).code !== 0) await stop("immediate");
}

/**
 * Runs pg_ctl, which starts everything else, as the server's user. It puts the server in a session of its own, so that
 * Ctrl-C reaches the program alone and the server is there until the program has finished. The only program we run.
 */
async function control(launch: Launch, args: string[]): Promise<{ code: number; output: string }> {
  const { files, account } = launch;
  const windows = Deno.build.os === "windows";
  const { code, stdout, stderr } = await new Deno.Command(
    join(files.binaries, "bin", windows ? "pg_ctl.exe" : "pg_ctl"),
    {
      args,
      cwd: windows ? files.directory : "/",
      // Windows' programs need variables such as SystemRoot; elsewhere an LD_LIBRARY_PATH of ours would need all rights.
      clearEnv: !windows,
      env: { LC_ALL: "C", ...(windows ? {} : { PATH: "/usr/local/bin:/usr/bin:/bin" }) },
      ...(account ?? {}),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    },
  ).output();
  const decoder = new TextDecoder();
  return { code, output: (decoder.decode(stdout) + decoder.decode(stderr)).trim() };
}

function filesBelow(directory: string, home: string): ServerFiles {
  return {
    directory,
    binaries: join(directory, "postgres"),
    data: join(directory, "data"),
    socket: join(directory, "socket"),
    log: join(directory, "log"),
    password: join(home, "password"),
    port: join(home, "port"),
  };
}

function serverUrl(port: number, password: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}

function socketUrl(files: ServerFiles, port: number): string | null {
  if (!hasSocket(files, port)) return null;
  return `postgres://${SUPERUSER}@/${DATABASE}?host=${encodeURIComponent(files.socket)}&port=${port}`;
}

function hasSocket(files: ServerFiles, port: number): boolean {
  const path = `${files.socket}/.s.PGSQL.${port}`;
  return Deno.build.os !== "windows" && new TextEncoder().encode(path).length <= SOCKET_PATH_LIMIT;
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

/**
 * What a server writes about itself while it runs; null if there is none. `ready`: it listens, and says otherwise before it
 * stops to.
 */
function readPostmasterFile(files: ServerFiles): { port: number; ready: boolean } | null {
  const lines = readTextIfExists(join(files.data, "postmaster.pid"))?.split("\n") ?? [];
  const port = Number(lines[3] ?? NaN);
  return Number.isInteger(port) && port > 0 ? { port, ready: lines[7]?.trim() === "ready" } : null;
}

/** What the server said since it was last started: first to its standard error, then to today's log. */
function readServerLog(files: ServerFiles, startedAt: Date): string {
  const startup = readTextIfExists(join(files.log, "startup.log")) ?? "";
  let newest = { name: "", modified: 0 };
  for (const { name } of Deno.readDirSync(files.log)) {
    const modified = Deno.statSync(join(files.log, name)).mtime?.getTime() ?? 0;
    if (name.startsWith("postgres-") && modified > newest.modified) newest = { name, modified };
  }
  const collected = newest.name === "" ? "" : Deno.readTextFileSync(join(files.log, newest.name));
  // Its lines begin with the time in UTC, as in 2026-03-29 01:30:00.123.
  const since = startedAt.toISOString().replace("T", " ").slice(0, -1);
  return startup + collected.split("\n").filter((line) => line >= since).join("\n");
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-6).join("\n  ");
}

function makePrivateDirectory(launch: Launch, path: string): void {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  own(launch, path);
}

function own(launch: Launch, path: string): void {
  if (launch.account !== null) Deno.chownSync(path, launch.account.uid, launch.account.gid);
}

function samePath(one: string, other: string): boolean {
  const real = (path: string) => Deno.realPathSync(path);
  return one === other || real(one) === real(other);
}

/** pg_ctl hands paths to a shell between double quotes. */
function refuseUnquotablePath(home: string): void {
  const bad = /["$`\n]|\\(?=\/)/.exec(Deno.build.os === "windows" ? home.replaceAll("\\", "") : home)?.[0];
  if (bad !== undefined) {
    throw new EmbeddedServerError(
      `UPTUPLE_DATA_DIR is ${home}, and PostgreSQL cannot be started below a directory with ${
        JSON.stringify(bad)
      } in ` +
        `its name: choose another.`,
    );
  }
}

function describeHolder(home: string, pid: number | null): string {
  const who = pid === null ? "another program" : `process ${pid}`;
  return `Uptuple is already running on ${home} (${who}): use that one, stop it first, ` +
    `or set UPTUPLE_DATA_DIR to another directory.`;
}

function explainStartFailure(error: unknown, home: string): Error {
  if (error instanceof EmbeddedServerError) return error;
  if (error instanceof ServerBinariesError) return new EmbeddedServerError(error.message, { cause: error });
  if (error instanceof Deno.errors.NotCapable) {
    return new EmbeddedServerError(
      `Deno was not given the rights that the embedded PostgreSQL in ${home} needs (${error.message}): start with ` +
        `"deno run -P --allow-read --allow-write=${home} --allow-run=${
          join(home, "postgres", "bin", "pg_ctl")
        } main.ts".`,
      { cause: error },
    );
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return new EmbeddedServerError(
      `${home} belongs to another user (${error.message}): run this as that user, or set UPTUPLE_DATA_DIR.`,
      { cause: error },
    );
  }
  return new EmbeddedServerError(
    `The embedded PostgreSQL could not be started in ${home}: ${error instanceof Error ? error.message : error}`,
    { cause: error },
  );
}

function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}

function delay(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
