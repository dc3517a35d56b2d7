import assert from "node:assert/strict";
import { RELEASE } from "../../../src/release.ts";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, says, saysAndWaits, target } from "../../support/targets.ts";

/** The header lines of a request, sorted. */
function headerLines(request: string | undefined): string[] {
  return (request ?? "").split("\r\n\r\n")[0]?.split("\r\n").slice(1).sort() ?? [];
}

Deno.test("a request says who asks, accepts everything, and keeps no connection", async () => {
  await using server = await target(says(answer("200 OK")));
  await observe(`${server.url}health?deep=1`);
  assert.match(server.requests[0] ?? "", /^GET \/health\?deep=1 HTTP\/1\.1\r\n/);
  assert.deepEqual(headerLines(server.requests[0]), [
    "Accept-Encoding: identity",
    "Accept: */*",
    "Connection: close",
    `Host: 127.0.0.1:${server.port}`,
    `User-Agent: uptuple/${RELEASE}`,
  ]);
});

Deno.test("encodings are asked for only when the body is read", async () => {
  await using server = await target(says(answer("200 OK")));
  await observe(server.url, { read_body: true });
  assert.match(server.requests[0] ?? "", /\r\nAccept-Encoding: gzip, deflate, br\r\n/);
});

Deno.test("configured headers replace the defaults, whatever their case", async () => {
  await using server = await target(says(answer("200 OK")));
  await observe(server.url, {
    headers: {
      "user-agent": "custom/1",
      "ACCEPT": "application/json",
      "accept-encoding": "br",
      "host": "virtual.example",
    },
  });
  assert.deepEqual(headerLines(server.requests[0]), [
    "ACCEPT: application/json",
    "Connection: close",
    "Host: virtual.example",
    "accept-encoding: br",
    "user-agent: custom/1",
  ]);
});

Deno.test("a Host for an address in brackets is sent", async () => {
  await using server = await target(says(answer("200 OK")), { address: "::1" });
  const observation = await observe(server.url, { headers: { Host: "virtual.example" } });
  assertAnswered(observation, 200);
  assert.equal(observation.address, "::1");
  assert.equal(observation.family, 6);
  assert.match(server.requests[0] ?? "", /\r\nHost: virtual\.example\r\n/);
});

for (const method of ["get", "Post", "put", "patch", "delete", "options", "PROPFIND", "trace"]) {
  Deno.test(`the method ${method} is sent in upper case`, async () => {
    await using server = await target(says(answer("200 OK")));
    assertAnswered(await observe(server.url, { method }), 200);
    assert.ok(server.requests[0]?.startsWith(`${method.toUpperCase()} / HTTP/1.1\r\n`));
  });
}

for (const method of ["POST", "PUT", "PATCH", "DELETE", "GET", "OPTIONS"]) {
  Deno.test(`a body goes with ${method}, as UTF-8 and with its length`, async () => {
    await using server = await target(saysAndWaits(answer("200 OK")));
    assertAnswered(await observe(server.url, { method, body: "größe", headers: { "Content-Length": "99" } }), 200);
    const [head = "", body] = (server.requests[0] ?? "").split("\r\n\r\n");
    assert.match(head, /\r\nContent-Length: 7(\r\n|$)/);
    assert.equal(body, "gr\xc3\xb6\xc3\x9fe");
  });
}

Deno.test("a POST without a body says that it is empty", async () => {
  await using server = await target(says(answer("200 OK")));
  assertAnswered(await observe(server.url, { method: "POST" }), 200);
  assert.match(server.requests[0] ?? "", /\r\nContent-Length: 0\r\n/);
});

for (const method of ["HEAD", "TRACE"]) {
  Deno.test(`a body does not go with ${method}`, async () => {
    await using server = await target(says("HTTP/1.1 200 OK\r\n\r\n"));
    assertAnswered(await observe(server.url, { method, body: "payload" }), 200);
    assert.doesNotMatch(server.requests[0] ?? "", /Content-Length|payload/);
  });
}

