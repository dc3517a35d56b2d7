import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { TestSql } from "../support/database.ts";
import { browserTest, openPage, overflowOf, seriousBarriers } from "../support/browser.ts";
import { openTestApp, serveApp } from "../support/web_app.ts";

browserTest("the first run shows a newcomer what to type, and a button takes each line to the clipboard", async () => {
  await using opened = await openTestApp();
  await using served = serveApp(opened.app);
  await using tab = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });

  await tab.page.goto(served.url);
  await tab.page.getByRole("listitem").filter({ hasText: "Watch something" }).getByRole("button").click();

  assert.equal(await tab.page.getByRole("heading", { level: 1 }).textContent(), "Nothing is watched yet");
  await tab.page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(
    await tab.page.evaluate("navigator.clipboard.readText()"),
    "select uptuple.add_service(name => 'inventory', url => 'https://example.com/health');",
  );
  assert.deepEqual(tab.complaints, []);
});

browserTest("a service that is added in SQL appears, fails and recovers as it happens, without a reload", async () => {
  await using opened = await openTestApp();
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;
  await page.goto(served.url);
  await page.evaluate("globalThis.sameDocument = true");
  const headline = (text: string) => page.getByRole("status").getByRole("heading", { level: 1, name: text }).waitFor();
  const said = (text: string) => page.locator("#said").filter({ hasText: text }).waitFor({ state: "attached" });

  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  await headline("The service is unknown");
  await record(opened.owner, "UP");
  await headline("The service is up");
  assert.match(await serviceText(page), /inventory.*Up/);
  await said("inventory is up.");

  await record(opened.owner, "DOWN");
  await page.getByText("Failing 1 of 3: no answer").waitFor();
  await headline("The service is up");

  await record(opened.owner, "DOWN", "DOWN");
  await headline("The service is down");
  assert.equal(await page.title(), "1 down – Uptuple");
  assert.equal(await page.getByRole("heading", { name: "Open incidents" }).count(), 1);
  await said("inventory is down.");

  await record(opened.owner, "UP");
  await headline("The service is up");
  assert.equal(await page.title(), "All up – Uptuple");
  assert.equal(await page.getByRole("heading", { name: "Open incidents" }).count(), 0);

  await opened.owner`select uptuple.remove_service('inventory')`;
  await headline("Nothing is watched yet");

  assert.equal(await page.evaluate("globalThis.sameDocument"), true);
  assert.deepEqual(tab.complaints, []);
});

browserTest("a refresh leaves focus and selection where they are", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  await using served = serveApp(opened.app);
  await using tab = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = tab;
  await page.clock.install();
  await page.goto(served.url);
  await page.locator("code").first().click();
  const selected = await page.evaluate("getSelection().toString()");
  await page.getByRole("button", { name: "Copy" }).first().focus();
  await page.evaluate("globalThis.focused = document.activeElement");

  await record(opened.owner, "DOWN", "DOWN", "DOWN");
  await nextRefresh(page);

  assert.match(String(selected), /^select uptuple\./);
  assert.equal(await page.evaluate("getSelection().toString()"), selected);
  assert.equal(await page.evaluate("document.activeElement === globalThis.focused"), true);
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Copy");
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "The service is down");
});

browserTest("a page that has lost its server says so, and takes it back when the server answers again", async () => {
  await using opened = await openTestApp();
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;
  await page.clock.install();
  await page.goto(served.url);
  const alert = page.getByRole("alert");
  assert.equal(await alert.isVisible(), false);

  await page.context().setOffline(true);
  await page.clock.fastForward(30_000);
  await alert.waitFor();
  assert.match(
    await alert.textContent() ?? "",
    /Uptuple does not answer\. This is how things were at \d\d:\d\d:\d\d\sUTC\./,
  );

  await page.context().setOffline(false);
  await nextRefresh(page);
  assert.equal(await alert.isVisible(), false);
});

