import assert from "node:assert/strict";
import { record } from "../../support/alerts.ts";
import { addService } from "../../support/services.ts";
import { HOSTILE } from "../../support/status_pages.ts";
import { openTestApp } from "../../support/web_app.ts";
import { badgeSvg } from "../../../src/web/badges.ts";

Deno.test("a badge is SVG for who looks and JSON for shields.io, and may be kept for a minute", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "shop");
  await record(opened.owner, "shop", "UP");

  const svg = await opened.app.request("/badge/shop/status.svg");
  assert.equal(svg.status, 200);
  assert.equal(svg.headers.get("content-type"), "image/svg+xml; charset=utf-8");
  assert.equal(svg.headers.get("cache-control"), "private, max-age=60");
  assert.ok((await svg.text()).includes('aria-label="status: up"'));
  const json = await opened.app.request("/badge/shop/status.json");
  assert.equal(json.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(json.headers.get("access-control-allow-origin"), "*");
  assert.deepEqual(await json.json(), {
    schemaVersion: 1,
    label: "status",
    message: "up",
    color: "brightgreen",
    isError: false,
    cacheSeconds: 60,
  });
  const same = await opened.app.request("/badge/shop/status.svg", {
    headers: { "if-none-match": svg.headers.get("etag") ?? "" },
  });
  assert.equal(same.status, 304);
});

Deno.test("a browser that takes compressed badges has not to fetch again what it has", async () => {
  await using opened = await openTestApp();
  const headers = { "accept-encoding": "gzip" };
  const svg = await opened.app.request("/badge/nobody/status.svg", { headers });
  assert.equal(svg.headers.get("content-encoding"), "gzip");
  await svg.body?.cancel();

  const again = await opened.app.request("/badge/nobody/status.svg", {
    headers: { ...headers, "if-none-match": `"another", ${svg.headers.get("etag")}` },
  });

  assert.equal(again.status, 304);
});

Deno.test("an unknown service is grey and not missing", async () => {
  await using opened = await openTestApp();
  for (const kind of ["status", "uptime", "latency"]) {
    const answer = await opened.app.request(`/badge/nobody/${kind}.json`);
    assert.equal(answer.status, 200);
    const badge = await answer.json();
    assert.deepEqual([badge.message, badge.color], ["unknown", "lightgrey"]);
  }
});

Deno.test("behind a token badges tell the public of what status pages show, and viewers of everything", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });
  for (const name of ["shown", "hidden"]) {
    await addService(opened.owner, name);
    await record(opened.owner, name, "UP");
  }
  await opened.owner`select uptuple.add_status_page(services => '{shown}')`;
  const message = async (name: string, headers: HeadersInit = {}) => {
    const answer = await opened.app.request(`/badge/${name}/status.json`, { headers });
    return `${(await answer.json()).message} ${answer.headers.get("cache-control")}`;
  };

  assert.equal(await message("shown"), "up public, max-age=60");
  assert.equal(await message("hidden"), "unknown public, max-age=60");
  assert.equal(await message("hidden", { authorization: "Bearer sesame" }), "unknown public, max-age=60");
  const login = await opened.app.request("/login", { method: "POST", body: new URLSearchParams({ token: "sesame" }) });
  const cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  assert.equal(await message("hidden", { cookie }), "up private, max-age=60");
});

Deno.test("labels of one's own, other stretches, and names that need escaping", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "a/b c?");
  await record(opened.owner, "a/b c?", "DOWN", "DOWN", "DOWN");

  const json = await opened.app.request(`/badge/${encodeURIComponent("a/b c?")}/status.json?label=shop`);
  assert.deepEqual(await json.json().then(({ label, message }) => [label, message]), ["shop", "down"]);
  const svg = await opened.page(`/badge/x/status.svg?label=${encodeURIComponent(HOSTILE)}`);
  assert.ok(!svg.includes("<script"));
  assert.equal((await opened.app.request("/badge/shop/uptime.svg?range=90d")).status, 200);
  for (const path of ["/badge/shop/uptime.svg?range=1y", "/badge/shop/colour.svg", "/badge/shop/status.png"]) {
    assert.equal((await opened.app.request(path)).status, 404, path);
  }
});

Deno.test("a badge is as wide as its words", () => {
  const width = (label: string) =>
    Number(/ width="(\d+)"/.exec(badgeSvg({ label, message: "up", color: "green" }))?.[1]);
  assert.ok(width("a much longer label") > width("status") + 50);
  assert.ok(width("\u6d4b\u8bd5") > width("ab"));
});
