import assert from "node:assert/strict";
import type { HttpConfig } from "../../../src/jobs/http/request.ts";
import { authority } from "../../support/certificates.ts";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, says, saysInTurn, target } from "../../support/targets.ts";

const FINAL = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone";
const EVERYTHING: HttpConfig = {
  follow_redirects: 3,
  read_body: true,
  want_headers: ["location", "content-location", "link", "refresh", "www-authenticate", "x-echo"],
};

/** Sent as they are, percent-encoded in some way, and in base64. */
const PASSWORDS = [
  ["open-sesame", "open-sesame"],
  ["p@ss:w/ord", "p%40ss%3aw%2ford"],
  ["p@ss:w/ord", "p%40ss%3Aw%2Ford"],
  ["open sesame", "%6Fpen%20sesame"],
  ["größe", "gr%C3%B6%C3%9Fe"],
] as const;

for (const [password, written] of PASSWORDS) {
  Deno.test(`the password ${written} of a URL is nowhere in what is reported, however the server repeats it`, async () => {
    const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(`monitor:${password}`)));
    const latin1 = String.fromCharCode(...new TextEncoder().encode(password));
    const repeated = [password, written, encodeURIComponent(password), base64];
    await using server = await target((socket, request, index) => {
      assert.ok(request.includes(`\r\nAuthorization: Basic ${base64}\r\n`));
      const echo = [
        "X-Echo: " + [written, encodeURIComponent(password), base64].join(" "),
        `X-Echo: ${latin1.replace("\xc3", "")}`,
      ];
      const type = "Content-Type: text/plain; charset=utf-8";
      const body = new TextEncoder().encode(repeated.join("\n"));
      const hop = answer("302 Found", [`Location: /next?was=${written}`, ...echo]);
      socket.end(index === 0 ? hop : answer("401 No", [type, ...echo], body));
    });
    const observation = await observe(`http://monitor:${written}@127.0.0.1:${server.port}/`, EVERYTHING);
    assertAnswered(observation, 401);
    const reported = JSON.stringify(observation);
    for (const form of repeated) assert.ok(!reported.includes(form), `${form} is in ${reported}`);
    assert.match(observation.redirects?.[0]?.location ?? "", /^http:\/\/127\.0\.0\.1:\d+\/next\?was=\[password\]$/);
  });
}

for (
  const [what, said] of [
    ["a header that is not allowed", "HTTP/1.1 200 OK\r\nopen-sesame : x\r\n\r\n"],
    ["a status line", "HTTP/1.1 open-sesame\r\n\r\n"],
    ["another protocol", "open-sesame SSH\r\n"],
    ["a Content-Length", "HTTP/1.1 200 OK\r\nContent-Length: open-sesame\r\n\r\n"],
    ["a redirect too many", "HTTP/1.1 302 Found\r\nLocation: /open-sesame/x\r\nContent-Length: 0\r\n\r\n"],
    ["a scheme", "HTTP/1.1 302 Found\r\nLocation: open-sesame:x\r\nContent-Length: 0\r\n\r\n"],
  ] as const
) {
  Deno.test(`a password that comes back in ${what} is not in the message`, async () => {
    await using server = await target(says(said));
    const observation = await observe(`http://monitor:open-sesame@127.0.0.1:${server.port}/`, EVERYTHING);
    assert.ok(observation.error);
    assert.doesNotMatch(JSON.stringify(observation), /open-sesame/);
  });
}

Deno.test("a password that comes back in a certificate is not reported", async () => {
  const root = await authority();
  await using server = await target(says(FINAL), {
    certificate: await root.issue({ subject: "CN=open-sesame", names: ["open-sesame.example", "localhost"] }),
  });
  const url = `https://monitor:open-sesame@localhost:${server.port}/`;
  assert.doesNotMatch(JSON.stringify(await observe(url, { ...EVERYTHING, tls: { ca: root.pem } })), /open-sesame/);
  assert.doesNotMatch(JSON.stringify(await observe(url, EVERYTHING)), /open-sesame/);
});

