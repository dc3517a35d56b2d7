import type postgres from "postgres";
import { openClient, type Sql } from "../../src/database/client.ts";
import { withDatabase, withLogin } from "../../src/database/url.ts";
import { ensureTemplate, startTestCluster, type TestCluster } from "./cluster.ts";

/** Roles that a test may log in with. */
export type TestRole = "uptuple_worker" | "uptuple_operator" | "uptuple_viewer";

/** A postgres.js tag whose rows, unless typed, are expected to hold at least one. */
export type TestSql =
  & (<Rows extends readonly (object | undefined)[] = [postgres.Row, ...postgres.Row[]]>(
    text: TemplateStringsArray,
    // deno-lint-ignore ban-types
    ...values: readonly postgres.ParameterOrFragment<{}[keyof {}]>[]
  ) => postgres.PendingQuery<Rows>)
  & Sql;

/** A database of one test's own. */
export interface TestDatabase extends AsyncDisposable {
  /** Logs in as a superuser. */
  url: string;
  /** One connection, as a superuser. */
  owner: TestSql;
  /** A new connection of its own: as a superuser, or logged in with that role only. */
  connect(role?: TestRole): Promise<TestSql>;
  /** A URL that logs in with only that role. */
  urlFor(role: TestRole): Promise<string>;
}

let cluster: Promise<TestCluster> | undefined;
let template: Promise<string> | undefined;
/** One connection to the cluster for each file: a new one for each database took longer than cloning it. */
let admin: Sql | undefined;
const logins = new Map<TestRole, Promise<[user: string, password: string]>>();

Deno.test.afterAll(async () => {
  await admin?.end({ timeout: 1 });
  await (await cluster)?.stop();
});

/**
 * Makes a database, by default a clone of the migrated template. It is dropped when the test disposes of it, whoever is
 * still connected.
 *
 * @param options.migrated False for an empty database.
 */
export async function testDatabase(options: { migrated?: boolean } = {}): Promise<TestDatabase> {
  cluster ??= startTestCluster();
  const clusterUrl = (await cluster).url;
  const source = options.migrated === false ? "template0" : await (template ??= ensureTemplate(clusterUrl));

  const name = `uptuple_test_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const sql = admin ??= openClient(clusterUrl, { maxConnections: 1, applicationName: "uptuple test support" });
  // Half as long as through the log, where nothing is synced to disk.
  await sql`create database ${sql(name)} template ${sql(source)} strategy file_copy`;

  const url = withDatabase(clusterUrl, name);
  const clients: Sql[] = [];
  const open = (clientUrl: string): TestSql => {
    const client = openClient(clientUrl, { maxConnections: 1, applicationName: "uptuple test" });
    clients.push(client);
    return client as TestSql;
  };
  const urlFor = async (role: TestRole) => {
    const login = logins.get(role) ?? ensureLogin(sql, role);
    logins.set(role, login);
    return withLogin(url, ...await login);
  };
  return {
    url,
    owner: open(url),
    urlFor,
    async connect(role) {
      const client = open(role === undefined ? url : await urlFor(role));
      await client`select`;
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.end({ timeout: 0 })));
      await sql`drop database ${sql(name)} with (force)`;
    },
  };
}

/** Makes a login that has one of our roles and nothing else. Logins belong to the cluster, so all test files share them. */
async function ensureLogin(sql: Sql, role: TestRole): Promise<[user: string, password: string]> {
  const user = role.replace("uptuple_", "uptuple_test_");
  const password = "test";
  await sql.unsafe(`
      select pg_advisory_xact_lock(hashtext('uptuple test login'));
      do $login$
      begin
        if not exists (select from pg_roles where rolname = '${user}') then
          create role ${user} login password '${password}' in role ${role};
        end if;
      end
      $login$`);
  return [user, password];
}
