import assert from "node:assert/strict";
import { createApp } from "../../src/web/app.tsx";
import { migrate } from "../../src/database/migrate.ts";
import { browserTest, openPage } from "../support/browser.ts";
import { ownServer } from "../support/server.ts";
import { looseDatabase, serveApp } from "../support/web_app.ts";

browserTest("a page lives through the death of its database, and says meanwhile what is the matter", async () => {
  await using server = await ownServer();
  await migrate(server.url);
  await using database = looseDatabase({ url: server.url });
  await using served = serveApp(createApp({ database, access: { kind: "public" } }));
  await using tab = await openPage();
  const { page } = tab;
  await page.clock.install();
  await page.goto(served.url);
  await page.getByRole("heading", { name: "Nothing is watched yet" }).waitFor();

  await server.kill();
  await page.clock.fastForward(30_000);
  await page.getByRole("heading", { name: "The database does not answer" }).waitFor();
  assert.equal((await fetch(`${served.url}/healthz`)).status, 200);

  await server.revive();
  while ((await (await fetch(`${served.url}/readyz`)).json()).ready !== true);
  await page.clock.fastForward(10_000);
  await page.getByRole("heading", { name: "Nothing is watched yet" }).waitFor();
  assert.deepEqual(tab.complaints, []);
});
