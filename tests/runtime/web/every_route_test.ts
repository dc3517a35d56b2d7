import assert from "node:assert/strict";
import { openTestApp, type TestApp } from "../../support/web_app.ts";

const HTML = "text/html; charset=UTF-8";
const JSON_TYPE = "application/json";
const TEXT = "text/plain; charset=UTF-8";
const NEVER = "no-store";
const FOR_EVER = "public, max-age=31536000, immutable";

/** How a route answers. */
interface Answer {
  status?: number;
  type: string | null;
  cache: string | RegExp;
}

interface OpenedApp extends TestApp {
  token: string;
}

/** By method and path as they are registered, an example of each. */
const ROUTES: Record<string, [example: string, Answer][]> = {
  "GET /status/logo": [["/status/logo?v=1", { type: "image/png", cache: FOR_EVER }], [
    "/status/logo",
    { type: "image/png", cache: "no-cache" },
  ]],
  "GET /heartbeat/:token": [["/heartbeat/TOKEN", { type: TEXT, cache: NEVER }]],
  "POST /heartbeat/:token": [["/heartbeat/TOKEN", { type: TEXT, cache: NEVER }]],
  "GET /heartbeat/:token/:event": [["/heartbeat/TOKEN/start", { type: TEXT, cache: NEVER }]],
  "POST /heartbeat/:token/:event": [["/heartbeat/TOKEN/3", { type: TEXT, cache: NEVER }]],
  "GET /healthz": [["/healthz", { type: JSON_TYPE, cache: NEVER }]],
  "GET /readyz": [["/readyz", { type: JSON_TYPE, cache: NEVER }]],
  "GET /badge/:service/:file{[a-z]+\\.(svg|json)}": [
    ["/badge/shop/status.svg", { type: "image/svg+xml; charset=utf-8", cache: "private, max-age=60" }],
    ["/badge/nothing/uptime.json", { type: "application/json; charset=utf-8", cache: "private, max-age=60" }],
    ["/badge/shop/colour.svg", { status: 404, type: HTML, cache: NEVER }],
  ],
  "GET /metrics": [["/metrics", { type: "text/plain; version=0.0.4; charset=utf-8", cache: NEVER }]],
  "GET /": [["/", { type: HTML, cache: NEVER }], ["/nothing", { status: 404, type: HTML, cache: NEVER }]],
  "GET /live": [["/live", { type: "text/event-stream; charset=utf-8", cache: NEVER }]],
  "GET /login": [["/login", { status: 303, type: null, cache: NEVER }]],
  "POST /login": [["/login", { status: 401, type: TEXT, cache: NEVER }]],
  "POST /logout": [["/logout", { status: 303, type: null, cache: NEVER }]],
  "GET /services": [["/services?name=..", { type: HTML, cache: NEVER }]],
  "GET /services/latency": [["/services/latency?name=..", { type: JSON_TYPE, cache: NEVER }]],
  "GET /services/:name": [
    ["/services/shop", { type: HTML, cache: NEVER }],
    ["/services/mail", { type: HTML, cache: NEVER }],
    ["/services/backup", { type: HTML, cache: NEVER }],
    ["/services/nothing", { status: 404, type: HTML, cache: NEVER }],
  ],
  "GET /services/:name/latency": [["/services/shop/latency", { type: JSON_TYPE, cache: NEVER }]],
  "GET /incidents/:id{[0-9]{1,18}}": [
    ["/incidents/1", { type: HTML, cache: NEVER }],
    ["/incidents/999999999999999999", { status: 404, type: HTML, cache: NEVER }],
  ],
};

/** Of each status page, below its path. */
const STATUS_FORMS: Record<string, [type: string, maxAge: number]> = {
  "": ["text/html; charset=utf-8", 10],
  "/feed.atom": ["application/atom+xml; charset=utf-8", 60],
  "/feed.rss": ["application/rss+xml; charset=utf-8", 60],
  "/maintenance.ics": ["text/calendar; charset=utf-8", 300],
  "/logo": ["image/png", 31536000],
};

/** Written by somebody in places where secrets are, or made by us: nobody may see them, whatever he asks for. */
const SECRETS = ["s3cr3t", "Bearer", "hook-key"];

