import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { openTestApp, type TestApp } from "../../support/web_app.ts";
import { changesIn } from "../../../src/web/revision_changes.ts";
import { servicePath } from "../../../src/web/service_address.tsx";
import type { ServiceRevision } from "../../../src/web/service_page.ts";

Deno.test("the page of a service says how it is, why, what came of its notices, and what is next", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:1/')`;
  await opened
    .owner`select uptuple.add_service(name => 'inventory', url => 'https://example.com/health?key=topsecret', group_name => 'Shop')`;
  await record(opened.owner, "UP", "DOWN", "DOWN", "DOWN");
  await opened.owner`
    insert into uptuple.delivery_attempt (delivery_id, attempt, outcome, status, latency_ms, answer)
    select id, 1, 'RETRY', 503, 12, 'busy' from uptuple.delivery`;

  const answer = await opened.app.request("/services/inventory");
  const page = await answer.text();
  const text = textOf(page);

  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/html; charset=UTF-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.match(page, /<title>inventory – Uptuple<\/title>/);
  assert.match(text, /inventory Down for 0 s · no answer Shop/);
  assert.match(text, /Address https:\/\/example\.com\/health\?…/);
  assert.match(text, /Checked every 30 s Timeout 10 s Down after 3 failures Up again after 1 success/);
  assert.match(
    text,
    /Incidents no answer First failed at [\d:]+ UTC 1 notice service\.failed at [\d:]+ UTC ops : about to be sent/,
  );
  assert.match(text, /[\d:]+ UTC : HTTP 503, to be tried again after 12 ms: busy/);
  assert.match(text, /Last 4 checks .* Down no answer by hand 5 ms/);
  assert.doesNotMatch(page, /topsecret/);
});

Deno.test("what reports by itself has a page about reports, without an address, a timeout or phases", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_service(name => 'backup', url => 'heartbeat:', every => '1 hour')`;
  assert.match(await textAt(opened, "/"), /backup Reports by itself · waiting for its first report Unknown/);
  await opened.owner`select uptuple.heartbeat('backup', 'start')`;
  await opened.owner`select uptuple.heartbeat('backup')`;

  const text = await textAt(opened, "/services/backup");

  assert.match(
    text,
    /Address None: it reports by itself Last report 0 s ago.* Expected by [\d:]+ UTC Reports every 1 h Down/,
  );
  assert.match(text, /Reports Time Verdict Reason Run [\d:]+ UTC Up /);
  assert.doesNotMatch(text, /Timeout|Where the time goes|heartbeat:|Worker|check/);
});

Deno.test("the certificate is the one that was seen last, whatever kind of service it belongs to", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_service(name => 'mail', url => 'certificate://mail.example:465')`;
  await opened.owner`
    insert into uptuple.service_certificate (service_id, region, fingerprint, not_after, subject, issuer, names, revision, first_seen_at)
    select id, 'default', 'AB', clock_timestamp() + interval '9 days 1 hour', 'CN=mail.example', 'CN=An Authority', '{mail.example}', revision,
      clock_timestamp()
    from uptuple.service`;

  assert.match(
    await textAt(opened, "/services/mail"),
    /Certificate Valid until [\d: -]+ UTC , 9 days left First seen [\d:]+ UTC Subject CN=mail\.example Issuer CN=An Authority Names mail\.example/,
  );
});

Deno.test("the chart of a young service shows its first hour, that of an older one a day", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  assert.match(await opened.page("/services/inventory"), /data-shown="1h"/);
  assert.match(await opened.page("/services/inventory?range=7d"), /data-shown="7d"/);
  await opened.owner`update uptuple.service set created_at = created_at - interval '7 hours'`;
  assert.match(await opened.page("/services/inventory"), /data-shown="24h"/);
});

Deno.test("a service that does not exist, or no longer, has a page that says so, as has its chart", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  await opened.owner`select uptuple.remove_service('inventory')`;

  for (const path of ["/services/inventory", "/services/%3Cb%3E", "/services", "/services/%FF"]) {
    const answer = await opened.app.request(path);
    assert.equal(answer.status, 404, path);
    assert.match(await answer.text(), /<h1>There is no such service<\/h1>/, path);
  }
  const points = await opened.app.request("/services/inventory/latency");
  assert.equal(points.status, 404);
  assert.deepEqual(await points.json(), { error: "There is no service of that name." });
});

