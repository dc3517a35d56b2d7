import { dirname, join } from "node:path";
import { startEmbeddedServer } from "../../src/database/embedded.ts";
import { migrate } from "../../src/database/migrate.ts";
import { readSqlFiles } from "../../src/database/sql_files.ts";
import { withDatabase } from "../../src/database/url.ts";
import { openClient, type Sql } from "../../src/database/client.ts";

/** A PostgreSQL server for tests, that nobody minds filling with databases. */
export interface TestCluster {
  /** Logs in as a superuser, to the database `postgres`. */
  url: string;
  stop(): Promise<void>;
}

/** Set by scripts/test.ts for the test files that it runs: the cluster that they share. */
export const SHARED_CLUSTER_VARIABLE = "UPTUPLE_TEST_CLUSTER";

const DIRECTORY_PREFIX = "uptuple-test-";
const TEMPLATE_PREFIX = "uptuple_template_";

/**
 * Finds a server, in this order: the one that scripts/test.ts started, the one that TEST_DATABASE_URL names, a container if
 * TEST_DATABASE is `testcontainers`, else the embedded binaries on a temporary directory.
 */
export async function startTestCluster(): Promise<TestCluster> {
  const given = Deno.env.get(SHARED_CLUSTER_VARIABLE) ?? Deno.env.get("TEST_DATABASE_URL");
  if (given !== undefined && given !== "") {
    return { url: withDatabase(given, "postgres"), stop: () => Promise.resolve() };
  }
  const kind = Deno.env.get("TEST_DATABASE") ?? "embedded";
  if (kind === "testcontainers") return await startContainer();
  if (kind !== "embedded") {
    throw new Error(`TEST_DATABASE is "${kind}": it must be embedded or testcontainers, or TEST_DATABASE_URL a URL.`);
  }
  return await startEmbeddedCluster();
}

/** Makes the migrated database that tests clone, if this server does not have it yet. Returns its name. */
export async function ensureTemplate(clusterUrl: string): Promise<string> {
  const { digest } = await readSqlFiles();
  const name = TEMPLATE_PREFIX + digest.slice(0, 16);
  const sql = openClient(clusterUrl, { maxConnections: 1, applicationName: "uptuple test template" });
  try {
    // A session lock, on the one connection of this client: whoever comes second finds the template ready.
    await sql`select pg_advisory_lock(hashtext(${TEMPLATE_PREFIX}))`;
    const [ready] = await sql`select from pg_database where datname = ${name} and datistemplate`;
    if (ready === undefined) await makeTemplate(sql, clusterUrl, name);
  } finally {
    await sql.end({ timeout: 1 });
  }
  return name;
}

async function makeTemplate(sql: Sql, clusterUrl: string, name: string): Promise<void> {
  const old = await sql<{ datname: string }[]>`
    select datname from pg_database where starts_with(datname, ${TEMPLATE_PREFIX})`;
  for (const { datname } of old) {
    await sql`alter database ${sql(datname)} is_template false`;
    await sql`drop database ${sql(datname)} with (force)`;
  }
  await sql`create database ${sql(name)} template template0 encoding 'UTF8' locale 'C'`;
  await migrate(withDatabase(clusterUrl, name));
  await sql`alter database ${sql(name)} is_template true`;
}

async function startEmbeddedCluster(): Promise<TestCluster> {
  const directory = await Deno.makeTempDir({ prefix: DIRECTORY_PREFIX });
  // PostgreSQL runs as another user if the tests run as root.
  if (Deno.build.os !== "windows") await Deno.chmod(directory, 0o755);
  const server = await startEmbeddedServer({ dataDir: directory, durable: false });
  await removeAbandonedClusters(directory);
  return {
    url: withDatabase(server.url, "postgres"),
    async stop() {
      await server.stop();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** Stops and removes what test runs that were killed have left behind. Nothing of that fails a run. */
async function removeAbandonedClusters(own: string): Promise<void> {
  const parent = dirname(own);
  for await (const { name, isDirectory } of Deno.readDir(parent)) {
    const directory = join(parent, name);
    if (!isDirectory || !name.startsWith(DIRECTORY_PREFIX) || directory === own) continue;
    try {
      // A directory without a lock file is being made this very moment.
      await Deno.stat(join(directory, "lock"));
      await (await startEmbeddedServer({ dataDir: directory, durable: false })).stop();
      await Deno.remove(directory, { recursive: true });
    } catch {
      // It is in use, another user's, or somebody else is removing it.
    }
  }
}

/** Starts a container by way of the program in tests/containers, which ends with its standard input. */
async function startContainer(): Promise<TestCluster> {
  const directory = new URL("../containers/", import.meta.url);
  const program = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "start.ts"],
    cwd: directory,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = program.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: url } = await output.read();
  if (url === undefined) throw new Error("No container could be started: see above, and docs of Testcontainers.");
  return {
    url: withDatabase(url.trim(), "postgres"),
    async stop() {
      await program.stdin.close();
      await output.cancel();
      await program.status;
    },
  };
}
