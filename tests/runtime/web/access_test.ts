import assert from "node:assert/strict";
import { AccessError, accessPolicy, isLoopback, namesThisHost } from "../../../src/web/access.ts";

Deno.test("on loopback the pages are open, to requests that name this machine", () => {
  for (const host of ["127.0.0.1", "127.8.9.10", "localhost", "::1", "[::1]"]) {
    assert.deepEqual(accessPolicy({ host }), { kind: "loopback", host });
  }
});

Deno.test("on any other host the viewer token is asked for", () => {
  for (const host of ["0.0.0.0", "::", "192.0.2.7", "status.example.com"]) {
    assert.deepEqual(accessPolicy({ host, viewerToken: "sesame" }), { kind: "token", token: "sesame" });
  }
});

Deno.test("UPTUPLE_PUBLIC=dashboard opens the pages on any host, whether or not there is a token", () => {
  assert.deepEqual(accessPolicy({ host: "0.0.0.0", public: "dashboard" }), { kind: "public" });
  assert.deepEqual(accessPolicy({ host: "0.0.0.0", public: "dashboard", viewerToken: "sesame" }), { kind: "public" });
});

Deno.test("a token that was set is asked for on loopback too, where a proxy may stand before it", () => {
  assert.deepEqual(accessPolicy({ host: "127.0.0.1", viewerToken: "sesame" }), { kind: "token", token: "sesame" });
});

Deno.test("a host that others reach, with neither a token nor UPTUPLE_PUBLIC, is refused with the cures", () => {
  for (const settings of [{ host: "0.0.0.0" }, { host: "0.0.0.0", viewerToken: "", public: "" }]) {
    assert.throws(() => accessPolicy(settings), (error: unknown) => {
      assert.ok(error instanceof AccessError);
      assert.match(error.message, /^HOST is "0\.0\.0\.0"/);
      assert.match(error.message, /UPTUPLE_VIEWER_TOKEN.*UPTUPLE_PUBLIC=dashboard.*HOST=127\.0\.0\.1/);
      return true;
    });
  }
});

Deno.test("a value that UPTUPLE_PUBLIC does not take opens nothing, and is named", () => {
  assert.throws(() => accessPolicy({ host: "127.0.0.1", public: "yes" }), {
    name: "AccessError",
    message: /UPTUPLE_PUBLIC is "yes".*"dashboard"/,
  });
});

Deno.test("only addresses and names that can be no other machine are loopback", () => {
  for (const host of ["127.0.0.1", "LOCALHOST", "localhost.", "app.localhost", "[::1]", "::ffff:127.0.0.1"]) {
    assert.equal(isLoopback(host), true, host);
  }
  for (
    const host of ["", "0.0.0.0", "::", "128.0.0.1", "127.0.0.1.example.com", "localhost.example.com", "notlocalhost"]
  ) {
    assert.equal(isLoopback(host), false, host);
  }
});

Deno.test("a request names this host with any port, and no other host with a trick", () => {
  for (const authority of ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "[::1]", "LocalHost:1"]) {
    assert.equal(namesThisHost(authority, "127.0.0.1"), true, authority);
  }
  for (
    const authority of [
      "evil.example",
      "evil.example:8080",
      "127.0.0.1.evil.example",
      "localhost@evil.example",
      "evil.example#localhost",
      "localhost:8080.evil.example",
      "[::1].evil.example",
      "192.0.2.7",
      "",
    ]
  ) {
    assert.equal(namesThisHost(authority, "127.0.0.1"), false, authority);
  }
  assert.equal(namesThisHost("MY-host:8080", "my-host"), true);
});