Deno.test("every name leads to its own page", async () => {
  await using opened = await openTestApp();
  const names = ["a/b", "a%2Fb", "100 %", "?q=#x", ".", "..", "latency", "ü 🦜", "'\"<&>", "\\", "a+b", ";"];
  for (const name of names) {
    await opened.owner`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:1/')`;
  }

  for (const name of names) {
    // As a browser would, which resolves dots.
    const { pathname, search } = new URL(servicePath(name), "http://127.0.0.1/");
    const answer = await opened.app.request(pathname + search);
    assert.equal(answer.status, 200, name);
    assert.ok(textOf(await answer.text()).startsWith(` ${name} – Uptuple`), name);
  }
});

Deno.test("the points of a chart come as JSON, kept by no cache, for the stretch that is asked for", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;

  const answer = await opened.app.request("/services/inventory/latency?range=7d");
  const unknown = await opened.app.request("/services/inventory/latency?range=constructor");

  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.deepEqual(await answer.json(), { range: "7d", summary: "Nothing was checked.", points: [] });
  assert.equal((await unknown.json()).range, "24h");
});

Deno.test("pages and points are behind the viewer token, and so is the stream", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });

  for (const path of ["/services/inventory", "/services/inventory/latency", "/services", "/live"]) {
    const answer = await opened.app.request(path);
    assert.equal(answer.status, 401, path);
    await answer.body?.cancel();
  }
});

Deno.test("the stream is one of events, that no cache keeps and nothing on the way holds back", async () => {
  await using opened = await openTestApp();

  const answer = await opened.app.request("/live?mark=0", { headers: { "accept-encoding": "gzip" } });
  await answer.body?.cancel();

  assert.equal(answer.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("x-accel-buffering"), "no");
  assert.equal(answer.headers.get("content-encoding"), null);
});

Deno.test("pages are compressed for whoever can read that", async () => {
  await using opened = await openTestApp();

  const answer = await opened.app.request("/", { headers: { "accept-encoding": "gzip" } });
  const plain = await opened.app.request("/");

  assert.equal(answer.headers.get("content-encoding"), "gzip");
  assert.equal(plain.headers.get("content-encoding"), null);
  const unzipped = await new Response(answer.body?.pipeThrough(new DecompressionStream("gzip"))).text();
  assert.match(unzipped, /<h1>Nothing is watched yet<\/h1>/);
  await plain.body?.cancel();
});

Deno.test("each revision says what it changed, and of what may be secret only that it did", () => {
  const before: ServiceRevision = {
    revision: 1,
    kind: "http",
    target: "https://***@example.com/a?key=1",
    target_digest: "a",
    timeout_ms: 10_000,
    created_at: "2026-01-01T00:00:00+00:00",
    created_by: "ann",
    settings: { method: "GET", expected_statuses: [[200, 299]] },
    digests: { method: "1", expected_statuses: "2", headers: "3" },
  };
  const after: ServiceRevision = {
    ...before,
    revision: 2,
    target_digest: "b",
    timeout_ms: 500,
    settings: { method: "POST", expected_statuses: [[200, 299]] },
    digests: { method: "9", expected_statuses: "2", headers: "8", body: "7" },
  };

  assert.deepEqual(changesIn(before, null), []);
  assert.deepEqual(changesIn(before, before), []);
  assert.deepEqual(changesIn(after, before), [
    {
      setting: "URL, in a part that is not shown",
      before: "https://***@example.com/a?…",
      after: "https://***@example.com/a?…",
    },
    { setting: "timeout", before: "10.00\u00a0s", after: "500\u00a0ms" },
    { setting: "body", before: null, after: "not shown" },
    { setting: "headers", before: "not shown", after: "not shown" },
    { setting: "method", before: "GET", after: "POST" },
  ]);
});

async function record(sql: TestSql, ...verdicts: ("UP" | "DOWN")[]): Promise<void> {
  for (const verdict of verdicts) {
    await sql`select uptuple.record_health('inventory', ${verdict}, ${
      verdict === "DOWN" ? "no answer" : "HTTP 200"
    }, 5)`;
  }
}

async function textAt(opened: TestApp, path: string): Promise<string> {
  return textOf(await opened.page(path));
}

/** The text of a page as one line. */
function textOf(page: string): string {
  return page.replace(/<wbr\/?>/g, "").replace(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll(
      "&amp;",
      "&",
    )
    .replace(/\s+/g, " ");
}
