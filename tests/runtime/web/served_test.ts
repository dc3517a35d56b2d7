import assert from "node:assert/strict";
import { Hono } from "hono";
import { createApp } from "../../../src/web/app.tsx";
import type { AccessPolicy } from "../../../src/web/access.ts";
import { guardRoutes } from "../../../src/web/guard.tsx";
import { looseDatabase, openTestApp, serveApp } from "../../support/web_app.ts";

const LOOPBACK: AccessPolicy = { kind: "loopback", host: "127.0.0.1" };

Deno.test("the page is served over HTTP to whoever is on this machine", async () => {
  await using opened = await openTestApp(LOOPBACK);
  await using served = serveApp(opened.app);

  const answer = await fetch(served.url);

  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/html; charset=UTF-8");
  assert.match(await answer.text(), /^<!DOCTYPE html><html lang="en">.*<\/html>$/s);
});

Deno.test("on loopback a request for another name is refused, whatever page it is for, with the cures", async () => {
  await using served = serveGuarded(LOOPBACK);

  for (const target of ["/", "/nothing", "http://localhost/"]) {
    const answer = await send(
      served.port,
      `GET ${target} HTTP/1.1\r\nHost: evil.example:${served.port}\r\nConnection: close\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 403 /, target);
    assert.match(answer, /Open to this machine only.*UPTUPLE_VIEWER_TOKEN.*UPTUPLE_PUBLIC=dashboard/s, target);
    assert.doesNotMatch(answer, /inside/, target);
  }
});

Deno.test("on loopback this machine may be called by each of its names", async () => {
  await using served = serveGuarded(LOOPBACK);

  for (const host of [`localhost:${served.port}`, "127.0.0.1", "[::1]:8080", "uptuple.localhost"]) {
    const answer = await send(served.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 200 .*inside$/s, host);
  }
});

Deno.test("a hostile Host header stays text on the page that refuses it", async () => {
  await using served = serveGuarded(LOOPBACK);

  const answer = await send(
    served.port,
    "GET / HTTP/1.1\r\nHost: <script>alert(1)</script>\r\nConnection: close\r\n\r\n",
  );

  assert.match(answer, /^HTTP\/1\.1 40[03] /);
  assert.doesNotMatch(answer, /<script>/);
});

Deno.test("with a token or for everybody, any name will do", async () => {
  for (const policy of [{ kind: "public" }, { kind: "token", token: "sesame" }] satisfies AccessPolicy[]) {
    await using served = serveGuarded(policy);
    const request =
      "GET / HTTP/1.1\r\nHost: status.example.com\r\nAuthorization: Bearer sesame\r\nConnection: close\r\n\r\n";

    assert.match(await send(served.port, request), /^HTTP\/1\.1 200 .*inside$/s, policy.kind);
  }
});

Deno.test("health is told to everybody, under any name", async () => {
  await using database = looseDatabase({ url: "postgres://someone@127.0.0.1:1/nowhere" });
  for (const access of [LOOPBACK, { kind: "token", token: "sesame" }] satisfies AccessPolicy[]) {
    await using served = serveApp(createApp({ database, access }));
    const ask = (path: string) =>
      send(served.port, `GET ${path} HTTP/1.1\r\nHost: 10.1.2.3:${served.port}\r\nConnection: close\r\n\r\n`);

    assert.match(await ask("/healthz"), /^HTTP\/1\.1 200 .*\{"healthy":true\}$/s);
    assert.match(
      await ask("/readyz"),
      /^HTTP\/1\.1 503 .*\{"ready":false,"problem":"The database does not answer\."\}$/s,
    );
  }
});

Deno.test("wrong tokens are counted against the address that they come from", async () => {
  await using served = serveGuarded({ kind: "token", token: "sesame" });
  const statuses: number[] = [];

  for (let attempt = 0; attempt < 11; attempt++) {
    const answer = await fetch(served.url, { headers: { authorization: "Bearer guess" } });
    await answer.body?.cancel();
    statuses.push(answer.status);
  }

  assert.deepEqual(statuses, [...Array(10).fill(401), 429]);
});

Deno.test("HEAD answers as GET does, without the page", async () => {
  await using opened = await openTestApp(LOOPBACK);
  await using served = serveApp(opened.app);

  for (const path of ["/", "/healthz", "/readyz"]) {
    const answer = await fetch(served.url + path, { method: "HEAD" });
    assert.equal(answer.status, 200, path);
    assert.equal(await answer.text(), "", path);
  }
});

/** Serves something to see, behind a guard. */
function serveGuarded(policy: AccessPolicy): ReturnType<typeof serveApp> {
  return serveApp(new Hono().route("/", guardRoutes(policy)).get("/", (context) => context.text("inside")));
}

/** Sends bytes that fetch would not, and gives back the whole answer. */
async function send(port: number, request: string): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode(request));
  return await new Response(connection.readable).text();
}