Deno.test("user and password in the URLs of headers are not reported, followed or not", async () => {
  const headers = [
    "Content-Location: http://user:open-sesame@a.example/x",
    "Link: <https://user:open-sesame@a.example/style.css>; rel=preload, <//user:open-sesame@b.example/>; rel=next",
    "Refresh: 5; url=http://user:open-sesame@a.example/",
  ];
  await using server = await target(
    says(answer("302 Found", ["Location: http://user:open-sesame@127.0.0.1:9/x", ...headers])),
  );
  const observation = await observe(server.url, { ...EVERYTHING, follow_redirects: 0 });
  assertAnswered(observation, 302);
  assert.deepEqual(observation.headers, {
    "location": "http://127.0.0.1:9/x",
    "content-location": "http://a.example/x",
    "link": "<https://a.example/style.css>; rel=preload, <//b.example/>; rel=next",
    "refresh": "5; url=http://a.example/",
  });
});

for (
  const location of [
    "http://user:open-sesame@127.0.0.1:1/",
    "http://user:open-sesame@nowhere.invalid/",
    "ftp://user:open-sesame@a.example/",
    "http://user:open-sesame@:80/",
  ]
) {
  Deno.test(`the password of a redirect that fails is not reported: ${location}`, async () => {
    await using server = await target(says(answer("302 Found", [`Location: ${location}`])));
    const observation = await observe(server.url, EVERYTHING);
    assert.ok(observation.error);
    assert.doesNotMatch(JSON.stringify(observation), /open-sesame/);
  });
}

Deno.test("the credentials of a URL go to its own origin only: not to another port, scheme or host", async () => {
  const root = await authority();
  await using port = await target(says(FINAL));
  await using scheme = await target(says(FINAL), { certificate: await root.issue() });
  for (const other of [port, scheme]) {
    await using server = await target(saysInTurn(
      "HTTP/1.1 302 Found\r\nLocation: /same\r\nContent-Length: 0\r\n\r\n",
      `HTTP/1.1 302 Found\r\nLocation: ${other.url}\r\nContent-Length: 0\r\n\r\n`,
    ));
    const config = {
      ...EVERYTHING,
      tls: { ca: root.pem },
      headers: { "Proxy-Authorization": "Basic b2s=", "Origin": "http://x" },
    };
    assertAnswered(await observe(`http://u:open-sesame@127.0.0.1:${server.port}/`, config), 200);
    assert.match(server.requests[1] ?? "", /Authorization: Basic/);
    assert.doesNotMatch(other.requests[0] ?? "", /Authorization|Origin|Basic/i);
  }
});

Deno.test("a secret in the query is reported by its name where a redirect, a message or a body repeats it", async () => {
  await using server = await target((socket, request, index) => {
    const [, path = ""] = request.split(" ");
    socket.end(
      index === 0 ? answer("307 Again", [`Location: /again${path}`]) : answer("200 OK", [`X-Echo: ${path}`], path),
    );
  });
  const observation = await observe(`${server.url}?token=\${UPTUPLE_SECRET_TOKEN}`, EVERYTHING, {
    environment: { UPTUPLE_SECRET_TOKEN: "a+b/c=d&e f" },
  });
  assertAnswered(observation, 200);
  assert.doesNotMatch(JSON.stringify(observation), /a\+b|a%2Bb/);
  assert.match(observation.redirects?.[0]?.location ?? "", /token=\[secret TOKEN\]/);
});

Deno.test("a userinfo is decoded once, whatever it holds", async () => {
  for (
    const [userinfo, credentials] of [["a%2540b:c", "a%40b:c"], ["%F0%9F%94%91:k", "\u{1f511}:k"], [
      "u:%E9",
      "u:%E9",
    ]] as const
  ) {
    await using server = await target(says(FINAL));
    assertAnswered(await observe(`http://${userinfo}@127.0.0.1:${server.port}/`), 200);
    const sent = btoa(String.fromCharCode(...new TextEncoder().encode(credentials)));
    assert.ok(server.requests[0]?.includes(`\r\nAuthorization: Basic ${sent}\r\n`));
  }
});

Deno.test("a target that is no URL is not quoted, since it may hold a password", async () => {
  assertFailed(await observe("htp//monitor:open-sesame@host"), "protocol", /^[^:]*: the target is not a valid URL$/);
});