browserTest("a page that is paused stays as it is", async () => {
  await using opened = await openTestApp();
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;
  await page.clock.install();
  await page.goto(served.url);
  await page.getByRole("link", { name: "Pause" }).click();
  await page.getByRole("link", { name: "Go live" }).waitFor();
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));

  await page.clock.fastForward(60_000);
  await page.getByRole("link", { name: "Go live" }).click();
  await page.getByRole("link", { name: "Pause" }).waitFor();

  // The first request is the click's.
  assert.equal(requests.findIndex((url) => url.endsWith("/?")), 0, requests.join("\n"));
});

browserTest(
  "without JavaScript everything is there, nothing is offered that needs it, and the browser is told to reload",
  async () => {
    await using opened = await openTestApp();
    await using served = serveApp(opened.app);
    await using tab = await openPage({ javaScriptEnabled: false });
    const { page } = tab;

    await page.goto(served.url);

    assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Nothing is watched yet");
    assert.equal(await page.getByRole("button").count(), 0);
    assert.equal(await page.locator("noscript meta[http-equiv=refresh]").getAttribute("content"), "30");
  },
);

browserTest("the page is not wider than a telephone of 360 pixels, whatever the names", async () => {
  await using opened = await openTestApp();
  await fill(opened.owner);
  await using served = serveApp(opened.app);
  await using tab = await openPage({ viewport: { width: 360, height: 740 } });

  await tab.page.goto(served.url);

  assert.equal(await overflowOf(tab.page), 0);
});

browserTest("light and dark follow what the viewer prefers", async () => {
  await using opened = await openTestApp();
  await using served = serveApp(opened.app);
  const luminance: Record<string, number> = {};

  for (const colorScheme of ["light", "dark"] as const) {
    await using tab = await openPage({ colorScheme });
    await tab.page.goto(served.url);
    const colour = await tab.page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    luminance[colorScheme] = Math.max(...(colour.match(/\d+/g) ?? []).map(Number));
  }

  assert.ok((luminance.light ?? 0) > 230, `light: ${luminance.light}`);
  assert.ok((luminance.dark ?? 255) < 40, `dark: ${luminance.dark}`);
});

browserTest("nothing on any page is a serious barrier, light or dark, full or empty", async () => {
  await using full = await openTestApp();
  await fill(full.owner);
  await using empty = await openTestApp({ kind: "token", token: "sesame" });
  await using servedFull = serveApp(full.app);
  await using servedEmpty = serveApp(empty.app);
  const headers = { authorization: "Bearer sesame" };

  for (const colorScheme of ["light", "dark"] as const) {
    await using tab = await openPage({ colorScheme });
    await tab.page.goto(servedFull.url);
    assert.deepEqual(await seriousBarriers(tab.page), [], colorScheme);
  }
  for (const path of ["/", "/login", "/nothing"]) {
    await using tab = await openPage({ extraHTTPHeaders: headers });
    await tab.page.goto(servedEmpty.url + path);
    assert.deepEqual(await seriousBarriers(tab.page), [], path);
  }
});

browserTest("all that can be done can be done with the keyboard, in the order of the page", async () => {
  await using opened = await openTestApp();
  await using served = serveApp(opened.app);
  await using tab = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = tab;
  await page.goto(served.url);
  const reached: string[] = [];

  for (let step = 0; step < 7; step++) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate<string>("document.activeElement.textContent.trim()"));
    const outline = await page.evaluate<string>("getComputedStyle(document.activeElement).outlineStyle");
    assert.equal(outline, "solid", `the focus on ${reached.at(-1)} is visible`);
  }

  assert.deepEqual(reached, ["Skip to the content", "Uptuple", "Pause", "Theme: system", "Copy", "Copy", "Copy"]);
});

