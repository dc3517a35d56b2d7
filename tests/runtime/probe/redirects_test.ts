import assert from "node:assert/strict";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, type Behaviour, later, says, saysInTurn, target } from "../../support/targets.ts";

const FOLLOW = { follow_redirects: 5 };
const redirect = (location: string, status = "302 Found", ...headers: string[]) =>
  `HTTP/1.1 ${status}\r\nLocation: ${location}\r\n${
    headers.map((header) => `${header}\r\n`).join("")
  }Content-Length: 0\r\n\r\n`;
const FINAL = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone";

Deno.test("a redirect is an answer like any other when redirects are not followed", async () => {
  await using server = await target(saysInTurn(redirect("/next"), FINAL));
  const observation = await observe(server.url, { want_headers: ["location"] });
  assertAnswered(observation, 302);
  assert.equal(observation.headers?.["location"], "/next");
  assert.equal(observation.redirects, undefined);
  assert.equal(server.requests.length, 1);
});

for (const status of [301, 302, 303, 307, 308]) {
  Deno.test(`a ${status} is followed`, async () => {
    await using server = await target(saysInTurn(redirect("/next?a=1#part", `${status} Moved`), FINAL));
    const observation = await observe(server.url, { ...FOLLOW, read_body: true });
    assertAnswered(observation, 200);
    assert.equal(observation.body, "done");
    assert.deepEqual(observation.redirects, [{ status, location: `${server.url}next?a=1` }]);
    assert.match(server.requests[1] ?? "", /^GET \/next\?a=1 HTTP\/1\.1\r\n/);
  });
}

for (const status of [300, 304, 305, 200]) {
  Deno.test(`a ${status} with a Location is not followed`, async () => {
    await using server = await target(says(redirect("/next", `${status} Whatever`)));
    assertAnswered(await observe(server.url, FOLLOW), status);
  });
}

Deno.test("a redirect without a Location is an answer like any other", async () => {
  await using server = await target(says(answer("302 Found", [], "stay")));
  const observation = await observe(server.url, { ...FOLLOW, read_body: true });
  assertAnswered(observation, 302);
  assert.equal(observation.body, "stay");
});

Deno.test("the body of a redirect that is followed is not waited for", async () => {
  await using server = await target((socket, _, index) => {
    if (index > 0) socket.end(FINAL);
    else socket.write("HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 1000\r\n\r\n");
  });
  assertAnswered(await observe(server.url, { ...FOLLOW, read_body: true }, { timeoutMs: 3000 }), 200);
});

Deno.test("as many redirects as allowed are followed", async () => {
  await using server = await target(saysInTurn(redirect("/1"), redirect("/2"), FINAL));
  const observation = await observe(server.url, { follow_redirects: 2 });
  assertAnswered(observation, 200);
  assert.equal(observation.redirects?.length, 2);
});

Deno.test("one redirect more is redirect.limit, with the status of the last answer", async () => {
  await using server = await target((socket, _, index) => socket.end(redirect(`/${index}`)));
  const observation = await observe(server.url, { follow_redirects: 2 });
  assertFailed(observation, "redirect.limit", /more than 2 redirects.*\/2$/);
  assert.equal(observation.status, 302);
  assert.equal(observation.redirects?.length, 2);
  assert.equal(server.requests.length, 3);
});

Deno.test("a redirect to itself is redirect.loop, with the hop", async () => {
  await using server = await target(says(redirect("/")));
  const observation = await observe(server.url, FOLLOW);
  assertFailed(observation, "redirect.loop");
  assert.deepEqual(observation.redirects, [{ status: 302, location: server.url }]);
  assert.equal(server.requests.length, 1);
});

Deno.test("an empty Location leads to itself", async () => {
  await using server = await target(says(redirect("")));
  assertFailed(await observe(server.url, FOLLOW), "redirect.loop");
});

