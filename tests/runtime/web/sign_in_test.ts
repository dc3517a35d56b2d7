import assert from "node:assert/strict";
import { Hono } from "hono";
import { guardRoutes, localPath } from "../../../src/web/guard.tsx";
import { viewerToken } from "../../../src/web/viewer_token.ts";

type Guarded = ReturnType<typeof guarded>;

const BROWSER = { accept: "text/html,application/xhtml+xml" };

Deno.test("without the token there is a page that asks for it, and nothing of what is inside", async () => {
  const app = guarded();

  const answer = await app.request("/", { headers: BROWSER });
  const page = await answer.text();

  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get("www-authenticate"), 'Bearer realm="Uptuple"');
  assert.match(page, /<label for="token">Viewer token<\/label>/);
  assert.doesNotMatch(page, /inside/);
});

Deno.test("what is no browser gets a line instead of a page", async () => {
  const app = guarded();

  const answer = await app.request("/");

  assert.equal(answer.status, 401);
  assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/);
  assert.equal(await answer.text(), "This asks for the viewer token: send it as Authorization: Bearer.\n");
});

Deno.test("a page that does not exist is as closed as one that does", async () => {
  const answer = await guarded().request("/nothing");

  assert.equal(answer.status, 401);
});

Deno.test("the token as Authorization: Bearer opens the page, a wrong one does not", async () => {
  const app = guarded();
  const get = (authorization: string) => app.request("/", { headers: { authorization } });

  assert.equal((await get("Bearer open sesame")).status, 200);
  assert.equal((await get("bearer open sesame")).status, 200);
  for (const wrong of ["Bearer open", "Bearer open sesame!", "Bearer ", "Basic open sesame", "open sesame"]) {
    assert.equal((await get(wrong)).status, 401, wrong);
  }
});

Deno.test("signing in leads on, with a cookie that scripts cannot read and other sites cannot send", async () => {
  const app = guarded();

  const answer = await signIn(app, { token: "open sesame", next: "/?refresh=off" });
  const cookie = answer.headers.get("set-cookie") ?? "";

  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get("location"), "/?refresh=off");
  assert.match(cookie, /^uptuple_viewer=/);
  assert.deepEqual(cookie.split("; ").slice(1).sort(), ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Lax"]);
  assert.doesNotMatch(decodeURIComponent(cookie), /sesame/);
  assert.equal((await get(app, cookie)).status, 200);
});

Deno.test("the cookie is for HTTPS only where the browser came by HTTPS", async () => {
  const app = guarded();

  const direct = await app.request("https://status.example.com/login", login({ token: "open sesame" }));
  const proxied = await signIn(app, { token: "open sesame" }, { "x-forwarded-proto": "https" });

  assert.match(direct.headers.get("set-cookie") ?? "", /; Secure/);
  assert.match(proxied.headers.get("set-cookie") ?? "", /; Secure/);
});

Deno.test("a wrong token signs nobody in, and the page says so to a screen reader too", async () => {
  const app = guarded();

  const answer = await signIn(app, { token: "sesame" });
  const page = await answer.text();

  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get("set-cookie"), null);
  assert.match(page, /id="fault" role="alert">That is not the viewer token\.</);
  assert.match(page, /aria-invalid="true" aria-describedby="fault"/);
  assert.doesNotMatch(page, /value="sesame"/);
});

Deno.test("a form without a token, or that is no form, signs nobody in", async () => {
  const app = guarded();

  const empty = await signIn(app, {});
  const json = await app.request("/login", {
    method: "POST",
    body: '{"token":"open sesame"}',
    headers: BROWSER,
  });
  const broken = await app.request("/login", {
    method: "POST",
    body: "--nothing",
    headers: { ...BROWSER, "content-type": "multipart/form-data; boundary=x" },
  });

  assert.deepEqual([empty.status, json.status, broken.status], [401, 401, 401]);
});

Deno.test("a form that is longer than any token is not read", async () => {
  const app = guarded();

  const answer = await signIn(app, { token: "x".repeat(10_000) });

  assert.equal(answer.status, 413);
});

Deno.test("a cookie that was forged, or signed with another token, opens nothing", async () => {
  const app = guarded();
  const other = guarded("another");
  const cookieOf = async (of: Guarded, token: string) =>
    (await signIn(of, { token })).headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const genuine = await cookieOf(app, "open sesame");
  const signature = genuine.slice(genuine.indexOf("."));

  assert.equal((await get(app, genuine)).status, 200);
  for (
    const forged of [
      "uptuple_viewer=",
      "uptuple_viewer=99999999999",
      `uptuple_viewer=99999999999${signature}`,
      genuine.replace("=1", "=2"),
      await cookieOf(other, "another"),
    ]
  ) {
    assert.equal((await get(app, forged)).status, 401, forged);
  }
});

