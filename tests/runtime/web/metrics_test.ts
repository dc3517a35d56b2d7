import assert from "node:assert/strict";
import { parseExposition, values } from "../../support/exposition.ts";
import { looseDatabase, openTestApp } from "../../support/web_app.ts";
import { createApp } from "../../../src/web/app.tsx";

/** What Prometheus 2.x and 3.x send, shortened. */
const PROMETHEUS =
  "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

Deno.test("/metrics answers Prometheus text, and OpenMetrics to who prefers it", async () => {
  await using opened = await openTestApp();
  const get = async (accept?: string) => {
    const answer = await opened.app.request("/metrics", accept === undefined ? {} : { headers: { accept } });
    return { type: answer.headers.get("content-type"), vary: answer.headers.get("vary"), text: await answer.text() };
  };

  const plain = await get();
  assert.equal(plain.type, "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(plain.vary, "Accept, Accept-Encoding");
  assert.ok(!plain.text.includes("# EOF"));
  const open = await get(PROMETHEUS);
  assert.equal(open.type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  assert.ok(open.text.endsWith("# EOF\n"));
  for (const accept of ["*/*", "text/plain", "text/html", "application/openmetrics-text;q=0.1,text/plain"]) {
    assert.equal((await get(accept)).type, plain.type, accept);
  }
  for (const { text } of [plain, open]) {
    assert.deepEqual(values(parseExposition(text).get("uptuple_services"), { state: "DOWN" }), [0]);
  }
});

Deno.test("with a metrics token a scraper needs that and nothing else, and viewers cannot read without it", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" }, { metricsToken: "open metrics" });
  const status = async (token?: string) => {
    const headers: HeadersInit = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await opened.app.request("/metrics", { headers })).status;
  };

  assert.equal(await status("open metrics"), 200);
  assert.equal(await status(), 401);
  assert.equal(await status("sesame"), 401);
  assert.equal((await opened.app.request("/", { headers: { authorization: "Bearer open metrics" } })).status, 401);
});

Deno.test("a refused scraper is told what is missing, and after ten wrong tokens to wait", async () => {
  await using opened = await openTestApp({ kind: "public" }, { metricsToken: "open metrics" });
  const get = (authorization?: string) =>
    opened.app.request("/metrics", authorization === undefined ? {} : { headers: { authorization } });

  const without = await get();
  assert.equal(without.headers.get("www-authenticate"), 'Bearer realm="Uptuple metrics"');
  assert.equal(await without.text(), "This asks for the metrics token: send it as Authorization: Bearer.\n");
  for (let attempt = 0; attempt < 10; attempt++) assert.equal((await get(`Bearer guess ${attempt}`)).status, 401);
  const limited = await get("Bearer open metrics");
  assert.equal(limited.status, 429);
  assert.match(limited.headers.get("retry-after") ?? "", /^\d+$/);
});

Deno.test("without a metrics token /metrics is for whoever may see the pages", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });

  assert.equal((await opened.app.request("/metrics")).status, 401);
  const answer = await opened.app.request("/metrics", { headers: { authorization: "Bearer sesame" } });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("cache-control"), "no-store");
});

Deno.test("a scrape without a database is a failure, and gives nothing away", async () => {
  await using database = looseDatabase({ url: "postgres://someone:verysecret@127.0.0.1:1/nowhere" });
  const app = createApp({ database, access: { kind: "public" } });

  const answer = await app.request("/metrics");

  assert.equal(answer.status, 503);
  assert.doesNotMatch(await answer.text(), /verysecret/);
});
