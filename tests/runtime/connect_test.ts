import assert from "node:assert/strict";
import { connect, type Database, DatabaseUnavailableError } from "../../src/database/connect.ts";
import { testDatabase, type TestSql } from "../support/database.ts";
import { ownServer } from "../support/server.ts";
import { until } from "../support/wait.ts";
import { cuttableWire } from "../support/wire.ts";

Deno.test("values come back as strings, dates and parsed JSON", async () => {
  await using opened = await openedDatabase();

  const rows = await opened.database.query`
    select 9007199254740993 as big, timestamptz '2026-03-29 01:30:00+00' as at, '{"a": [1]}'::jsonb as json, array['x'] as list`;

  assert.deepEqual([...rows], [{
    big: "9007199254740993",
    at: new Date("2026-03-29T01:30:00Z"),
    json: { a: [1] },
    list: ["x"],
  }]);
});

Deno.test("an object bound to jsonb is stored as that object, without what PostgreSQL cannot hold", async () => {
  await using opened = await openedDatabase();
  const observation = { "na\0me": "a\0b", half: "\ud800!", whole: "😀", "quote's": ["\0"], n: null };

  const [row] = await opened.database.query`select ${observation}::jsonb as stored, ${"x\0y"}::text as text`;

  assert.deepEqual(row, {
    stored: { "na\ufffdme": "a\ufffdb", half: "\ufffd!", whole: "😀", "quote's": ["\ufffd"], n: null },
    text: "x\ufffdy",
  });
});

Deno.test("an error of the statement reaches the caller with its code, and the connection stays", async () => {
  await using opened = await openedDatabase({ maxConnections: 1 });
  const pid = await backendOf(opened.database);

  await assert.rejects(opened.database.query`select 1 / 0`, { code: "22012" });

  assert.equal(await backendOf(opened.database), pid);
  assert.equal(opened.database.healthy, true);
});

Deno.test("the server ends a statement that takes too long, before the deadline would", async () => {
  await using opened = await openedDatabase({ statementTimeoutMs: 50, deadlineMs: 10_000 });

  await assert.rejects(opened.database.query`select pg_sleep(60)`, { code: "57014" });

  assert.equal(opened.database.healthy, true);
});

Deno.test("a deadline that is not longer than the statement's timeout is refused", () => {
  const options = { url: "postgres://someone@127.0.0.1/nowhere", statementTimeoutMs: 5000, deadlineMs: 5000 };

  assert.throws(() => connect(options), { name: "RangeError", message: /the deadline must be longer/ });
});

Deno.test("a killed backend costs one call, and the next one has a new connection", async () => {
  await using opened = await openedDatabase({ maxConnections: 1 });
  const pid = await backendOf(opened.database);

  await assert.rejects(opened.database.query`select pg_terminate_backend(pg_backend_pid())`, DatabaseUnavailableError);

  assert.equal(opened.database.healthy, false);
  assert.notEqual(await backendOf(opened.database), pid);
  assert.equal(opened.database.healthy, true);
});

Deno.test("calls that are under way on other connections finish when the pool is replaced", async () => {
  await using opened = await openedDatabase({ maxConnections: 2 });
  await opened.database.query`select`;
  const underWay = opened.database.query`select pg_sleep(0.3), 'finished' as outcome`;
  underWay.catch(() => {});
  await until("the long call sleeps", async () => {
    const rows = await opened
      .sql`select from pg_stat_activity where datname = current_database() and query like '%finished%' and wait_event = 'PgSleep'`;
    return rows.length === 1;
  });

  await assert.rejects(opened.database.query`select pg_terminate_backend(pg_backend_pid())`, DatabaseUnavailableError);

  const [row] = await underWay;
  assert.equal(row?.outcome, "finished");
});