Deno.test("a cookie outlives a restart, and every runtime with the same token knows it", async () => {
  const first = guarded();
  const second = guarded();

  const cookie = (await signIn(first, { token: "open sesame" })).headers.get("set-cookie") ?? "";

  assert.equal((await get(second, cookie)).status, 200);
});

Deno.test("a cookie ends after thirty days, whatever the browser thinks of it", async () => {
  const clock = { ms: Date.parse("2026-11-30T09:00:00Z") };
  const token = viewerToken("open sesame", () => clock.ms);
  const app = new Hono()
    .post("/", async (context) => {
      await token.remember(context);
      return context.text("");
    })
    .get("/", async (context) => context.json(await token.isRemembered(context)));
  const cookie = (await app.request("/", { method: "POST" })).headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const isRemembered = async () => await (await app.request("/", { headers: { cookie } })).json();

  clock.ms = Date.parse("2026-12-30T08:59:59Z");
  assert.equal(await isRemembered(), true);
  clock.ms = Date.parse("2026-12-30T09:00:00Z");
  assert.equal(await isRemembered(), false);
});

Deno.test("signing out takes the cookie back", async () => {
  const app = guarded();

  const answer = await app.request("/logout", { method: "POST" });

  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get("location"), "/login");
  assert.match(answer.headers.get("set-cookie") ?? "", /^uptuple_viewer=; Max-Age=0; Path=\//);
});

Deno.test("after ten wrong tokens a client waits, even with the right one; others and who is signed in do not", async () => {
  const app = guarded();
  const cookie = (await signIn(app, { token: "open sesame" }, {}, "192.0.2.1")).headers.get("set-cookie") ?? "";

  for (let attempt = 0; attempt < 5; attempt++) {
    assert.equal((await signIn(app, { token: "guess" }, {}, "192.0.2.1")).status, 401);
    assert.equal((await get(app, "", "192.0.2.1", "Bearer guess")).status, 401);
  }
  const limited = await signIn(app, { token: "open sesame" }, {}, "192.0.2.1");

  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get("set-cookie"), null);
  assert.match(limited.headers.get("retry-after") ?? "", /^([1-9]|[1-5]\d|60)$/);
  assert.match(await limited.text(), /Too many wrong tokens came from your address/);
  assert.equal((await get(app, "", "192.0.2.1", "Bearer open sesame")).status, 429);
  assert.equal((await get(app, cookie, "192.0.2.1")).status, 200);
  assert.equal((await signIn(app, { token: "open sesame" }, {}, "192.0.2.2")).status, 303);
});

Deno.test("asking without any token is no failure", async () => {
  const app = guarded();
  for (let attempt = 0; attempt < 20; attempt++) await get(app, "", "192.0.2.1");

  assert.equal((await signIn(app, { token: "open sesame" }, {}, "192.0.2.1")).status, 303);
});

Deno.test("a login leads to no other site", () => {
  for (
    const elsewhere of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example",
      "\\\\evil.example",
      "/\t/evil.example",
      "/.//evil.example",
      "/x/..//evil.example",
      "javascript:alert(1)",
      "http://[",
      undefined,
      ["/"],
    ]
  ) {
    assert.equal(localPath(elsewhere), "/", String(elsewhere));
  }
  assert.equal(localPath("/services/a%2Fb?refresh=off"), "/services/a%2Fb?refresh=off");
});

Deno.test("the path that was asked for comes back as text in the form", async () => {
  const app = guarded();

  const page = await (await app.request('/?a="><script>alert(1)</script>', { headers: BROWSER })).text();

  assert.doesNotMatch(page, /<script>/);
  assert.match(page, /name="next" value="\/\?a=%22%3E%3Cscript%3Ealert\(1\)%3C\/script%3E"/);
});

/** Something to see, behind a guard that asks for the token. */
function guarded(token = "open sesame") {
  return new Hono().route("/", guardRoutes({ kind: "token", token })).get("/", (context) => context.text("inside"));
}

function login(form: Record<string, string>, headers: Record<string, string> = {}): RequestInit {
  return { method: "POST", body: new URLSearchParams(form), headers: { ...BROWSER, ...headers } };
}

/** Sends the form as if from an address. */
function signIn(
  app: Guarded,
  form: Record<string, string>,
  headers: Record<string, string> = {},
  address = "192.0.2.9",
): Response | Promise<Response> {
  return app.request("/login", login(form, headers), from(address));
}

/** Gets the first page as if from an address. */
function get(
  app: Guarded,
  cookie: string,
  address = "192.0.2.9",
  authorization?: string,
): Response | Promise<Response> {
  const headers = { cookie: cookie.split(";", 1).join(""), ...(authorization !== undefined && { authorization }) };
  return app.request("/", { headers }, from(address));
}

function from(hostname: string): { remoteAddr: Deno.NetAddr } {
  return { remoteAddr: { transport: "tcp", hostname, port: 4711 } };
}
