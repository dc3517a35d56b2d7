import assert from "node:assert/strict";
import { fail, record } from "../support/alerts.ts";
import { browserTest, openPage, overflowOf, seriousBarriers } from "../support/browser.ts";
import { addService } from "../support/services.ts";
import { HOSTILE } from "../support/status_pages.ts";
import { openTestApp, serveApp, type TestApp } from "../support/web_app.ts";

/** A page with a group, a long and hostile name, an incident that was written about, and maintenance to come. */
async function openEverything(): Promise<TestApp> {
  const opened = await openTestApp({ kind: "token", token: "sesame" });
  const { owner } = opened;
  const long = `${"x".repeat(150)} ${HOSTILE}`;
  for (const name of ["shop", "checkout", long]) await addService(owner, name);
  await owner`select uptuple.update_service('shop', group_name => 'Sales')`;
  await owner`select uptuple.add_status_page(title => 'Example', description => ${HOSTILE}, groups => '{Sales}', services => ${[
    "checkout",
    long,
  ]})`;
  await record(owner, "shop", "UP");
  await record(owner, long, "UP");
  const incident = await fail(owner, "checkout");
  await owner`select uptuple.post_update(${incident}, 'identified', ${`The plug was out.\n\n${HOSTILE}`})`;
  await owner`
    select uptuple.plan_maintenance(
      ${HOSTILE}, services => '{shop}', starts_at => clock_timestamp() + interval '1 day', duration => '1 hour')`;
  return opened;
}

browserTest(
  "who opens a status page sees the whole, the parts, what goes on and what is planned, without a token",
  async () => {
    await using opened = await openEverything();
    await using served = serveApp(opened.app);
    await using tab = await openPage({ timezoneId: "Asia/Tokyo" });
    const { page } = tab;
    const answer = await page.goto(`${served.url}/status`);

    assert.equal(answer?.status(), 200);
    await page.getByRole("heading", { level: 1, name: "Example" }).waitFor();
    await page.getByText("Partial System Outage").waitFor();
    await page.getByRole("heading", { name: "checkout: outage" }).waitFor();
    await page.getByText("The plug was out.").waitFor();
    await page.getByRole("heading", { name: "Sales" }).waitFor();
    await page.getByRole("heading", { name: "Scheduled maintenance" }).waitFor();
    assert.match(await page.locator("footer").textContent() ?? "", /Times are in Asia\/Tokyo/);
    const [utc = "", shown = ""] = await page.locator(".announcement time").first().evaluate(
      (time) => [(time as unknown as { dateTime: string }).dateTime, time.textContent],
    ) as string[];
    assert.equal(
      shown.replace("\u00a0", " "),
      new Date(Date.parse(utc) + 9 * 3600_000).toISOString().slice(0, 19).replace("T", " "),
    );
    assert.deepEqual(tab.complaints, []);
  },
);

browserTest("a page that stands open shows a recovery by itself, in place", async () => {
  await using opened = await openEverything();
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;
  await page.goto(`${served.url}/status`);
  await page.getByText("Partial System Outage").waitFor();
  await page.evaluate("globalThis.sameDocument = true");

  await record(opened.owner, "checkout", "UP");
  const giveUpAt = Date.now() + 15_000;
  while (await page.getByText("All Systems Operational").count() === 0) {
    assert.ok(Date.now() < giveUpAt, "the page still shows the outage");
    // A page that comes back into sight looks for news at once.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.waitForTimeout(100);
  }

  assert.equal(await page.evaluate("globalThis.sameDocument"), true);
  await page.getByText("checkout answers as it should again.").waitFor();
  assert.deepEqual(tab.complaints, []);
});

browserTest("without JavaScript a status page says the same, with times in UTC", async () => {
  await using opened = await openEverything();
  await using served = serveApp(opened.app);
  await using tab = await openPage({ javaScriptEnabled: false });
  const { page } = tab;
  await page.goto(`${served.url}/status`);

  await page.getByText("Partial System Outage").waitFor();
  assert.match(
    await page.locator(".announcement time").first().textContent() ?? "",
    /^\d{4}-\d\d-\d\d\s\d\d:\d\d:\d\d\sUTC$/,
  );
  assert.equal(await page.locator("svg.bars").count(), 3);
});

browserTest("nothing on a status page is a serious barrier, light or dark, and it fits a telephone", async () => {
  await using opened = await openEverything();
  await using served = serveApp(opened.app);
  for (const colorScheme of ["light", "dark"] as const) {
    await using tab = await openPage({ colorScheme, viewport: { width: 360, height: 740 } });
    await tab.page.goto(`${served.url}/status`);
    assert.deepEqual(await seriousBarriers(tab.page), [], colorScheme);
    assert.equal(await overflowOf(tab.page), 0);
    assert.deepEqual(tab.complaints, []);
  }
});

browserTest("an incident is one click from its service, and no serious barrier", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "shop");
  const incident = await fail(opened.owner, "shop");
  await opened.owner`select uptuple.post_update(${incident}, 'postmortem', ${HOSTILE})`;
  await using served = serveApp(opened.app);
  for (const colorScheme of ["light", "dark"] as const) {
    await using tab = await openPage({ colorScheme, viewport: { width: 360, height: 740 } });
    const { page } = tab;
    await page.goto(`${served.url}/services/shop`);
    await page.getByRole("link", { name: "it is DOWN" }).first().click();
    await page.getByRole("heading", { name: "What happened" }).waitFor();
    assert.equal(new URL(page.url()).pathname, `/incidents/${incident}`);
    assert.deepEqual(await seriousBarriers(page), [], colorScheme);
    assert.equal(await overflowOf(page), 0);
    assert.deepEqual(tab.complaints, []);
  }
});