Deno.test("after a failover to a read-only server, calls use new connections", async () => {
  await using opened = await openedDatabase({ maxConnections: 1 });
  await opened.database.query`create table written (at timestamptz)`;
  // The connections that exist stay read-only, as those to a former primary do; new ones are not.
  await opened.database.query`set default_transaction_read_only = on`;

  await assert.rejects(opened.database.query`insert into written values (now())`, (error) => {
    assert.ok(error instanceof DatabaseUnavailableError);
    assert.equal((error.cause as { code: string }).code, "25006");
    return true;
  });

  await opened.database.query`insert into written values (now())`;
  const rows = await opened.sql`select from written`;
  assert.equal(rows.length, 1);
});

Deno.test("a server that no longer answers costs a call its deadline, and the next one works", async () => {
  await using opened = await openedDatabase();
  await using wire = cuttableWire(opened.url);
  const database = connect({ url: wire.url, statementTimeoutMs: 100, deadlineMs: 300, maxConnections: 2 });
  try {
    await database.query`select`;

    wire.silence();
    await assert.rejects(database.query`select`, (error) => {
      assert.ok(error instanceof DatabaseUnavailableError);
      assert.match(error.message, /no answer within 300 ms/);
      return true;
    });
    wire.restore();

    await database.query`select`;
    assert.equal(database.healthy, true);
  } finally {
    await database.close();
  }
});

Deno.test("while the server is down each call says so, and when it is back they work by themselves", async () => {
  await using server = await ownServer();
  const database = connect({ url: server.url, maxConnections: 4 });
  try {
    await database.query`select`;
    await server.kill();

    await assert.rejects(database.query`select`, DatabaseUnavailableError);
    await assert.rejects(database.query`select`, DatabaseUnavailableError);
    assert.equal(database.healthy, false);

    await server.revive();
    await until("it answers", () => answers(database));
    assert.equal(database.healthy, true);
  } finally {
    await database.close();
  }
});

Deno.test("after five crashes of the server under load, no connection of the pool is left dead", async () => {
  await using server = await ownServer();
  const database = connect({ url: server.url, maxConnections: 8, statementTimeoutMs: 500, deadlineMs: 2000 });
  try {
    let loaded = true;
    const failures: unknown[] = [];
    const workers = Array.from({ length: 16 }, async () => {
      while (loaded) {
        await database.query`select ${crypto.randomUUID()}::text`.catch((error) => failures.push(error));
        await new Promise((done) => setTimeout(done, 1));
      }
    });
    for (let crash = 0; crash < 5; crash++) {
      await until("it answers", () => answers(database));
      await server.kill();
      await server.revive();
    }
    await until("it answers", () => answers(database));
    loaded = false;
    await Promise.all(workers);

    assert.ok(failures.length > 0);
    assert.ok(failures.every((error) => error instanceof DatabaseUnavailableError));
    const steady = await Promise.allSettled(Array.from({ length: 200 }, () => database.query`select pg_sleep(0.001)`));
    assert.deepEqual(steady.filter(({ status }) => status === "rejected"), []);
  } finally {
    await database.close();
  }
});

Deno.test("the error that the driver throws where nobody can catch it ends neither the process nor the database", async () => {
  await using opened = await openedDatabase();
  const script = `
    import { connect } from "${new URL("../../src/database/connect.ts", import.meta.url)}";
    import { openClient } from "${new URL("../../src/database/client.ts", import.meta.url)}";
    const url = ${JSON.stringify(opened.url)};
    const database = connect({ url });
    const crashed = new Promise((resolve) => addEventListener("error", (event) => resolve(event.error.message)));
    const client = openClient(url, { maxConnections: 1, applicationName: "victim" });
    let statement;
    const broken = client.begin((transaction) => new Promise(() => {
      statement = transaction;
      transaction\`select pg_backend_pid() as pid\`.then(([{ pid }]) => database.query\`select pg_terminate_backend(\${pid}, 5000)\`);
    }));
    await broken.catch(() => {});
    statement\`select\`.catch(() => {});
    console.log(await crashed);
    const [{ answer }] = await database.query\`select 'alive' as answer\`;
    console.log(answer);
    Deno.exit(0);`;

  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--config",
      new URL("../../deno.json", import.meta.url).pathname,
      "--ext=ts",
      "--no-check",
      "-",
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(script));
  await writer.close();
  const { code, stdout, stderr } = await child.output();

  const [crash, answer] = new TextDecoder().decode(stdout).split("\n");
  assert.match(crash ?? "", /reading 'write'/, new TextDecoder().decode(stderr));
  assert.equal(answer, "alive");
  assert.equal(code, 0);
});

