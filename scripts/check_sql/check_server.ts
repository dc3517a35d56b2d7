import { openClient } from "../../src/database/client.ts";

/** A database in which functions may be made and looked into. */
export interface CheckServer extends AsyncDisposable {
  /** Logs in as a superuser. */
  url: string;
}

/** The releases that Uptuple runs on, the newest first. */
const RELEASES = [18, 17, 16, 15];
/** Debian's account for what must own nothing. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const START_TIMEOUT_MS = 30_000;

/**
 * Finds a server for the checks: the database that CHECK_DATABASE_URL names, in which the schema is then made, or else a
 * temporary server of Debian's programs, where a release of them comes with plpgsql_check.
 *
 * @returns The server, or null if there is neither.
 * @throws {Error} If the temporary server does not start; the message quotes it.
 */
export async function findCheckServer(): Promise<CheckServer | null> {
  const url = Deno.env.get("CHECK_DATABASE_URL");
  if (url) return { url, [Symbol.asyncDispose]: () => Promise.resolve() };
  const release = RELEASES.find((each) =>
    exists(`/usr/lib/postgresql/${each}/bin/initdb`) &&
    exists(`/usr/share/postgresql/${each}/extension/plpgsql_check.control`)
  );
  return release === undefined ? null : await startTemporaryServer(`/usr/lib/postgresql/${release}/bin`);
}

/** As root it runs as nobody, since PostgreSQL refuses root. A child of this process, so that Ctrl-C ends both. */
async function startTemporaryServer(programs: string): Promise<CheckServer> {
  const isRoot = Deno.uid() === 0;
  const directory = await Deno.makeTempDir({ prefix: "uptuple-check-" });
  if (isRoot) await Deno.chown(directory, NOBODY.uid, NOBODY.gid);
  const run = (program: string, args: string[]): Deno.ChildProcess =>
    new Deno.Command(`${programs}/${program}`, {
      args: ["-D", `${directory}/data`, ...args],
      cwd: directory,
      env: { LC_ALL: "C" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      ...(isRoot ? NOBODY : {}),
    }).spawn();

  const initdb = await run("initdb", ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]).output();
  if (!initdb.success) throw new Error(`initdb failed: ${new TextDecoder().decode(initdb.stderr)}`);

  const server = run("postgres", ["-k", directory, "-c", "listen_addresses=", "-c", "fsync=off"]);
  const ended = server.output();
  const url = `postgres://postgres@/postgres?host=${encodeURIComponent(directory)}`;
  const answer = await Promise.race([accepts(url), ended]);
  if (answer !== true) {
    if (answer === false) server.kill("SIGKILL");
    throw new Error(`PostgreSQL did not start: ${new TextDecoder().decode((await ended).stderr)}`);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.kill("SIGINT");
      await ended;
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** Asks until the server answers, or START_TIMEOUT_MS are over. */
async function accepts(url: string): Promise<boolean> {
  const sql = openClient(url, { maxConnections: 1, applicationName: "uptuple check" });
  const deadline = Date.now() + START_TIMEOUT_MS;
  try {
    while (Date.now() < deadline) {
      try {
        await sql`select 1`;
        return true;
      } catch {
        await new Promise((done) => setTimeout(done, 50));
      }
    }
    return false;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
