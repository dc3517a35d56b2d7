import { join, resolve } from "node:path";
import { readTextIfExists, ServerBinariesError } from "./embedded/binaries.ts";
import {
  askServer,
  createCluster,
  createDatabase,
  findRunning,
  refuseOtherMajor,
  startServer,
} from "./embedded/cluster.ts";
import { stopServer } from "./embedded/control.ts";
import { AlreadyRunningError, EmbeddedServerError } from "./embedded/error.ts";
import { filesBelow, readPostmasterFile, serverUrl, socketUrl } from "./embedded/files.ts";
import { prepare } from "./embedded/place.ts";
import { type ProgramLock, takeProgramLock } from "./embedded/program_lock.ts";

export { AlreadyRunningError, EmbeddedServerError };

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

  const dataVersion = readTextIfExists(join(files.data, "PG_VERSION"));
  const created = dataVersion === null;
  if (created) await createCluster(launch);
  else refuseOtherMajor(files, dataVersion.trim());
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
  let reviving: Promise<boolean> | null = null;
  const revive = async () => {
    if (await findRunning(launch, password) !== null) return false;
    await startServer(launch, port);
    return true;
  };
  return {
    url,
    socketUrl: socketUrl(files, port),
    directory: files.directory,
    start: orphanPort !== null ? "taken over" : created ? "created" : "started",
    async revive() {
      if (stopped) return false;
      reviving ??= revive().finally(() => reviving = null);
      return await reviving;
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      await reviving?.catch(() => {});
      await stopServer(launch);
      lock.release();
    },
  };
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
        `"deno run -P --allow-write=${home} --allow-run=${join(home, "postgres", "bin", "pg_ctl")} main.ts".`,
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
