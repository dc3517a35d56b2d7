import assert from "node:assert/strict";
import { MissingSecretError, namesSecret, secretStore } from "../../../src/secrets.ts";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, says, target } from "../../support/targets.ts";

const environment = { UPTUPLE_SECRET_KEY: "hush&hush", UPTUPLE_SECRET_WORD: "p@ss:w/rd#1", UPTUPLE_SECRET_SHORT: "80" };
const expansion = () => secretStore((name) => (environment as Record<string, string>)[name]).expansion();

Deno.test("secrets are put into the URL, the headers and the body when they are sent", async () => {
  await using server = await target(says(answer("200 OK")));
  const observation = await observe(`${server.url}path?key=\${UPTUPLE_SECRET_KEY}`, {
    method: "POST",
    headers: { "X-Key": "Token ${UPTUPLE_SECRET_KEY}" },
    body: '{"key":"${UPTUPLE_SECRET_KEY}"}',
  }, { environment });
  assertAnswered(observation, 200);
  assert.match(server.requests[0] ?? "", /^POST \/path\?key=hush%26hush HTTP/);
  assert.match(server.requests[0] ?? "", /\r\nX-Key: Token hush&hush\r\n/);
  assert.match(server.requests[0] ?? "", /\{"key":"hush&hush"\}$/);
});

Deno.test("nothing but the prefix is expanded", () => {
  const text = "${HOME} $UPTUPLE_SECRET_KEY ${UPTUPLE_OTHER} ${uptuple_secret_key}";
  assert.equal(expansion().text(text), text);
  assert.equal(namesSecret(text), false);
  assert.equal(namesSecret("a ${UPTUPLE_SECRET_KEY}"), true);
});

Deno.test("a value is not expanded again", () => {
  const store = secretStore((name) => name === "UPTUPLE_SECRET_A" ? "${UPTUPLE_SECRET_B}" : "inner");
  assert.equal(store.expansion().text("${UPTUPLE_SECRET_A}"), "${UPTUPLE_SECRET_B}");
});

Deno.test("a password with every separator of a URL stays a password", async () => {
  await using server = await target(says(answer("200 OK")));
  const observation = await observe(`http://user:\${UPTUPLE_SECRET_WORD}@127.0.0.1:${server.port}/`, {}, {
    environment,
  });
  assertAnswered(observation, 200);
  assert.match(server.requests[0] ?? "", new RegExp(`Authorization: Basic ${btoa("user:p@ss:w/rd#1")}\r\n`));
});

for (
  const [url, expanded] of [
    ["https://h/${UPTUPLE_SECRET_WORD}", "https://h/p%40ss:w/rd%231"],
    ["https://h/?a=${UPTUPLE_SECRET_WORD}&b=1", "https://h/?a=p%40ss%3Aw%2Frd%231&b=1"],
    ["https://${UPTUPLE_SECRET_KEY}:${UPTUPLE_SECRET_WORD}@h/", "https://hush%26hush:p%40ss%3Aw%2Frd%231@h/"],
    ["https://h:${UPTUPLE_SECRET_SHORT}/", "https://h:80/"],
    ["${UPTUPLE_SECRET_WORD}", "p@ss:w/rd#1"],
  ] as const
) {
  Deno.test(`a secret in a URL is encoded for its place: ${url}`, () => assert.equal(expansion().url(url), expanded));
}

Deno.test("a missing secret is named, and nothing is sent", async () => {
  await using server = await target(says(answer("200 OK")));
  for (
    const [url, config] of [
      [`${server.url}\${UPTUPLE_SECRET_NONE}`, {}],
      [server.url, { headers: { "X-Key": "${UPTUPLE_SECRET_NONE}" } }],
      [server.url, { method: "POST", body: "${UPTUPLE_SECRET_NONE}" }],
    ] as const
  ) {
    const observation = await observe(url, config, { environment });
    assertFailed(
      observation,
      "secret.missing",
      /UPTUPLE_SECRET_NONE is missing: set UPTUPLE_SECRET_NONE or UPTUPLE_SECRET_NONE_FILE/,
    );
  }
  assert.equal(server.requests.length, 0);
});

