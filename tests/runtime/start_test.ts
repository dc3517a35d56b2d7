import assert from "node:assert/strict";
import { withDatabase, withLogin } from "../../src/database/url.ts";
import { testDatabase } from "../support/database.ts";
import { startProgram } from "../support/runtime.ts";
import { ownServer, temporaryDirectory } from "../support/server.ts";
import { until } from "../support/wait.ts";
import { switchableTarget } from "../support/watched.ts";

/** A port that was free a moment ago. */
function freePort(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return String(port);
}

/** Starts the program, expects it to give up, and gives back what it said. */
async function refusal(env: Record<string, string>): Promise<string> {
  await using program = startProgram({ env: { PORT: freePort(), ...env } });
  assert.notEqual(await program.exited, 0);
  const said = program.output().split("\n").filter((line) => line !== "" && !line.includes("experimental feature"));
  assert.equal(said.length, 1, program.output());
  return said[0] ?? "";
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function status(url: string): Promise<number> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
}

Deno.test("a database URL of another kind is refused with one sentence", async () => {
  assert.match(await refusal({ DATABASE_URL: "mysql://root@127.0.0.1/x" }), /only PostgreSQL is supported/);
});

Deno.test("a database server that is not there is one sentence with the cure", async () => {
  const said = await refusal({ DATABASE_URL: `postgres://uptuple:hidden@127.0.0.1:${freePort()}/uptuple` });
  assert.match(said, /start/i);
  assert.doesNotMatch(said, /hidden/);
});

Deno.test("a refused login is one sentence with the cure, without the password", async () => {
  await using database = await testDatabase();
  await database.urlFor("uptuple_worker");
  const said = await refusal({ DATABASE_URL: withLogin(database.url, "nobody_at_all", "hidden") });
  assert.match(said, /nobody_at_all/);
  assert.doesNotMatch(said, /hidden/);
});

Deno.test("a database that does not exist is one sentence with the cure", async () => {
  await using database = await testDatabase();
  assert.match(await refusal({ DATABASE_URL: withDatabase(database.url, "no_such_place") }), /no_such_place/);
});

Deno.test("a variable that cannot be used is refused by its name", async () => {
  for (
    const [name, value] of [
      ["PORT", "80a"],
      ["UPTUPLE_ROLES", "probe,cook"],
      ["UPTUPLE_REGION", "a b"],
      ["UPTUPLE_LOG", "loud"],
      ["UPTUPLE_HEARTBEAT_URL", "example.com"],
      ["UPTUPLE_VIEWER_TOKEN", "short"],
      ["UPTUPLE_PUBLIC", "everything"],
      ["UPTUPLE_MIGRATE", "maybe"],
    ] as const
  ) {
    assert.match(await refusal({ DATABASE_URL: "postgres://x@127.0.0.1/x", [name]: value }), new RegExp(`^${name} `));
  }
});

Deno.test("a port that is taken is one sentence that names it", async () => {
  await using database = await testDatabase();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = String(listener.addr.port);
  assert.match(await refusal({ DATABASE_URL: database.url, PORT: port }), new RegExp(`^Port ${port} .* is taken`));
});

Deno.test("an address that others reach is not listened on without a token or leave", async () => {
  await using database = await testDatabase();
  const said = await refusal({ DATABASE_URL: database.url, HOST: "0.0.0.0" });
  assert.match(said, /UPTUPLE_VIEWER_TOKEN/);
  assert.match(said, /UPTUPLE_PUBLIC=dashboard/);
});

Deno.test("a host that is no address of this machine is one sentence with the cure", async () => {
  const env = { DATABASE_URL: "postgres://x@127.0.0.1/x", UPTUPLE_PUBLIC: "dashboard" };
  for (const host of ["192.0.2.1", "no-such-host.invalid"]) {
    assert.match(await refusal({ ...env, HOST: host }), new RegExp(`^HOST is "${host}"`));
  }
});

Deno.test("Ctrl-C while the program starts leaves no database server behind", async () => {
  await using directory = await temporaryDirectory();
  const env = { UPTUPLE_DATA_DIR: `${directory.path}/data`, UPTUPLE_LOG: "warning,json", PORT: freePort() };
  await using program = startProgram({ env, permissions: ["-A"] });
  await until("the server is being started", () => isThere(`${directory.path}/data/data/postmaster.pid`), 60_000);
  Deno.kill(program.pid, "SIGINT");
  assert.equal(await program.exited, 0);
  assert.equal(await isThere(`${directory.path}/data/data/postmaster.pid`), false);
});