for (
  const [userinfo, credentials] of [
    ["user:p%40ss", "user:p@ss"],
    ["user", "user:"],
    [":secret", ":secret"],
    ["us%C3%A9r:p%3Aw", "usér:p:w"],
    ["user:100%", "user:100%"],
  ] as const
) {
  Deno.test(`the userinfo ${userinfo} is sent as Basic credentials`, async () => {
    await using server = await target(says(answer("200 OK")));
    assertAnswered(await observe(`http://${userinfo}@127.0.0.1:${server.port}/`), 200);
    const encoded = btoa(String.fromCharCode(...new TextEncoder().encode(credentials)));
    assert.match(server.requests[0] ?? "", new RegExp(`\r\nAuthorization: Basic ${encoded}\r\n`));
    assert.match(server.requests[0] ?? "", new RegExp(`\r\nHost: 127.0.0.1:${server.port}\r\n`));
  });
}

Deno.test("an empty userinfo is no credentials", async () => {
  await using server = await target(says(answer("200 OK")));
  assertAnswered(await observe(`http://@127.0.0.1:${server.port}/`), 200);
  assert.doesNotMatch(server.requests[0] ?? "", /Authorization/);
});

Deno.test("an Authorization header goes before the userinfo", async () => {
  await using server = await target(says(answer("200 OK")));
  await observe(`http://user:pass@127.0.0.1:${server.port}/`, { headers: { authorization: "Bearer t" } });
  assert.deepEqual(headerLines(server.requests[0]).filter((line) => /authorization/i.test(line)), [
    "authorization: Bearer t",
  ]);
});

Deno.test("the password of a URL is shown nowhere, even when the server repeats it", async () => {
  const credentials = btoa("user:open-sesame");
  await using server = await target(says(answer("200 OK", [`X-Echo: Basic ${credentials}`], "you said open-sesame")));
  const observation = await observe(
    `http://user:open-sesame@127.0.0.1:${server.port}/`,
    { read_body: true, want_headers: ["x-echo"] },
  );
  assertAnswered(observation, 200);
  assert.doesNotMatch(JSON.stringify(observation), new RegExp(`open-sesame|${credentials}`));
  assert.equal(observation.body, "you said [password]");
});

for (
  const [what, url] of [
    ["refuses", "http://user:open-sesame@127.0.0.1:1/"],
    ["is not known", "http://user:open-sesame@nowhere.invalid/"],
    ["is not valid", "http://user:open-sesame@127.0.0.1:65536/"],
  ] as const
) {
  Deno.test(`the password of a URL is not shown when its host ${what}`, async () => {
    const observation = await observe(url);
    assert.ok(observation.error);
    assert.doesNotMatch(JSON.stringify(observation), /open-sesame/);
  });
}

for (
  const [what, config] of [
    ["a header name with a space", { headers: { "X Y": "v" } }],
    ["a line break in a header", { headers: { "X-A": "a\r\nX-B: b" } }],
    ["a header beyond Latin-1", { headers: { "X-A": "\u{1f600}" } }],
    ["a method with a space", { method: "GET /" }],
  ] as const
) {
  Deno.test(`a request with ${what} cannot be sent`, async () => {
    await using server = await target(says(answer("200 OK")));
    assertFailed(await observe(server.url, config), "protocol", /cannot be sent/);
    assert.equal(server.requests.length, 0);
  });
}

for (
  const url of [
    "hhttps://example.com/",
    "ftp://example.com/",
    "http://ex ample/",
    "http://127.0.0.1:65536/",
    "",
    "example.com",
  ]
) {
  Deno.test(`a target of ${JSON.stringify(url)} cannot be probed`, async () => {
    assertFailed(await observe(url), "protocol", /cannot be sent/);
  });
}

Deno.test("a message is one line of limited length", async () => {
  await using server = await target(says(`HTTP/1.1 200 OK\r\nX-${"\x01\n".repeat(10)}${"a".repeat(2000)} : v\r\n\r\n`));
  const observation = await observe(server.url);
  assertFailed(observation, "protocol.header");
  assert.ok((observation.error?.message.length ?? 0) <= 500);
  // deno-lint-ignore no-control-regex -- it is about control characters
  assert.doesNotMatch(observation.error?.message ?? "", /[\x00-\x1f]/);
});
