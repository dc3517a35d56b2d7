import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { openClient } from "../../src/database/client.ts";
import {
  AlreadyRunningError,
  type EmbeddedServer,
  EmbeddedServerError,
  findEmbeddedServer,
  startEmbeddedServer,
} from "../../src/database/embedded.ts";
import { withLogin } from "../../src/database/url.ts";
import { killServer, readPostmasterPid, temporaryDirectory } from "../support/server.ts";
import { until } from "../support/wait.ts";

const ROOT = dirname(dirname(import.meta.dirname ?? "."));
const isRoot = Deno.build.os !== "windows" && Deno.uid() === 0;

Deno.test("the first start makes the data, and a second one finds it at the same address", async () => {
  await using directory = await temporaryDirectory();
  const first = await start(directory.path);
  assert.equal(first.start, "created");
  await run(first.url, "create table kept as select 42 as answer");
  await first.stop();

  const second = await start(directory.path);
  try {
    assert.equal(second.start, "started");
    assert.equal(second.url, first.url);
    assert.deepEqual(await run(second.url, "select answer from kept"), [{ answer: 42 }]);
    const [settings] = await run(
      second.url,
      "select current_setting('server_encoding') as encoding, current_setting('timezone') as zone, current_database() as name",
    );
    assert.deepEqual(settings, { encoding: "UTF8", zone: "UTC", name: "uptuple" });
  } finally {
    await second.stop();
  }
});

Deno.test("a server of the product itself writes to disk what it commits", async () => {
  await using directory = await temporaryDirectory();
  const server = await startEmbeddedServer({ dataDir: directory.path });
  try {
    const [row] = await run(
      server.url,
      "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit, " +
        "current_setting('full_page_writes') as pages",
    );
    assert.deepEqual(row, { fsync: "on", commit: "on", pages: "on" });
  } finally {
    await server.stop();
  }
});

Deno.test("the server answers on its private socket, and on loopback to who has the password", async () => {
  await using directory = await temporaryDirectory();
  const server = await start(directory.path);
  try {
    if (Deno.build.os !== "windows") {
      assert.ok(server.socketUrl);
      assert.deepEqual(await run(server.socketUrl, "select inet_server_addr() as address"), [{ address: null }]);
      for (const name of ["data", "socket", "log"]) {
        const { mode } = await Deno.stat(join(server.directory, name));
        assert.equal((mode ?? 0) & 0o777, 0o700, name);
      }
      const { mode } = await Deno.stat(join(directory.path, "password"));
      assert.equal((mode ?? 0) & 0o777, 0o600);
    }
    await assert.rejects(run(withLogin(server.url, "postgres", "guess"), "select"), { code: "28P01" });
    const [row] = await run(server.url, "select current_setting('listen_addresses') as addresses");
    assert.deepEqual(row, { addresses: "127.0.0.1" });
  } finally {
    await server.stop();
  }
});

Deno.test("others find the server while it runs, and only then", async () => {
  await using directory = await temporaryDirectory();
  assert.equal(await findEmbeddedServer(directory.path), null);

  const server = await start(directory.path);
  assert.equal(await findEmbeddedServer(directory.path), server.url);
  await server.stop();

  assert.equal(await findEmbeddedServer(directory.path), null);
});

Deno.test("a start beside a running program is refused in one sentence, and harms nothing", async () => {
  await using directory = await temporaryDirectory();
  const server = await start(directory.path);
  try {
    const pid = readPostmasterPid(server);

    await assert.rejects(start(directory.path), (error) => {
      assert.ok(error instanceof AlreadyRunningError);
      assert.equal(
        error.message,
        `Uptuple is already running on ${directory.path} (process ${Deno.pid}): use that one, stop it first, ` +
          `or set UPTUPLE_DATA_DIR to another directory.`,
      );
      return true;
    });

    assert.equal(readPostmasterPid(server), pid);
    assert.deepEqual(await run(server.url, "select 1 as one"), [{ one: 1 }]);
  } finally {
    await server.stop();
  }
});

Deno.test("the server of a program that was killed is taken over, and stopped in the end", async () => {
  await using directory = await temporaryDirectory();
  await using program = await startProgram(directory.path);
  await run(program.url, "create table kept as select 42 as answer");
  await program.kill();
  assert.deepEqual(await run(program.url, "select answer from kept"), [{ answer: 42 }]);

  const server = await start(directory.path);

  assert.equal(server.start, "taken over");
  assert.equal(server.url, program.url);
  assert.deepEqual(await run(server.url, "select answer from kept"), [{ answer: 42 }]);
  await server.stop();
  await assert.rejects(run(server.url, "select"), { code: "ECONNREFUSED" });
});

Deno.test("after everything was killed at once, a start recovers what was committed", async () => {
  await using directory = await temporaryDirectory();
  await using program = await startProgram(directory.path, true);
  await run(program.url, "create table kept as select 42 as answer");
  await program.kill();
  await killServer({ directory: directory.path, url: program.url });

  const server = await startEmbeddedServer({ dataDir: directory.path });
  try {
    assert.equal(server.start, "started");
    assert.deepEqual(await run(server.url, "select answer from kept"), [{ answer: 42 }]);
  } finally {
    await server.stop();
  }
});