Deno.test("a loop over several hops is redirect.loop, with all of them", async () => {
  await using server = await target(saysInTurn(redirect("/a"), redirect("/b"), redirect("/a")));
  const observation = await observe(server.url, FOLLOW);
  assertFailed(observation, "redirect.loop");
  assert.deepEqual(observation.redirects?.map(({ location }) => new URL(location).pathname), ["/a", "/b", "/a"]);
});

for (
  const location of [
    "file:///etc/passwd",
    "data:text/plain,hi",
    "ftp://127.0.0.1/",
    "javascript:0",
    "hhttps://example.com/",
  ]
) {
  Deno.test(`a redirect to ${location} is redirect.scheme`, async () => {
    await using server = await target(says(redirect(location)));
    assertFailed(await observe(server.url, FOLLOW), "redirect.scheme");
  });
}

for (const location of ["http://", "http://ex ample/", "http://127.0.0.1:65536/", "https://[::1"]) {
  Deno.test(`a redirect to ${JSON.stringify(location)} is redirect.invalid`, async () => {
    await using server = await target(says(redirect(location)));
    assertFailed(await observe(server.url, FOLLOW), "redirect.invalid");
  });
}

for (const host of ["169.254.169.254", "[fe90::1]", "[::ffff:169.254.169.254]", "2852039166", "0xA9FEA9FE"]) {
  Deno.test(`a redirect to http://${host}/ is denied by the policy, and not connected to`, async () => {
    await using server = await target(says(redirect(`http://${host}/latest/meta-data`)));
    const observation = await observe(server.url, FOLLOW);
    assertFailed(observation, "policy.denied");
    assert.equal(observation.status, undefined);
    assert.equal(observation.address, undefined);
    assert.equal(observation.redirects?.length, 1);
  });
}

Deno.test("a Location in UTF-8 is percent-encoded", async () => {
  await using server = await target(saysInTurn(redirect("/caf\xc3\xa9"), FINAL));
  assertAnswered(await observe(server.url, FOLLOW), 200);
  assert.match(server.requests[1] ?? "", /^GET \/caf%C3%A9 /);
});

Deno.test("a cookie set by a redirect comes back, so that the same URL is no loop", async () => {
  const gate: Behaviour = (socket, request) =>
    socket.end(
      /\r\nCookie: sid=1\r\n/i.test(request)
        ? FINAL
        : redirect("/", "302 Found", "Set-Cookie: sid=1; Path=/; HttpOnly"),
    );
  await using server = await target(gate);
  const observation = await observe(server.url, FOLLOW);
  assertAnswered(observation, 200);
  assert.equal(observation.redirects?.length, 1);
});

Deno.test("a cookie ends with its probe", async () => {
  await using server = await target(saysInTurn(redirect("/next", "302 Found", "Set-Cookie: sid=1"), FINAL));
  await observe(server.url, FOLLOW);
  await observe(server.url, FOLLOW);
  assert.match(server.requests[1] ?? "", /\r\nCookie: sid=1\r\n/);
  assert.doesNotMatch(server.requests[2] ?? "", /Cookie/);
});

Deno.test("cookies go where they belong: not to another host, another path, or in plain text when secure", async () => {
  await using elsewhere = await target(says(FINAL));
  await using server = await target((socket, _, index) =>
    socket.end(
      index > 0 ? redirect(`http://localhost:${elsewhere.port}/`) : redirect(
        "/next",
        "302 Found",
        "Set-Cookie: here=1",
        "Set-Cookie: below=1; Path=/below",
        "Set-Cookie: secure=1; Secure",
        "Set-Cookie: gone=1; Max-Age=0",
        "Set-Cookie: old=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "Set-Cookie: foreign=1; Domain=example.com",
        "Set-Cookie: =nameless",
      ),
    )
  );
  assertAnswered(await observe(server.url, { ...FOLLOW, headers: { Cookie: "own=1" } }), 200);
  assert.match(server.requests[1] ?? "", /\r\nCookie: own=1; here=1\r\n/);
  assert.doesNotMatch(elsewhere.requests[0] ?? "", /Cookie/);
});

