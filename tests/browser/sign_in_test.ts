import assert from "node:assert/strict";
import { browserTest, openPage, seriousBarriers } from "../support/browser.ts";
import { openTestApp, serveApp } from "../support/web_app.ts";

browserTest(
  "a viewer mistypes the token, then signs in, comes where he wanted to go, stays signed in, and signs out",
  async () => {
    await using opened = await openTestApp({ kind: "token", token: "open sesame" });
    await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
    await using served = serveApp(opened.app);
    await using tab = await openPage();
    const { page } = tab;
    const heading = page.getByRole("heading", { level: 1 });

    await page.goto(`${served.url}/?refresh=off`);
    assert.equal(await heading.textContent(), "Sign in");
    assert.equal(await page.evaluate("document.activeElement.id"), "token");

    await page.keyboard.type("sesame");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "That is not the viewer token." }).waitFor();
    assert.deepEqual(await seriousBarriers(page), []);

    await page.getByLabel("Viewer token").fill("open sesame");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("inventory").waitFor();
    assert.equal(page.url(), `${served.url}/?refresh=off`);
    assert.equal(await page.evaluate("document.cookie"), "");

    await page.reload();
    assert.equal(await heading.textContent(), "The service is unknown");

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${served.url}/login`);
    await page.goto(served.url);
    assert.equal(await heading.textContent(), "Sign in");
    assert.deepEqual(tab.complaints, []);
  },
);

browserTest("signing in works without JavaScript", async () => {
  await using opened = await openTestApp({ kind: "token", token: "open sesame" });
  await using served = serveApp(opened.app);
  await using tab = await openPage({ javaScriptEnabled: false });

  await tab.page.goto(served.url);
  await tab.page.getByLabel("Viewer token").fill("open sesame");
  await tab.page.getByRole("button", { name: "Sign in" }).click();
  await tab.page.getByRole("button", { name: "Sign out" }).waitFor();

  assert.equal(await tab.page.getByRole("heading", { level: 1 }).textContent(), "Nothing is watched yet");
});

browserTest("a live page asks for the token again when its cookie has ended", async () => {
  await using opened = await openTestApp({ kind: "token", token: "open sesame" });
  await using served = serveApp(opened.app);
  await using tab = await openPage();
  const { page } = tab;
  await page.clock.install();
  await page.goto(served.url);
  await page.getByLabel("Viewer token").fill("open sesame");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();

  await page.context().clearCookies();
  await page.clock.fastForward(10_000);

  await page.getByLabel("Viewer token").waitFor();
});
