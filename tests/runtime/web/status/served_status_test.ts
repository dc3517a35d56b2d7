import assert from "node:assert/strict";
import { fail, record } from "../../../support/alerts.ts";
import { addService } from "../../../support/services.ts";
import { HOSTILE } from "../../../support/status_pages.ts";
import { openTestApp, type TestApp } from "../../../support/web_app.ts";

/** The web role behind a viewer token, with a page that shows the shop and hides the secret. */
async function openPublished(): Promise<TestApp> {
  const opened = await openTestApp({ kind: "token", token: "sesame" });
  await addService(opened.owner, "shop");
  await addService(opened.owner, "secret");
  await opened
    .owner`select uptuple.add_status_page(title => 'Example', description => 'All of it.', services => '{shop}')`;
  await record(opened.owner, "shop", "UP");
  return opened;
}

const FORMS: [string, string, number, boolean][] = [
  ["/status", "text/html; charset=utf-8", 10, false],
  ["/status/feed.atom", "application/atom+xml; charset=utf-8", 60, true],
  ["/status/feed.rss", "application/rss+xml; charset=utf-8", 60, true],
  ["/status/maintenance.ics", "text/calendar; charset=utf-8", 300, true],
  ["/status/api/v2/summary.json", "application/json; charset=utf-8", 10, true],
  ["/api/v2/summary.json", "application/json; charset=utf-8", 10, true],
  ["/api/v2/status.json", "application/json; charset=utf-8", 10, true],
  ["/api/v2/components.json", "application/json; charset=utf-8", 10, true],
  ["/api/v2/incidents.json", "application/json; charset=utf-8", 10, true],
  ["/api/v2/incidents/unresolved.json", "application/json; charset=utf-8", 10, true],
  ["/api/v2/scheduled-maintenances.json", "application/json; charset=utf-8", 10, true],
];

Deno.test("a status page and its documents are open to everybody, each with its type, and may be kept for a while", async (t) => {
  await using opened = await openPublished();
  for (const [path, type, maxAge, shared] of FORMS) {
    await t.step(path, async () => {
      const answer = await opened.app.request(path);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), type);
      assert.match(answer.headers.get("cache-control") ?? "", new RegExp(`^public, max-age=${maxAge},`));
      assert.equal(answer.headers.get("access-control-allow-origin"), shared ? "*" : null);
      assert.match(answer.headers.get("etag") ?? "", /^W\/"[\w-]{22}"$/);
      const text = await answer.text();
      for (const hidden of ["secret", "127.0.0.1", "it is UP"]) assert.ok(!text.includes(hidden), hidden);

      const again = await opened.app.request(path, { headers: { "if-none-match": answer.headers.get("etag") ?? "" } });
      assert.equal(again.status, 304);
      assert.equal(await again.text(), "");
    });
  }
});

Deno.test("the dashboard, services and incidents stay behind the token", async () => {
  await using opened = await openPublished();
  await fail(opened.owner, "shop");
  for (const path of ["/", "/services/shop", "/incidents/1", "/metrics"]) {
    assert.equal((await opened.app.request(path)).status, 401, path);
  }
});

Deno.test("a named page is at its slug, and what is not there is not found", async () => {
  await using opened = await openPublished();
  await opened.owner`select uptuple.add_status_page(slug => 'eu-west', title => 'Europe')`;

  assert.ok((await opened.page("/status/eu-west")).includes("Europe"));
  assert.equal((await opened.app.request("/status/eu-west/feed.atom")).status, 200);
  assert.equal((await opened.app.request("/status/eu-west/api/v2/summary.json")).status, 200);
  for (const path of ["/status/nowhere", "/status/default", "/status/nowhere/feed.rss", "/status/logo", "/status/Eu"]) {
    assert.notEqual((await opened.app.request(path)).status, 200, path);
  }
});