Deno.test("the first start makes a database of its own, a second one beside it is told, and a later one finds the data", async () => {
  await using directory = await temporaryDirectory();
  const port = freePort();
  const env = { UPTUPLE_DATA_DIR: `${directory.path}/data`, UPTUPLE_LOG: "warning,json" };
  const permissions = ["-A"];
  await using first = startProgram({ env: { ...env, PORT: port }, permissions });
  await first.ready;
  assert.match(first.output(), new RegExp(`page +http://127.0.0.1:${port}/`));
  assert.match(first.output(), /of its own, created/);

  await using beside = startProgram({ env: { ...env, PORT: freePort() }, permissions });
  assert.notEqual(await beside.exited, 0);
  assert.match(beside.output(), /already|runs/i);
  assert.equal(await status(`http://127.0.0.1:${port}/readyz`), 200);

  const stopping = performance.now();
  // Under `deno task` Ctrl-C comes twice: from the terminal, and passed on by the task.
  Deno.kill(first.pid, "SIGINT");
  assert.equal(await first.end("SIGINT"), 0);
  assert.ok(performance.now() - stopping < 5000);

  await using second = startProgram({ env: { ...env, PORT: port }, permissions });
  await second.ready;
  assert.match(second.output(), /of its own, started/);
  assert.equal(await second.end("SIGTERM"), 0);
});

Deno.test("a runtime that logs in with only the worker's role verifies the schema and works", async () => {
  await using database = await testDatabase();
  await using target = switchableTarget();
  await database.owner`select uptuple.add_service(name => 'inventory', url => ${target.url})`;
  const port = freePort();
  await using program = startProgram({
    env: { DATABASE_URL: await database.urlFor("uptuple_worker"), PORT: port, UPTUPLE_LOG: "warning,json" },
  });
  await program.ready;
  await until("the service was probed", async () => {
    const [row] = await database.owner`select status from uptuple.status`;
    return row.status === "UP";
  });
  assert.equal(await status(`http://127.0.0.1:${port}/readyz`), 200);
  assert.equal(await status(`http://127.0.0.1:${port}/`), 200);
  assert.equal(await program.end("SIGTERM"), 0);
  const [worker] = await database.owner`select state from uptuple.workers`;
  assert.equal(worker.state, "STOPPED");
});

Deno.test("a server that goes down later is waited for, and the program carries on by itself when it is back", async () => {
  await using server = await ownServer({ durable: true });
  await using target = switchableTarget();
  const port = freePort();
  await using program = startProgram({ env: { DATABASE_URL: server.url, PORT: port, UPTUPLE_LOG: "warning,json" } });
  await program.ready;
  await until("it is ready", async () => await status(`http://127.0.0.1:${port}/readyz`) === 200);

  await server.kill();
  await until("it says that it is not ready", async () => await status(`http://127.0.0.1:${port}/readyz`) === 503);
  assert.equal(await status(`http://127.0.0.1:${port}/healthz`), 200);
  assert.equal(await status(`http://127.0.0.1:${port}/`), 503);

  await server.revive();
  await until("it is ready again", async () => await status(`http://127.0.0.1:${port}/readyz`) === 200);
  const { openClient } = await import("../../src/database/client.ts");
  const sql = openClient(server.url, { maxConnections: 1, applicationName: "test" });
  await sql`select uptuple.add_service(name => 'inventory', url => ${target.url})`;
  await until("it probes again", async () => {
    const [row] = await sql`select status from uptuple.status`;
    return row?.status === "UP";
  });
  await sql.end({ timeout: 1 });
});

Deno.test("a start with UPTUPLE_PUBLIC_URL stores where notices link to, and one without leaves that as it is", async () => {
  await using database = await testDatabase();
  const publicUrl = async () => (await database.owner`select public_url from uptuple.setting`)[0].public_url;
  const env = { PORT: freePort(), DATABASE_URL: database.url };
  {
    await using _program = startProgram({ env: { ...env, UPTUPLE_PUBLIC_URL: "https://status.example.com" } });
    await until("the URL is stored", async () => await publicUrl() === "https://status.example.com/");
  }
  await using _program = startProgram({ env });
  await until("the program works", async () => {
    return (await database.owner`select from uptuple.workers where state = 'ALIVE'`).length > 0;
  });
  assert.equal(await publicUrl(), "https://status.example.com/");
});
