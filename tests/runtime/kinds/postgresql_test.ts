import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { PostgresqlConfig } from "../../../src/jobs/kinds/postgresql_probe.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import type { Observation } from "../../../src/jobs/observation.ts";
import { authority, selfSigned, type ServerCertificate } from "../../support/certificates.ts";
import { testDatabase } from "../../support/database.ts";
import { assertReached, checkOnce, type CheckOptions, observeCheck } from "../../support/kinds.ts";
import { assertFailed } from "../../support/probing.ts";
import { closedPort, rawServer } from "../../support/raw_server.ts";
import { until } from "../../support/wait.ts";

const root = await authority();

function observe(target: string, config: PostgresqlConfig = {}, options: CheckOptions = {}): Promise<Observation> {
  return observeCheck({ kind: "postgresql", target, config }, options);
}

/** A server of the test, asked for TLS first as libpq does. */
function urlOf(port: number): string {
  return `postgresql://app@127.0.0.1:${port}/db?sslmode=prefer`;
}

/** An error that ends a connection before anybody is let in. */
function fatal(state: string, message: string): Uint8Array {
  const fields = ["SFATAL", "VFATAL", `C${state}`, `M${message}`].map((field) => `${field}\0`).join("") + "\0";
  const body = new TextEncoder().encode(fields);
  const bytes = new Uint8Array(5 + body.length);
  bytes[0] = "E".charCodeAt(0);
  new DataView(bytes.buffer).setUint32(1, 4 + body.length);
  bytes.set(body, 5);
  return bytes;
}

/** Lets anybody in without asking who it is: the login is done, a parameter, ready for a query. */
const WELCOME = new TextEncoder().encode("R\0\0\0\x08\0\0\0\0S\0\0\0\x16server_version\x0018\0Z\0\0\0\x05I");

/** Says no to TLS, and goes on when the client has introduced itself. */
function withoutTls(then: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.once("data", () => {
      socket.write("N");
      socket.once("data", () => then(socket));
    });
  };
}

/** Says yes to TLS, shakes hands, and goes on when the client has introduced itself. */
function withTls(certificate: ServerCertificate, then: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.removeAllListeners("data");
    socket.once("data", () => {
      socket.write("S");
      const secured = new TLSSocket(socket, { isServer: true, ...certificate });
      secured.on("error", () => {});
      secured.once("data", () => then(secured));
    });
  };
}

Deno.test("a server that answers select 1 is reached, with its version, and nobody stays connected", async () => {
  await using database = await testDatabase({ migrated: false });
  const observation = await observe(database.url);
  assertReached(observation);
  const [server] = await database.owner`select split_part(current_setting('server_version'), ' ', 1) as version`;
  assert.equal(observation.server_version?.split(" ")[0], server.version);
  assert.equal(observation.address, "127.0.0.1");
  await until("the check has left", async () => {
    const [left] = await database.owner`
      select count(*)::integer as n from pg_stat_activity
      where datname = current_database() and application_name = 'uptuple check'`;
    return left.n === 0;
  });
});

Deno.test("a URL that is one secret is used, and its password is shown nowhere", async () => {
  await using database = await testDatabase({ migrated: false });
  const url = new URL(await database.urlFor("uptuple_viewer"));
  url.password = "wrong%20password";
  const options = { environment: { UPTUPLE_SECRET_DSN: url.href } };
  const observation = await observe("postgresql:${UPTUPLE_SECRET_DSN}", {}, options);
  assert.ok(!JSON.stringify(observation).includes("wrong password") && !JSON.stringify(observation).includes(url.href));
});

Deno.test("a database that does not exist is postgresql.refused_login, not unreachable", async () => {
  await using database = await testDatabase({ migrated: false });
  const url = new URL(database.url);
  url.pathname = "/no_such_database";
  assertFailed(await observe(url.href), "postgresql.refused_login", /refused the login: .*no_such_database.*\(3D000\)/);
});

Deno.test("a role that does not exist is postgresql.refused_login", async () => {
  await using database = await testDatabase({ migrated: false });
  const url = new URL(database.url);
  url.username = "nobody_of_that_name";
  assertFailed(await observe(url.href), "postgresql.refused_login", /nobody_of_that_name/);
});

Deno.test("a wrong password is postgresql.refused_login, and is not shown", async () => {
  await using server = await rawServer(
    withoutTls((socket) => socket.end(fatal("28P01", 'password authentication failed for user "app"'))),
  );
  const target = `postgresql://app:\${UPTUPLE_SECRET_PW}@127.0.0.1:${server.port}/db?sslmode=prefer`;
  const observation = await observe(target, {}, { environment: { UPTUPLE_SECRET_PW: "hunter2/hunter2@" } });
  assertFailed(observation, "postgresql.refused_login", /password authentication failed/);
  assert.ok(!JSON.stringify(observation).includes("hunter2"));
});

