import assert from "node:assert/strict";
import { createApp } from "../../../src/web/app.tsx";
import { testDatabase } from "../../support/database.ts";
import { addHeartbeat, beatOf, verdictsOf } from "../../support/heartbeats.ts";
import { looseDatabase, openTestApp, serveApp, type TestApp } from "../../support/web_app.ts";

/** The path that a heartbeat calls. */
async function pathOf({ owner }: TestApp, name: string): Promise<string> {
  const [row] = await owner`select uptuple.heartbeat_url(${name}) as path`;
  return row.path;
}

Deno.test("a job reports with POST, GET or HEAD, without the viewer token, although the pages ask for it", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });
  await addHeartbeat(opened.owner, "backup");
  const path = await pathOf(opened, "backup");
  for (const method of ["POST", "GET", "HEAD"]) {
    const answer = await opened.app.request(path, { method });
    assert.equal(answer.status, 200, method);
    assert.equal(await answer.text(), method === "HEAD" ? "" : "OK: UP\n");
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
  assert.equal((await beatOf(opened.owner, "backup")).calls, "3");
  assert.equal((await opened.app.request("/")).status, 401);
});

Deno.test("it is answered under every host name, although the pages of a loopback policy are not", async () => {
  await using opened = await openTestApp({ kind: "loopback", host: "127.0.0.1" });
  await addHeartbeat(opened.owner, "backup");
  const path = await pathOf(opened, "backup");
  const headers = { host: "status.example.com" };
  assert.equal((await opened.app.request(path, { headers })).status, 200);
  assert.equal((await opened.app.request("/", { headers })).status, 403);
});

Deno.test("/start, /fail and exit codes say what they say, and a body becomes the reason", async () => {
  await using opened = await openTestApp();
  const { owner, app } = opened;
  await addHeartbeat(owner, "backup");
  const path = await pathOf(opened, "backup");
  const call = async (event: string, body?: string) => {
    const answer = await app.request(path + event, { method: "POST", ...(body === undefined ? {} : { body }) });
    assert.equal(answer.status, 200);
    return await answer.text();
  };
  assert.equal(await call("/start"), "OK: UNKNOWN\n");
  assert.equal((await beatOf(owner, "backup")).running, true);
  assert.equal(await call("/0"), "OK: UP\n");
  assert.equal(await call("/3", "tar: no space\u0000 left\n"), "OK: DOWN\n");
  assert.equal(await call(""), "OK: UP\n");
  assert.equal(await call("/fail", "x".repeat(50_000)), "OK: DOWN\n");
  const verdicts = await verdictsOf(owner, "backup");
  assert.deepEqual(verdicts.map(({ code }) => code), [
    null,
    "heartbeat.exit_code",
    null,
    "heartbeat.failed",
  ]);
  assert.equal(verdicts[1]?.reason, "it ended with exit code 3: tar: no space\ufffd left");
  assert.equal(verdicts[3]?.reason, `it reported a failure: ${"x".repeat(400)}`);
});

Deno.test("an unknown token, what is no token, and a path that says nothing are 404, and change nothing", async () => {
  await using opened = await openTestApp();
  await addHeartbeat(opened.owner, "backup");
  const path = await pathOf(opened, "backup");
  for (
    const wrong of [
      `/heartbeat/${crypto.randomUUID()}`,
      "/heartbeat/backup",
      "/heartbeat/'; drop schema uptuple; --",
      `${path}/256`,
      `${path}/-1`,
      `${path}/stop`,
      `${path}/start/now`,
    ]
  ) {
    assert.equal((await opened.app.request(wrong, { method: "POST" })).status, 404, wrong);
  }
  assert.equal((await beatOf(opened.owner, "backup")).calls, "0");
});

Deno.test("who changes its mind all the time is answered 429", async () => {
  await using opened = await openTestApp();
  await addHeartbeat(opened.owner, "mad");
  const path = await pathOf(opened, "mad");
  const statuses: number[] = [];
  for (let call = 0; call < 30; call++) {
    const answer = await opened.app.request(path + (call % 2 === 0 ? "/fail" : ""), { method: "POST" });
    statuses.push(answer.status);
    if (answer.status === 429) assert.equal(answer.headers.get("retry-after"), "5");
  }
  assert.equal(statuses[0], 200);
  assert.ok(statuses.includes(429));
});

Deno.test("without a database the answer is 503 with a time to try again", async () => {
  await using database = looseDatabase({ url: "postgres://someone:verysecret@127.0.0.1:1/nowhere" });
  const app = createApp({ database, access: { kind: "public" } });
  const answer = await app.request(`/heartbeat/${crypto.randomUUID()}`, { method: "POST" });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get("retry-after"), "5");
  assert.ok(!(await answer.text()).includes("verysecret"));
});

Deno.test("a body that never ends is not waited for: the report counts without its rest", async () => {
  await using opened = await openTestApp();
  await addHeartbeat(opened.owner, "backup");
  const path = await pathOf(opened, "backup");
  await using server = serveApp(opened.app);
  const job = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  try {
    const head = `POST ${path}/fail HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nthe disk is`;
    await job.write(new TextEncoder().encode(head));
    const buffer = new Uint8Array(4096);
    const length = await job.read(buffer);
    assert.match(new TextDecoder().decode(buffer.subarray(0, length ?? 0)), /^HTTP\/1\.1 200 /);
  } finally {
    job.close();
  }
  const [verdict] = await verdictsOf(opened.owner, "backup");
  assert.equal(verdict?.reason, "it reported a failure: the disk is");
});

Deno.test("a web role that may only read says so, and does not pretend to have taken the report", async () => {
  await using database = await testDatabase();
  await addHeartbeat(database.owner, "backup");
  const [row] = await database.owner`select uptuple.heartbeat_url('backup') as path`;
  await using viewer = looseDatabase({ url: await database.urlFor("uptuple_viewer") });
  const app = createApp({ database: viewer, access: { kind: "public" } });
  assert.equal((await app.request(row.path, { method: "POST" })).status, 503);
  assert.equal((await beatOf(database.owner, "backup")).calls, "0");
});