browserTest("services are found by a part of their name, their state, group and tag, at each key", async () => {
  await using opened = await openTestApp();
  await addShop(opened.owner);
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;
  await page.goto(served.url);
  const shown = () => page.locator(".service:visible .name a").allTextContents();

  await page.getByRole("searchbox").pressSequentially("CAR");
  assert.deepEqual(await shown(), ["cart"]);
  assert.match(await page.locator("#shown").textContent() ?? "", /^1 of 4/);
  assert.equal(page.url(), `${served.url}/?q=CAR`);
  await page.reload();
  assert.deepEqual(await shown(), ["cart"]);

  await page.getByRole("link", { name: "Show all" }).click();
  assert.deepEqual(await shown(), ["ledger", "cart", "till", "lonely"]);
  assert.equal(page.url(), `${served.url}/`);

  await page.getByLabel("Group").selectOption("Shop");
  assert.deepEqual(await shown(), ["cart", "till"]);
  await page.getByLabel("Tag").selectOption("eu");
  assert.deepEqual(await shown(), ["till"]);
  await page.getByLabel("State").selectOption("UNKNOWN");
  assert.deepEqual(await shown(), []);
  await page.getByText("No service is like that.").waitFor();

  // What changes does not come back into sight, and what begins to fit does.
  await page.goto(`${served.url}/?state=DOWN`);
  assert.deepEqual(await shown(), []);
  await opened.owner`select uptuple.record_health('ledger', 'DOWN', 'no answer') from generate_series(1, 3)`;
  await page.locator(".service:visible").filter({ hasText: "ledger" }).waitFor();
  assert.deepEqual(await shown(), ["ledger"]);
  assert.deepEqual(tab.complaints, []);
});

browserTest("without JavaScript the same is found with a button", async () => {
  await using opened = await openTestApp();
  await addShop(opened.owner);
  await using served = serveApp(opened.app);
  await using tab = await openPage({ javaScriptEnabled: false });
  const { page } = tab;
  await page.goto(`${served.url}/?refresh=off`);

  await page.getByLabel("Group").selectOption("Shop");
  await page.getByRole("searchbox").fill("TIL");
  await page.getByRole("button", { name: "Find" }).click();

  assert.deepEqual(await page.locator(".service:visible .name a").allTextContents(), ["till"]);
  assert.equal(await page.locator(".group:visible").count(), 1);
  assert.equal(new URL(page.url()).searchParams.get("refresh"), "off");
  await page.getByRole("link", { name: "Show all" }).click();
  assert.equal(await page.locator(".service:visible").count(), 4);
});

browserTest("the theme that a viewer chooses stays, and is there before anything is painted", async () => {
  await using opened = await openTestApp();
  await using served = serveApp(opened.app);
  await using tab = await openPage({ colorScheme: "light" });
  const { page } = tab;
  await page.goto(served.url);
  const ground = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const light = await ground();

  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  const dark = await ground();
  await page.reload({ waitUntil: "commit" });
  await page.locator("h1").waitFor();

  assert.notEqual(dark, light);
  assert.equal(await ground(), dark);
  assert.equal(await page.locator("head script").first().getAttribute("defer"), null);
  await page.getByRole("button", { name: "Theme: dark" }).click();
  assert.equal(await ground(), light);
  assert.deepEqual(tab.complaints, []);
});

browserTest("times are said in the viewer's zone, and the zone is named", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  await using served = serveApp(opened.app);
  await using tab = await openPage({ timezoneId: "Asia/Kolkata" });
  await tab.page.goto(served.url);

  const asOf = tab.page.locator("#as-of time");
  const utc = new Date(await asOf.getAttribute("datetime") ?? "");
  const local = new Date(utc.getTime() + 5.5 * 3_600_000).toISOString().slice(11, 19);

  assert.equal((await asOf.textContent())?.replace("\u00a0", " "), `${local} UTC+5:30`);
  await tab.page.getByText(/Times are in Asia\/\S+ \(UTC\+5:30\)/).waitFor();
});

browserTest("with a thousand services the page is whole, and finds one of them at once", async () => {
  await using opened = await openTestApp();
  await opened.owner`
    select uptuple.add_service(name => 'service ' || n, url => 'http://127.0.0.1:1/' || n, group_name => 'group ' || n % 20)
    from generate_series(1, 1000) n`;
  await using served = serveApp(opened.app);
  await using tab = await openPage({ viewport: { width: 360, height: 740 } });
  const { page } = tab;
  await page.goto(served.url);

  assert.equal(await page.locator(".service").count(), 1000);
  assert.equal(await overflowOf(page), 0);
  await page.getByRole("searchbox").fill("service 777");
  assert.equal(await page.locator(".service:visible").count(), 1);
  assert.equal(await page.locator(".group:visible").count(), 1);
  assert.deepEqual(tab.complaints, []);
});