for (
  const [state, message] of [["57P03", "the database system is starting up"], [
    "53300",
    "sorry, too many clients already",
  ]]
) {
  Deno.test(`"${message}" is postgresql.unavailable`, async () => {
    await using server = await rawServer(withoutTls((socket) => socket.end(fatal(state ?? "", message ?? ""))));
    const observation = await observe(urlOf(server.port));
    assertFailed(observation, "postgresql.unavailable", new RegExp(message ?? ""));
  });
}

Deno.test("a port on which nobody listens is connect.refused", async () => {
  assertFailed(await observe(urlOf(await closedPort())), "connect.refused");
});

Deno.test("a server that takes the connection and says nothing hangs in the question for TLS", async () => {
  await using server = await rawServer(() => {});
  const observation = await observe(urlOf(server.port), {}, { timeoutMs: 300 });
  assertFailed(observation, "timeout.tls");
});

Deno.test("a server that hangs in the login is timeout.expect", async () => {
  await using server = await rawServer(withoutTls(() => {}));
  const observation = await observe(urlOf(server.port), {}, { timeoutMs: 300 });
  assertFailed(observation, "timeout.expect", /did not finish the login/);
  await until("the connection is closed", () => Promise.resolve(server.connections() === 0));
});

Deno.test("a server that lets in and never answers the query is timeout.expect", async () => {
  await using server = await rawServer(withoutTls((socket) => socket.write(WELCOME)));
  const observation = await observe(urlOf(server.port), {}, { timeoutMs: 300 });
  assertFailed(observation, "timeout.expect", /did not answer the query/);
});

Deno.test("a server that ends the connection in the login, or resets it, is protocol", async () => {
  for (const end of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    await using server = await rawServer(withoutTls(end));
    const observation = await observe(urlOf(server.port));
    assertFailed(observation, "protocol", /ended the connection during the login/);
  }
});

Deno.test("a server of something else is protocol", async () => {
  for (const banner of ["220 mail.example.com ESMTP\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"]) {
    await using server = await rawServer((socket) => socket.write(banner));
    const observation = await observe(urlOf(server.port));
    assertFailed(observation, "protocol", /does not speak PostgreSQL's protocol/);
  }
});

Deno.test("TLS is used where the server has it, whoever signed its certificate, unless the URL asks for more", async () => {
  const certificate = await selfSigned();
  await using server = await rawServer(withTls(certificate, (socket) => socket.end(fatal("57P03", "in TLS"))));
  const url = urlOf(server.port);
  const preferred = await observe(url);
  assertFailed(preferred, "postgresql.unavailable", /in TLS/);
  assert.deepEqual(preferred.warnings, ["tls.self_signed"]);
  assert.equal(preferred.certificate?.subject, "CN=alone");
  assertFailed(await observe(url.replace("prefer", "verify-full")), "tls.self_signed");
  assertFailed(await observe(url, { tls: {} }), "tls.self_signed");
});

Deno.test("a certificate of an authority of one's own is trusted", async () => {
  const certificate = await root.issue();
  await using server = await rawServer(withTls(certificate, (socket) => socket.end(fatal("57P03", "in TLS"))));
  const observation = await observe(urlOf(server.port), { tls: { ca: root.pem } });
  assertFailed(observation, "postgresql.unavailable", /in TLS/);
  assert.equal(observation.warnings, undefined);
});

Deno.test("a server without TLS is tls.handshake where TLS is required", async () => {
  await using server = await rawServer(withoutTls(() => {}));
  const url = urlOf(server.port);
  assertFailed(await observe(url.replace("prefer", "require")), "tls.handshake", /does not offer TLS/);
  assertFailed(await observe(url, { tls: {} }), "tls.handshake", /does not offer TLS/);
});

Deno.test("the network policy sees the address", async () => {
  await using server = await rawServer(() => {});
  const observation = await observe(urlOf(server.port), {}, {
    policy: networkPolicy({ deny: ["127.0.0.0/8"] }),
  });
  assertFailed(observation, "policy.denied");
  assert.equal(server.connections(), 0);
});

Deno.test("a secret that is no URL of a server says nothing about a server", async () => {
  for (const dsn of ["not a url", "postgresql:///db?host=/var/run/postgresql", "postgresql://a,b/db"]) {
    const observation = await observe("postgresql:${UPTUPLE_SECRET_DSN}", {}, {
      environment: { UPTUPLE_SECRET_DSN: dsn },
    });
    assertFailed(observation, "secret.missing");
  }
});

Deno.test("a runtime that stops gives the check up at once", async () => {
  await using server = await rawServer(withoutTls(() => {}));
  const stop = new AbortController();
  const target = urlOf(server.port);
  const outcome = checkOnce({ kind: "postgresql", target, config: {} }, { signal: stop.signal });
  await until("the client has introduced itself", () => Promise.resolve(server.received().includes("uptuple check")));
  stop.abort();
  assert.deepEqual(await outcome, { aborted: true });
});