Deno.test("a process that has the number of a dead server is not taken for it", { ignore: !isRoot }, async () => {
  await using directory = await temporaryDirectory();
  const before = await start(directory.path);
  const port = new URL(before.url).port;
  await before.stop();
  const { uid, gid } = await Deno.stat(join(directory.path, "data"));
  const stranger = new Deno.Command("sleep", { args: ["60"], uid: uid ?? 0, gid: gid ?? 0, cwd: "/" }).spawn();
  try {
    const pidFile = join(directory.path, "data", "postmaster.pid");
    const lines = [
      stranger.pid,
      join(directory.path, "data"),
      1,
      port,
      join(directory.path, "socket"),
      "127.0.0.1",
      0,
      "ready",
    ];
    await Deno.writeTextFile(pidFile, `${lines.join("\n")}\n`);
    await Deno.chown(pidFile, uid, gid);

    const server = await start(directory.path);

    assert.equal(server.start, "started");
    await server.stop();
  } finally {
    stranger.kill("SIGTERM");
    assert.equal((await stranger.status).signal, "SIGTERM");
  }
});

Deno.test("a port that another program took meanwhile is given up for a free one", async () => {
  await using directory = await temporaryDirectory();
  const before = await start(directory.path);
  await before.stop();
  using _taken = Deno.listen({ hostname: "127.0.0.1", port: Number(new URL(before.url).port) });

  const server = await start(directory.path);
  try {
    assert.notEqual(server.url, before.url);
    assert.deepEqual(await run(server.url, "select 1 as one"), [{ one: 1 }]);
    assert.equal(await findEmbeddedServer(directory.path), server.url);
  } finally {
    await server.stop();
  }
});

Deno.test("a server that died is started again where it was, and one that lives is left alone", async () => {
  await using directory = await temporaryDirectory();
  const server = await start(directory.path);
  try {
    const pid = readPostmasterPid(server);
    assert.equal(await server.revive(), false);
    assert.equal(readPostmasterPid(server), pid);

    await killServer(server);
    assert.equal(await server.revive(), true);

    assert.deepEqual(await run(server.url, "select 1 as one"), [{ one: 1 }]);
  } finally {
    await server.stop();
  }
});

Deno.test("a stop does not wait for clients, and a stopped server is not revived", async () => {
  await using directory = await temporaryDirectory();
  const server = await start(directory.path);
  const cut = assert.rejects(run(server.url, "select pg_sleep(600)"));
  await until("the client is busy", async () => {
    const rows = await run(server.url, "select from pg_stat_activity where wait_event = 'PgSleep'");
    return rows.length === 1;
  });
  const startedAt = performance.now();

  await server.stop();

  assert.ok(performance.now() - startedAt < 5000);
  await cut;
  assert.equal(await server.revive(), false);
  await server.stop();
});

Deno.test("a server that does not start is quoted", async () => {
  await using directory = await temporaryDirectory();
  await (await start(directory.path)).stop();
  await Deno.remove(join(directory.path, "data", "global", "pg_control"));

  await assert.rejects(start(directory.path), (error) => {
    assert.ok(error instanceof EmbeddedServerError);
    assert.match(
      error.message,
      /^PostgreSQL did not start in .*data; its log ends with: .*could not open file ".*global\/pg_control"/s,
    );
    return true;
  });
  assert.equal(await findEmbeddedServer(directory.path), null);
});

Deno.test("data of another major release is left alone", async () => {
  await using directory = await temporaryDirectory();
  await (await start(directory.path)).stop();
  await Deno.writeTextFile(join(directory.path, "data", "PG_VERSION"), "17\n");

  await assert.rejects(start(directory.path), {
    name: "EmbeddedServerError",
    message: /^The data in .*data is of PostgreSQL 17, and this program brings PostgreSQL 18: dump it with/,
  });
});

Deno.test("a start that was killed while it made the data leaves nothing in the way", async () => {
  await using directory = await temporaryDirectory();
  for (const half of ["data.partial/base", "postgres.partial/bin", "secrets.partial"]) {
    await Deno.mkdir(join(directory.path, half), { recursive: true });
    await Deno.writeTextFile(join(directory.path, half, "half"), "");
  }

  const server = await start(directory.path);
  await server.stop();

  assert.equal(server.start, "created");
  const left = Array.from(Deno.readDirSync(directory.path), ({ name }) => name).filter((name) =>
    name.endsWith(".partial")
  );
  assert.deepEqual(left, []);
});

Deno.test("a directory too deep for a socket is served over loopback alone", async () => {
  await using directory = await temporaryDirectory();
  const deep = join(directory.path, "a".repeat(100));

  const server = await start(deep);
  try {
    assert.equal(server.socketUrl, null);
    assert.deepEqual(await run(server.url, "select 1 as one"), [{ one: 1 }]);
  } finally {
    await server.stop();
  }
});

