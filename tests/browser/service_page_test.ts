import assert from "node:assert/strict";
import { browserTest, openPage, overflowOf, seriousBarriers } from "../support/browser.ts";
import type { TestSql } from "../support/database.ts";
import { openTestApp, serveApp } from "../support/web_app.ts";

browserTest(
  "a service's page is one click away, with a chart that can be pointed at and goes back further without leaving",
  async () => {
    await using opened = await openTestApp();
    await addPast(opened.owner, "inventory");
    await using served = serveApp(opened.app);
    await using tab = await openPage();
    const { page } = tab;
    await page.goto(served.url);
    await page.getByRole("link", { name: "inventory" }).first().click();

    await page.getByRole("heading", { level: 1, name: "inventory" }).waitFor();
    await page.locator(".chart canvas").waitFor();
    await page.evaluate("globalThis.sameDocument = true");
    const answer = page.waitForResponse((response) => response.url().includes("/latency?range=7d"));
    await page.getByRole("link", { name: "7 d" }).click();
    await answer;
    assert.equal(await page.getByRole("link", { name: "7 d" }).getAttribute("aria-current"), "true");
    assert.equal(new URL(page.url()).searchParams.get("range"), "7d");
    await page.locator(".chart .u-over").hover();
    await page.locator(".u-legend").filter({ hasText: /p50\s*:?\s*\d/ }).waitFor();
    assert.equal(await page.evaluate("globalThis.sameDocument"), true);

    await page.getByText("1 notice").click();
    await page.getByText("HTTP 503, to be tried again after 12 ms: busy").waitFor();
    assert.deepEqual(tab.complaints, []);
  },
);

browserTest("without JavaScript the chart is a drawing, and every stretch a page of its own", async () => {
  await using opened = await openTestApp();
  await addPast(opened.owner, "inventory");
  await using served = serveApp(opened.app);
  await using tab = await openPage({ javaScriptEnabled: false });
  const { page } = tab;
  await page.goto(`${served.url}/services/inventory`);

  assert.match(await page.locator(".line-p50").getAttribute("d") ?? "", /^M[\d.]+ [\d.]+/);
  await page.getByRole("link", { name: "1 h", exact: true }).click();
  assert.equal(new URL(page.url()).searchParams.get("range"), "1h");
  assert.equal(await page.getByRole("link", { name: "1 h", exact: true }).getAttribute("aria-current"), "true");
  assert.match(await page.locator("figcaption").textContent() ?? "", /The median was between/);
});

browserTest("a refresh of a service's page leaves the chart and what was opened as they are", async () => {
  await using opened = await openTestApp();
  await addPast(opened.owner, "inventory");
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;
  await page.goto(`${served.url}/services/inventory`);
  await page.locator(".chart canvas").waitFor();
  await page.getByText("1 notice").click();
  await page.evaluate("globalThis.canvas = document.querySelector('canvas')");

  await opened.owner`select uptuple.record_health('inventory', 'UP', 'well again', 5)`;
  // A page that comes back into sight looks for news at once.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await page.getByText("well again").first().waitFor();

  assert.equal(await page.locator(".chart canvas").count(), 1);
  assert.equal(await page.locator("details.notices").getAttribute("open"), "");
  assert.deepEqual(tab.complaints, []);
});

browserTest("nothing on a service's page is a serious barrier, light or dark, and it fits a telephone", async () => {
  await using opened = await openTestApp();
  const name = `${"x".repeat(190)}<b>`;
  await addPast(opened.owner, name);
  await using served = serveApp(opened.app);
  const url = `${served.url}/services/${encodeURIComponent(name)}`;

  for (const colorScheme of ["light", "dark"] as const) {
    await using tab = await openPage({ colorScheme });
    await tab.page.goto(url);
    await tab.page.locator(".chart canvas").waitFor();
    await tab.page.locator("details").evaluate("(details) => details.open = true");
    assert.deepEqual(await seriousBarriers(tab.page), [], colorScheme);
  }
  await using tab = await openPage({ viewport: { width: 360, height: 740 } });
  await tab.page.goto(url);
  await tab.page.locator(".chart canvas").waitFor();
  assert.equal(await overflowOf(tab.page), 0);
});

browserTest("names that are hostile have a page too, and run nothing on it", async () => {
  await using opened = await openTestApp();
  const names = [
    `<script>document.title='pwned'</script>`,
    `"' onmouseover=alert(1) x='`,
    "a/b?c#d%2Fe\\f",
    "\u202eright to left",
    "🦜".repeat(50),
    "..",
    ".",
    "latency",
  ];
  for (const name of names) {
    await opened.owner`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:1/', group_name => ${
      name.slice(0, 100)
    })`;
  }
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;

  for (const name of names) {
    await page.goto(served.url);
    const links = await page.evaluate<[string, string][]>(
      "[...document.querySelectorAll('.service .name a')].map((link) => [link.textContent, link.href])",
    );
    const href = links.find(([text]) => text === name)?.[1];
    assert.ok(href, name);
    const answer = await page.goto(href);
    assert.equal(answer?.status(), 200, name);
    assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), name);
    assert.equal(await page.title(), `${name} – Uptuple`);
  }
  assert.deepEqual(tab.complaints, []);
});

/** A service with checks in the last hour, an incident, and a notice of it that was tried once. */
async function addPast(sql: TestSql, name: string): Promise<void> {
  await sql`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:1/')`;
  await sql`select uptuple.add_service(name => ${name}, url => 'https://example.com/a/long/path', tags => '{eu}')`;
  await sql`select uptuple.record_health(${name}, 'DOWN', 'no answer', 5) from generate_series(1, 3)`;
  await sql`
    insert into uptuple.delivery_attempt (delivery_id, attempt, worker, outcome, status, latency_ms, answer)
    select id, 1, 'host-1', 'RETRY', 503, 12, 'busy' from uptuple.delivery`;
  await sql`select uptuple.ensure_partitions(extract(epoch from clock_timestamp())::bigint - 86400, extract(epoch from clock_timestamp())::bigint)`;
  await sql`update uptuple.service_active set during = tstzrange(clock_timestamp() - interval '1 hour', null)`;
  await sql`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, latency_ms, dns_ms, connect_ms, tls_ms, first_byte_ms,
      http_status, region, purpose, status, reason, worker, detail)
    select extract(epoch from at)::bigint, service.id, at, 1, 20 + n % 7, 1, 2, 3, 4, 200, 'default', 'GRID',
      case when n % 9 = 0 then 'DOWN' else 'UP' end, 'HTTP 200', 'host-1', jsonb_build_object('certificate', jsonb_build_object(
        'subject', 'CN=example.com', 'issuer', 'CN=An Authority', 'not_before', at - interval '50 days', 'not_after', at + interval '9 days',
        'fingerprint256', repeat('AB:', 31) || 'AB', 'names', jsonb_build_array('example.com', '*.example.com')
      ))
    from uptuple.service
    cross join generate_series(1, 55) n
    cross join lateral (select clock_timestamp() - make_interval(mins => n) as at) moment`;
}