Deno.test("every route answers with its type and its cache headers, lets no other site in, and tells no secret", async (t) => {
  await using opened = await openEverything();
  // Signed in with a cookie, as a viewer is; and a token for the metrics of his own.
  const signIn = await opened.app.request("/login", {
    method: "POST",
    body: new URLSearchParams({ token: "sesame" }),
  });
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";

  for (const route of new Set(opened.app.routes.map(({ method, path }) => `${method} ${path}`))) {
    const [method = "", pattern = ""] = route.split(" ");
    if (method === "ALL") continue;
    await t.step(route, async () => {
      for (const [path, { status = 200, type, cache }] of examplesOf(route, pattern)) {
        const answer = await opened.app.request(path.replace("TOKEN", opened.token), {
          method,
          headers: { cookie },
        });

        assert.equal(answer.status, status, path);
        assert.equal(answer.headers.get("content-type"), type, path);
        const given = answer.headers.get("cache-control") ?? "";
        if (typeof cache === "string") assert.equal(given, cache, path);
        else assert.match(given, cache, path);
        assert.match(answer.headers.get("content-security-policy") ?? "", /^default-src 'none';/, path);
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff", path);
        if (path === "/live") return await answer.body?.cancel();
        const text = await answer.text();
        for (const secret of [...SECRETS, opened.token]) assert.ok(!text.includes(secret), `${path} tells ${secret}`);
      }
    });
  }
});

Deno.test("badges may be shown by pages of other sites, and nothing else may", async () => {
  await using opened = await openEverything();
  const policyOf = async (path: string) => (await opened.app.request(path)).headers.get("cross-origin-resource-policy");
  assert.equal(await policyOf("/badge/shop/status.svg"), "cross-origin");
  for (const path of ["/", "/status", "/status/nothing", "/assets/style.css"]) {
    assert.equal(await policyOf(path), "same-origin", path);
  }
});

function examplesOf(route: string, pattern: string): [string, Answer][] {
  const known = ROUTES[route];
  if (known !== undefined) return known;
  if (pattern.startsWith("/assets/")) {
    const type = { css: "text/css", js: "text/javascript", svg: "image/svg+xml" }[pattern.split(".").at(-1) ?? ""];
    return [[pattern, { type: type === "image/svg+xml" ? type : `${type}; charset=utf-8`, cache: "no-cache" }]];
  }
  const [, form = ""] = /^(?:\/status(?:\/:slug\{[^}]*\})?)?(\/api\/.*|\/[a-z.]+|)$/.exec(pattern) ?? [pattern];
  const [type, maxAge] = form.startsWith("/api/") ? ["application/json; charset=utf-8", 10] : STATUS_FORMS[form] ?? [];
  assert.ok(type !== undefined, `${route} is not in the table`);
  const path = pattern.replace(/:slug\{.*\}/, "eu");
  return [[path + (form === "/logo" ? "?v=1" : ""), { type, cache: new RegExp(`^public, max-age=${maxAge}, `) }]];
}

async function openEverything(): Promise<OpenedApp> {
  const opened = await openTestApp({ kind: "token", token: "sesame" });
  const { owner } = opened;
  await owner`
    select uptuple.add_service(name => 'shop', url => 'http://me:s3cr3t@127.0.0.1:1/?key=s3cr3t', headers => '{"X-Key": "Bearer s3cr3t"}', body => 's3cr3t',
      method => 'POST')`;
  await owner`select uptuple.add_service(name => 'mail', url => 'postgresql://me:s3cr3t@127.0.0.1:1/mail')`;
  await owner`select uptuple.add_service(name => '..', url => 'tcp://127.0.0.1:1')`;
  await owner`select uptuple.add_service(name => 'backup', url => 'heartbeat:')`;
  await owner`select uptuple.add_channel(name => 'ops', url => 'http://me:s3cr3t@127.0.0.1:1/hook-key')`;
  await owner`select uptuple.record_health('shop', 'DOWN', 'no answer', 5) from generate_series(1, 3)`;
  await owner`select uptuple.add_status_page(title => 'Example', services => '{shop,mail,backup}')`;
  await owner`select uptuple.add_status_page(slug => 'eu', title => 'Europe', services => '{shop}')`;
  await owner`select uptuple.set_status_page_logo(slug, decode('89504e470d0a1a0a00', 'hex')) from unnest('{default,eu}'::text[]) slug`;
  const [beat] = await owner`select token::text from uptuple.heartbeat`;
  return { ...opened, token: beat?.token };
}