Deno.test("an empty secret is missing", () => {
  const store = secretStore((name) => name === "UPTUPLE_SECRET_EMPTY" ? "" : undefined);
  assert.throws(() => store.expansion().text("${UPTUPLE_SECRET_EMPTY}"), MissingSecretError);
});

Deno.test("a secret is taken from a file, without its last newline, and read again when the file changes", async () => {
  const path = await Deno.makeTempFile();
  try {
    const store = secretStore((name) => name === "UPTUPLE_SECRET_KEY_FILE" ? path : undefined);
    await Deno.writeTextFile(path, "first\n");
    assert.equal(store.expansion().text("${UPTUPLE_SECRET_KEY}"), "first");
    await Deno.writeTextFile(path, "second value");
    assert.equal(store.expansion().text("${UPTUPLE_SECRET_KEY}"), "second value");
    await Deno.writeTextFile(path, "second VALUE");
    await Deno.utime(path, new Date(), new Date(Date.now() + 5000));
    assert.equal(store.expansion().text("${UPTUPLE_SECRET_KEY}"), "second VALUE");
  } finally {
    await Deno.remove(path);
  }
  const store = secretStore((name) => name === "UPTUPLE_SECRET_KEY_FILE" ? path : undefined);
  assert.throws(() => store.expansion().text("${UPTUPLE_SECRET_KEY}"), /UPTUPLE_SECRET_KEY_FILE names cannot be read/);
});

Deno.test("the variable goes before the file", () => {
  const variables: Record<string, string> = { UPTUPLE_SECRET_KEY: "direct", UPTUPLE_SECRET_KEY_FILE: "/nonexistent" };
  assert.equal(secretStore((name) => variables[name]).expansion().text("${UPTUPLE_SECRET_KEY}"), "direct");
});

Deno.test("a secret that the server repeats is reported by its name only", async () => {
  const spellings = ["hush&hush", "hush%26hush", btoa("hush&hush")];
  await using server = await target((socket) =>
    socket.end(answer("200 OK", [`X-Echo: ${spellings.join(" ")}`], `you said ${spellings.join(" and ")}`))
  );
  const observation = await observe(
    server.url,
    { headers: { "X-Key": "${UPTUPLE_SECRET_KEY}" }, read_body: true, want_headers: ["x-echo"] },
    { environment },
  );
  assertAnswered(observation, 200);
  assert.equal(observation.body, "you said [secret KEY] and [secret KEY] and [secret KEY]");
  assert.deepEqual(observation.headers, { "x-echo": "[secret KEY] [secret KEY] [secret KEY]" });
});

Deno.test("a secret in a redirect is reported by its name only", async () => {
  await using server = await target((socket, _, index) =>
    socket.end(index > 0 ? answer("200 OK") : answer("302 Found", ["Location: /next?key=hush%26hush"]))
  );
  const observation = await observe(
    `${server.url}?key=\${UPTUPLE_SECRET_KEY}`,
    { follow_redirects: 2 },
    { environment },
  );
  assertAnswered(observation, 200);
  assert.deepEqual(observation.redirects, [{ status: 302, location: `${server.url}next?key=[secret KEY]` }]);
});

Deno.test("a secret in a message is reported by its name only", async () => {
  const observation = await observe("http://${UPTUPLE_SECRET_HOST}/", {}, {
    environment: { UPTUPLE_SECRET_HOST: "internal-name.invalid" },
  });
  assertFailed(observation, "dns", /^\[secret HOST\] cannot be resolved/);
});

Deno.test("a secret that the limit of the body cuts through is not reported in part", async () => {
  const secret = "abcdefghijklmnopqrstuvwxyz";
  const body = `${"-".repeat(65536 - 10)}${secret}${secret}`;
  await using server = await target(says(answer("200 OK", [], body)));
  const observation = await observe(server.url, { headers: { "X-Key": "${UPTUPLE_SECRET_LONG}" }, read_body: true }, {
    environment: { UPTUPLE_SECRET_LONG: secret },
  });
  assert.equal(observation.body, "-".repeat(65536 - 10));
  assert.equal(observation.body_capped, true);
});

Deno.test("a value too short to be a secret does not tear texts apart", () => {
  const short = expansion();
  short.text("${UPTUPLE_SECRET_SHORT}");
  assert.equal(short.redact("port 8080"), "port 8080");
});