browserTest("hostile names run nothing, and are shown as they are", async () => {
  await using opened = await openTestApp();
  const name = `<img src=x onerror="document.title='pwned'"><script>document.title='pwned'</script>`;
  await opened.owner`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:1/', group_name => ${name})`;
  await opened.owner`select uptuple.record_health(${name}, 'DOWN', ${name}) from generate_series(1, 3)`;
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  await tab.page.clock.install();

  await tab.page.goto(served.url);
  assert.equal(await tab.page.title(), "1 down – Uptuple");
  await nextRefresh(tab.page);

  assert.equal(await tab.page.title(), "1 down – Uptuple");
  assert.equal(await tab.page.locator(".service bdi").first().textContent(), name);
  assert.deepEqual(tab.complaints, []);
});

/** Lets the page's own clock come to its next refresh, and waits until what came is in the page. */
async function nextRefresh(page: Page): Promise<void> {
  // What the server has never heard of goes when its page comes.
  await page.evaluate("document.body.dataset.before = ''");
  await page.clock.fastForward(30_000);
  await page.locator("body:not([data-before])").waitFor();
}

async function serviceText(page: Page): Promise<string> {
  return (await page.locator(".service").innerText()).replace(/\s+/g, " ");
}

async function record(sql: TestSql, ...verdicts: ("UP" | "DOWN")[]): Promise<void> {
  for (const verdict of verdicts) {
    await sql`select uptuple.record_health('inventory', ${verdict}, ${
      verdict === "DOWN" ? "no answer" : "HTTP 200"
    }, 5)`;
  }
}

/** Four services, in two groups and none, one of them with a tag. */
async function addShop(sql: TestSql): Promise<void> {
  for (
    const [name, group, tags] of [["till", "Shop", ["eu"]], ["cart", "Shop", []], ["ledger", "Bank", []], [
      "lonely",
      null,
      [],
    ]] as const
  ) {
    await sql`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:1/', group_name => ${group}, tags => ${[
      ...tags,
    ]})`;
    await sql`select uptuple.record_health(${name}, 'UP', 'HTTP 200', 5)`;
  }
}

/** Something of everything that the page can show, with names that leave no place to break a line. */
async function fill(sql: TestSql): Promise<void> {
  const long = "x".repeat(190);
  for (const [index, verdict] of ["UP", "DEGRADED", "DOWN", "INCONCLUSIVE"].entries()) {
    const name = `${index}${long}`;
    await sql`select uptuple.add_service(name => ${name}, url => ${`http://127.0.0.1:1/${long}/${long}`},
      group_name => ${index < 2 ? long : "short"}, tags => ${[long.slice(0, 50), "tag"]})`;
    await sql`select uptuple.record_health(${name}, ${verdict}, ${long}, 12345) from generate_series(1, 3)`;
  }
  await sql`select uptuple.add_service(name => 'off', url => 'http://127.0.0.1:1/')`;
  await sql`select uptuple.disable_service('off')`;
  await sql`select uptuple.add_channel(name => ${`open${long}`}, url => 'http://127.0.0.1:1/')`;
  await sql`select uptuple.add_channel(name => ${`suspended${long}`}, url => 'http://127.0.0.1:1/')`;
  await sql`update uptuple.channel set suspended_at = clock_timestamp(), suspended_reason = ${long}, probe_at = clock_timestamp()
    where name like 'suspended%'`;
  await sql`update uptuple.delivery set state = 'DEAD', finished_at = clock_timestamp()`;
  await sql`select uptuple.report_worker(name, 'default', '{probe,deliver,web}', 1) from unnest(array['one', ${long}]) name`;
  await sql`update uptuple.worker set seen_at = clock_timestamp() - interval '5 minutes' where name = ${long}`;
}