Deno.test("before there is a status page its address says how to make one, and that works as it stands", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });
  await addService(opened.owner, "inventory");
  const answer = await opened.app.request("/status");
  assert.equal(answer.status, 404);
  const text = (await answer.text()).replaceAll("&gt;", ">").replaceAll("&#39;", "'");
  const statement = /select uptuple\.add_status_page\([^;]*;/.exec(text)?.[0];
  await opened.owner.unsafe(statement ?? "");
  const giveUpAt = Date.now() + 15_000;
  while ((await opened.app.request("/status")).status !== 200) {
    assert.ok(Date.now() < giveUpAt, "the page does not appear");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

Deno.test("what changes is there within a few seconds, under another ETag", async () => {
  await using opened = await openPublished();
  const before = await opened.app.request("/status");
  assert.ok((await before.text()).includes("All Systems Operational"));
  await fail(opened.owner, "shop");

  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const now = await opened.app.request("/status");
    const text = await now.text();
    if (text.includes("Major System Outage")) {
      assert.notEqual(now.headers.get("etag"), before.headers.get("etag"));
      assert.ok(text.includes("shop does not answer as it should."));
      break;
    }
    assert.ok(Date.now() < giveUpAt, "the page still says that all is well");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

Deno.test("pages come compressed to who takes that", async () => {
  await using opened = await openPublished();
  const packed = await opened.app.request("/status", { headers: { "accept-encoding": "br, gzip" } });
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  assert.match(packed.headers.get("vary") ?? "", /Accept-Encoding/);
  const text = await new Response(packed.body?.pipeThrough(new DecompressionStream("gzip"))).text();
  assert.equal(text, await opened.page("/status"));
});

Deno.test("links in feeds go to the public URL, or else to where the request went", async () => {
  await using opened = await openPublished();
  const own = await (await opened.app.request("http://status.example/status/feed.atom")).text();
  assert.ok(own.includes('href="http://status.example/status/feed.atom"'));
  const proxied = await opened.app.request("http://status.example/status/feed.atom", {
    headers: { "x-forwarded-proto": "https" },
  });
  assert.ok((await proxied.text()).includes('href="https://status.example/status"'));

  await using configured = await openTestApp({ kind: "public" }, { publicUrl: "https://uptime.example/" });
  await configured.owner`select uptuple.add_status_page()`;
  const feed = await (await configured.app.request("http://evil.example/status/feed.rss")).text();
  assert.ok(feed.includes("https://uptime.example/status") && !feed.includes("evil.example"));
});

Deno.test("hostile names and texts are shown as text", async () => {
  await using opened = await openTestApp();
  const { owner } = opened;
  await addService(owner, HOSTILE);
  await owner`select uptuple.add_status_page(title => ${HOSTILE}, description => ${HOSTILE}, services => ${[HOSTILE]})`;
  const incident = await fail(owner, HOSTILE);
  await owner`select uptuple.post_update(${incident}, 'identified', ${HOSTILE})`;
  await owner`select uptuple.plan_maintenance(${HOSTILE}, services => ${[
    HOSTILE,
  ]}, duration => '1 hour', description => ${HOSTILE})`;

  const html = await opened.page("/status");

  assert.equal(html.match(/<script/g)?.length, html.match(/<script [^>]*src="\/assets\//g)?.length);
  assert.ok(html.includes("&lt;script&gt;alert("));
  JSON.parse(await opened.page("/api/v2/summary.json"));
  for (const path of [`/incidents/${incident}`, "/status/feed.atom", "/status/feed.rss"]) {
    assert.ok(!(await opened.page(path)).includes("<script>alert"), path);
  }
});

Deno.test("a logo is served with its type, for ever under the address that names its content", async () => {
  await using opened = await openPublished();
  await opened.owner`select uptuple.set_status_page_logo('default', decode('89504e470d0a1a0a00', 'hex'))`;
  const plain = await opened.app.request("/status/logo");
  assert.equal(plain.headers.get("content-type"), "image/png");
  assert.equal(plain.headers.get("cache-control"), "no-cache");
  assert.deepEqual([...new Uint8Array(await plain.arrayBuffer())], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);
  const html = await opened.page("/status");
  const source = /class="status-logo" src="([^"]+)"/.exec(html)?.[1] ?? "";
  assert.match((await opened.app.request(source)).headers.get("cache-control") ?? "", /immutable/);
});