Deno.test("a directory that a shell would misread is refused", async () => {
  await using directory = await temporaryDirectory();

  await assert.rejects(start(join(directory.path, "a$HOME")), {
    name: "EmbeddedServerError",
    message: /PostgreSQL cannot be started below a directory with "\$" in its name: choose another/,
  });
});

Deno.test("as root, the server runs as nobody", { ignore: !isRoot }, async () => {
  await using directory = await temporaryDirectory();
  const server = await start(directory.path);
  try {
    assert.equal(server.directory, directory.path);
    const { uid } = await Deno.stat(join(directory.path, "data", "postmaster.pid"));
    assert.notEqual(uid, 0);
  } finally {
    await server.stop();
  }
});

Deno.test(
  "as root, below a directory that only root may enter, the files go where the server can",
  { ignore: !isRoot },
  async () => {
    await using parent = await temporaryDirectory();
    const fallbackDir = join(parent.path, "fallback");
    const home = join(parent.path, "root");
    await Deno.mkdir(home, { mode: 0o700 });
    const options = { dataDir: join(home, ".uptuple"), fallbackDir, durable: false };

    for (const expected of ["created", "started"]) {
      const server = await startEmbeddedServer(options);
      try {
        assert.deepEqual([server.start, server.directory], [expected, fallbackDir]);
        assert.deepEqual(await run(server.url, "select 1 as one"), [{ one: 1 }]);
        assert.equal(await findEmbeddedServer(options.dataDir), server.url);
      } finally {
        await server.stop();
      }
    }

    const other = join(home, "other");
    await assert.rejects(startEmbeddedServer({ ...options, dataDir: other }), {
      name: "EmbeddedServerError",
      message: `PostgreSQL does not run as root, its user cannot enter ${other}, and ${fallbackDir} already serves ` +
        `${options.dataDir}: set UPTUPLE_DATA_DIR to a directory that every user may enter, or remove ${fallbackDir} if it ` +
        `is no longer needed.`,
    });
  },
);

Deno.test(
  "as root with a strict umask, the server's user can still run its programs",
  { ignore: !isRoot },
  async () => {
    await using directory = await temporaryDirectory();
    const umask = Deno.umask(0o077);
    try {
      const server = await start(directory.path);
      await server.stop();
      assert.equal(server.directory, directory.path);
    } finally {
      Deno.umask(umask);
    }
  },
);

Deno.test("the server starts and is replaced under no more permissions than deno.json lists", async () => {
  await using directory = await temporaryDirectory();
  for (const name of ["deno.json", "deno.lock"]) await Deno.copyFile(join(ROOT, name), join(directory.path, name));
  await Deno.writeTextFile(
    join(directory.path, "start.ts"),
    `import { startEmbeddedServer } from ${JSON.stringify(import.meta.resolve("../../src/database/embedded.ts"))};
     import { connect } from ${JSON.stringify(import.meta.resolve("../../src/database/connect.ts"))};
     const server = await startEmbeddedServer({ dataDir: ".uptuple", durable: false });
     const database = connect({ url: server.socketUrl ?? server.url });
     const [row] = await database.query\`select 'here' as answer\`;
     console.log(server.start, row.answer);
     await database.close();
     await server.stop();`,
  );

  assert.equal(await runProgram(directory.path, "start.ts"), "created here");
  await Deno.writeTextFile(join(directory.path, ".uptuple", "postgres", "VERSION"), "an earlier one");
  assert.equal(await runProgram(directory.path, "start.ts"), "started here");
});

function start(dataDir: string): Promise<EmbeddedServer> {
  return startEmbeddedServer({ dataDir, durable: false });
}

async function run(url: string, statement: string): Promise<unknown[]> {
  const sql = openClient(url, { maxConnections: 1, applicationName: "uptuple test", connectTimeoutMs: 5000 });
  try {
    return [...await sql.unsafe(statement)];
  } finally {
    await sql.end({ timeout: 0 });
  }
}

/** A program of its own that has started the server on a directory, to be killed. */
async function startProgram(
  dataDir: string,
  durable = false,
): Promise<AsyncDisposable & { url: string; kill(): Promise<void> }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      "--config",
      join(ROOT, "deno.json"),
      `import { startEmbeddedServer } from ${JSON.stringify(import.meta.resolve("../../src/database/embedded.ts"))};
       const server = await startEmbeddedServer({ dataDir: ${JSON.stringify(dataDir)}, durable: ${durable} });
       console.log(server.url);
       setInterval(() => {}, 60_000);`,
    ],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  assert.ok(value, "the program said nothing");
  let killed = false;
  const kill = async () => {
    if (!killed) child.kill("SIGKILL");
    killed = true;
    await child.status;
  };
  return { url: value.trim(), kill, [Symbol.asyncDispose]: kill };
}

/** Runs a file under the permissions of the deno.json beside it, and gives back what it printed. */
async function runProgram(directory: string, file: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-P", "--no-prompt", "--quiet", file],
    cwd: directory,
    stdout: "piped",
    stderr: "piped",
  }).output();
  const printed = new TextDecoder().decode(stdout).trim();
  assert.notEqual(printed, "", new TextDecoder().decode(stderr));
  return printed;
}
