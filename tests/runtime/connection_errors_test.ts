import assert from "node:assert/strict";
import { join } from "node:path";
import { openClient } from "../../src/database/client.ts";
import { connect, explainConnectionError } from "../../src/database/connect.ts";
import { startEmbeddedServer } from "../../src/database/embedded.ts";
import { refuseOldServer } from "../../src/database/server_version.ts";
import { withDatabase, withLogin } from "../../src/database/url.ts";
import { testDatabase } from "../support/database.ts";
import { ownServer, temporaryDirectory } from "../support/server.ts";
import { until } from "../support/wait.ts";

/** What a URL that cannot be used leads to, in words. */
async function explain(url: string): Promise<string> {
  try {
    const database = connect({ url, maxConnections: 1, statementTimeoutMs: 1000, deadlineMs: 3000 });
    try {
      await database.query`select`;
    } finally {
      await database.close();
    }
  } catch (error) {
    return explainConnectionError(error, url);
  }
  return "connected";
}

function placeOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port}`;
}

Deno.test("a URL that cannot be used is named without its password", async () => {
  const cases = [
    [
      "mysql://root:hunter22@db/x",
      /^The database URL starts with "mysql:", and only PostgreSQL is supported: .*postgres:\/\/user:password@host/,
    ],
    ["db.example.com/x", /^The database URL has no scheme: it should look like/],
    [
      "postgres://root:hunter22@db:port/x",
      /^The port in the database URL is "port": it must be a number from 1 to 65535/,
    ],
    ["postgres://root:hunter22/a@db/x", /^The database URL cannot be read: .*"@", "\/", "\?" and "#" in a password/],
    [
      "postgres://root:hunter22%@db/x",
      /^The password in the database URL has a "%" that starts no percent-encoded character/,
    ],
    ["postgres://:hunter22@db/x", /^The database URL names no user/],
    [
      "postgres://root:hunter22@db/x?sslmode=maybe",
      /^sslmode in the database URL is "maybe": it must be disable, prefer/,
    ],
    [
      "postgres://root:hunter22@db/x?target_session_attrs=any1",
      /^target_session_attrs .* is "any1": it must be any, read-write/,
    ],
  ] as const;
  for (const [url, expected] of cases) {
    const sentence = await explain(url);
    assert.match(sentence, expected);
    assert.doesNotMatch(sentence, /hunter22/);
  }
});

Deno.test("a host that does not exist", async () => {
  assert.equal(
    await explain("postgres://root:hunter22@no-such-host.invalid/x"),
    "The database host no-such-host.invalid is not known: check the host in DATABASE_URL and your DNS.",
  );
});

Deno.test("a port where nobody listens", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();

  assert.equal(
    await explain(`postgres://root:hunter22@127.0.0.1:${port}/x`),
    `Nothing listens on 127.0.0.1:${port}: start PostgreSQL there, or correct host and port in DATABASE_URL.`,
  );
});

Deno.test("a socket directory without a server", async () => {
  await using directory = await temporaryDirectory();

  assert.equal(
    await explain(`postgres://root@/x?host=${encodeURIComponent(directory.path)}`),
    `There is no server socket ${directory.path}:5432: start PostgreSQL there, or correct the host in DATABASE_URL.`,
  );
});

Deno.test("a server that accepts and says nothing", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = silent.addr as Deno.NetAddr;

  assert.equal(
    await explain(`postgres://root:hunter22@127.0.0.1:${port}/x`),
    `The database at 127.0.0.1:${port} does not answer: check the address in DATABASE_URL, firewalls, and the server's load.`,
  );
});

Deno.test("a wrong password, a user that does not exist, and one that may not log in", async () => {
  await using server = await ownServer();
  const place = placeOf(server.url);
  const sql = openClient(server.url, { maxConnections: 1, applicationName: "uptuple test" });
  await sql`create role locked nologin password 'hunter22'`;
  await sql.end({ timeout: 1 });

  assert.equal(
    await explain(withLogin(server.url, "postgres", "hunter22")),
    `The database at ${place} refused the password of user "postgres": correct it in DATABASE_URL, ` +
      `or set it there (alter role ... password ...).`,
  );
  // With passwords asked for, a server does not tell whether the user exists.
  assert.match(await explain(withLogin(server.url, "nobody", "hunter22")), /refused the password of user "nobody"/);
  assert.equal(
    await explain(withLogin(server.url, "locked", "hunter22")),
    `User "locked" may not log in to the database at ${place}: alter role ... login, or use another user.`,
  );
});

Deno.test("a database that does not exist", async () => {
  await using database = await testDatabase({ migrated: false });

  assert.equal(
    await explain(withDatabase(database.url, "no_such_database")),
    `The database "no_such_database" does not exist at ${placeOf(database.url)}: create it (create database ...), ` +
      `or correct its name in DATABASE_URL.`,
  );
});

Deno.test("a server without a connection left", async () => {
  await using database = await testDatabase({ migrated: false });
  await database.owner`create role uptuple_test_limited login connection limit 0 password 'hunter22'`;

  const sentence = await explain(withLogin(database.url, "uptuple_test_limited", "hunter22"));

  assert.equal(
    sentence,
    `The database at ${placeOf(database.url)} has no connection left (too many connections for role ` +
      `"uptuple_test_limited"): raise max_connections there, use a pooler, or run fewer programs.`,
  );
  await database.owner`drop role uptuple_test_limited`;
});

Deno.test("TLS that only one side wants", async () => {
  await using directory = await temporaryDirectory();
  const server = await startEmbeddedServer({ dataDir: directory.path, durable: false });
  try {
    const place = placeOf(server.url);
    assert.equal(
      await explain(`${server.url}?sslmode=require`),
      `The database at ${place} does not speak TLS, and DATABASE_URL asks for it (sslmode=require): ` +
        `turn it on at the server (ssl = on), or use sslmode=disable on a network you trust.`,
    );
    assert.equal(await explain(`${server.url}?sslmode=prefer`), "connected");

    const rules = "hostssl all all 127.0.0.1/32 scram-sha-256\nlocal all all trust\n";
    await Deno.writeTextFile(join(server.directory, "data", "pg_hba.conf"), rules);
    const reload = openClient(server.socketUrl ?? server.url, { maxConnections: 1, applicationName: "uptuple test" });
    await reload`select pg_reload_conf()`;
    await reload.end({ timeout: 1 });
    await until("the rules are in force", async () => await explain(server.url) !== "connected");
    assert.equal(
      await explain(server.url),
      `The database at ${place} accepts only TLS connections from here: add sslmode=require to DATABASE_URL.`,
    );
  } finally {
    await server.stop();
  }
});

Deno.test("a server that is too old", () => {
  refuseOldServer(150_000, "15.0");

  assert.throws(() => refuseOldServer(140_022, "14.22"), (error) => {
    assert.equal(
      explainConnectionError(error, "postgres://root@db/x"),
      "The server is PostgreSQL 14.22, and Uptuple needs 15 or newer: use another server, or leave DATABASE_URL unset to " +
        "run the embedded one.",
    );
    return true;
  });
});