Deno.test("credentials, cookies, Host and secrets are not carried to another origin, other headers are", async () => {
  await using elsewhere = await target(says(FINAL));
  await using server = await target(saysInTurn(redirect("/same"), redirect(elsewhere.url)));
  const observation = await observe(server.url, {
    ...FOLLOW,
    headers: {
      "Authorization": "Bearer t",
      "Cookie": "c=1",
      "Host": "virtual.example",
      "X-Key": "${UPTUPLE_SECRET_KEY}",
      "X-Plain": "p",
    },
  }, { environment: { UPTUPLE_SECRET_KEY: "hush-hush" } });
  assertAnswered(observation, 200);
  for (const kept of [/Bearer t/, /c=1/, /Host: virtual\.example/, /hush-hush/, /X-Plain: p/]) {
    assert.match(server.requests[1] ?? "", kept);
  }
  assert.match(elsewhere.requests[0] ?? "", new RegExp(`Host: 127.0.0.1:${elsewhere.port}`));
  assert.match(elsewhere.requests[0] ?? "", /X-Plain: p/);
  assert.doesNotMatch(elsewhere.requests[0] ?? "", /Bearer|c=1|virtual|hush/);
});

for (
  const [status, method, followed, withBody] of [
    [301, "POST", "GET", false],
    [302, "POST", "GET", false],
    [303, "PUT", "GET", false],
    [303, "HEAD", "HEAD", false],
    [302, "HEAD", "HEAD", false],
    [302, "PUT", "PUT", true],
    [307, "POST", "POST", true],
    [308, "PATCH", "PATCH", true],
  ] as const
) {
  Deno.test(`${method} becomes ${followed} after a ${status}, ${withBody ? "with" : "without"} its body`, async () => {
    await using server = await target(
      saysInTurn(redirect("/next", `${status} Moved`), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    );
    const observation = await observe(server.url, {
      ...FOLLOW,
      method,
      headers: { "Content-Type": "text/plain" },
      body: method === "HEAD" ? null : "payload",
    });
    assertAnswered(observation, 200);
    const second = server.requests[1] ?? "";
    assert.ok(second.startsWith(`${followed} /next `), second);
    assert.equal(/Content-Length: 7\r\n/.test(second), withBody);
    if (!withBody && method !== "HEAD") assert.doesNotMatch(second, /Content-/);
  });
}

Deno.test("a body with a secret is not carried to another origin", async () => {
  await using elsewhere = await target(says(FINAL));
  await using server = await target(says(redirect(elsewhere.url, "307 Moved")));
  const observation = await observe(
    server.url,
    { ...FOLLOW, method: "POST", body: "key=${UPTUPLE_SECRET_KEY}" },
    { environment: { UPTUPLE_SECRET_KEY: "hush-hush" } },
  );
  assertFailed(observation, "redirect.invalid", /secret/);
  assert.equal(elsewhere.requests.length, 0);
});

Deno.test("credentials in a Location are used and not shown", async () => {
  await using server = await target((socket, _, index) =>
    socket.end(index > 0 ? FINAL : redirect(`http://user:pa%20ss@127.0.0.1:${server.port}/next`))
  );
  const observation = await observe(server.url, FOLLOW);
  assertAnswered(observation, 200);
  assert.match(server.requests[1] ?? "", new RegExp(`Authorization: Basic ${btoa("user:pa ss")}`));
  assert.deepEqual(observation.redirects, [{ status: 302, location: `${server.url}next` }]);
});

Deno.test("the phases of all hops are added up", async () => {
  await using server = await target((socket, _, index) => {
    later(socket, 40, () => socket.end(index > 0 ? FINAL : redirect("/next")));
  });
  const { timings } = await observe(server.url, FOLLOW);
  assert.ok((timings.first_byte ?? 0) >= 78, `${timings.first_byte}`);
  assert.ok((timings.first_byte ?? 0) + (timings.connect ?? 0) <= timings.total);
});