Deno.test("behind a transaction pooler nothing is prepared and nobody listens", async () => {
  await using opened = await openedDatabase({ maxConnections: 1 }, "?pgbouncer=true");
  for (const value of [1, 2]) await opened.database.query`select ${value}::int`;

  const rows = await opened.database.query`select from pg_prepared_statements where not from_sql`;
  const listener = await opened.database.listen("jobs", () => {});
  const listening = await opened.sql`
    select from pg_stat_activity where query ilike 'listen%' and datname = current_database()`;

  assert.equal(rows.length, 0);
  assert.equal(listening.length, 0);
  await listener.unlisten();
});

Deno.test("a listener hears what is sent to its channel, and only that", async () => {
  await using opened = await openedDatabase();
  const heard: string[] = [];
  await new Promise<void>((ready) => opened.database.listen("jobs", (payload) => heard.push(payload), ready));

  await opened.sql`select pg_notify('others', 'not this')`;
  await opened.sql`select pg_notify('jobs', 'this')`;
  await until("the message arrives", () => heard.length > 0);

  assert.deepEqual(heard, ["this"]);
});

Deno.test("a listener whose backend is killed listens again, and says so", async () => {
  await using opened = await openedDatabase();
  const heard: string[] = [];
  let begun = 0;
  await opened.database.listen("jobs", (payload) => heard.push(payload), () => begun++);
  await until("it listens", () => begun === 1);

  await opened.sql`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and application_name = 'uptuple listen'`;
  await until("it listens again", () => begun === 2);
  await opened.sql`select pg_notify('jobs', 'after')`;
  await until("the message arrives", () => heard.length > 0);

  assert.deepEqual(heard, ["after"]);
});

Deno.test("a listener that was stopped leaves no connection", async () => {
  await using opened = await openedDatabase();
  const handle = await new Promise<{ unlisten(): Promise<void> }>((resolve) => {
    const started = opened.database.listen("jobs", () => {}, () => resolve(started));
  });

  await handle.unlisten();

  await until("its connection is gone", async () => {
    const rows = await opened
      .sql`select from pg_stat_activity where datname = current_database() and application_name = 'uptuple listen'`;
    return rows.length === 0;
  });
});

Deno.test("a closed database refuses calls", async () => {
  await using opened = await openedDatabase();
  await opened.database.close();

  await assert.rejects(opened.database.query`select`, DatabaseUnavailableError);
});

/** A test database, opened the way the runtime does, with a connection beside to look at it from outside. */
async function openedDatabase(
  options: { maxConnections?: number; statementTimeoutMs?: number; deadlineMs?: number } = {},
  query = "",
): Promise<AsyncDisposable & { database: Database; sql: TestSql; url: string }> {
  const own = await testDatabase({ migrated: false });
  const url = own.url + query;
  const database = connect({ url, ...options });
  return {
    database,
    sql: own.owner,
    url,
    async [Symbol.asyncDispose]() {
      await database.close();
      await own[Symbol.asyncDispose]();
    },
  };
}

/** The server process that answers the next call. */
async function backendOf(database: Database): Promise<number> {
  const [row] = await database.query<{ pid: number }>`select pg_backend_pid() as pid`;
  assert.ok(row);
  return row.pid;
}

function answers(database: Database): Promise<boolean> {
  return database.query`select`.then(() => true, () => false);
}
