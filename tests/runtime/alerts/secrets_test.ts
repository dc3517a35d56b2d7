import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { assertAnswered, assertFailed, post } from "../../support/posting.ts";
import { headerOf, receiver } from "../../support/receivers.ts";
import { answer, says } from "../../support/targets.ts";

const SECRET = "p/ss wörd+1";
const environment = { UPTUPLE_SECRET_OPS: "s3cr3t-t0ken", UPTUPLE_SECRET_PATH: SECRET };

Deno.test("secrets are put into URL and headers when the notice is sent", async () => {
  await using server = await receiver(says(answer("200 OK")));
  const reported = await post(`${server.url}hook/\${UPTUPLE_SECRET_OPS}?key=\${UPTUPLE_SECRET_PATH}`, {
    headers: { Authorization: "Bearer ${UPTUPLE_SECRET_OPS}" },
    environment,
  });
  assertAnswered(reported, 200);
  const [posted] = server.posts;
  assert.ok(posted);
  assert.equal(posted.requestLine, `POST /hook/s3cr3t-t0ken?key=${encodeURIComponent(SECRET)} HTTP/1.1`);
  assert.equal(headerOf(posted, "Authorization"), "Bearer s3cr3t-t0ken");
});

Deno.test("what looks like a secret's name in a body is text that a target wrote, and stays as it is", async () => {
  await using server = await receiver(says(answer("200 OK")));
  const body = `{"data": {"reason": "\${UPTUPLE_SECRET_OPS} and \${UPTUPLE_SECRET_ABSENT}"}}`;
  assertAnswered(await post(server.url, { body, environment }), 200);
  assert.equal(server.posts[0]?.body, body);
});

Deno.test("a receiver that shows a secret does not bring it into the excerpt, in whatever form", async () => {
  const forms = [SECRET, encodeURIComponent(SECRET), JSON.stringify(SECRET), Buffer.from(SECRET).toString("base64")];
  await using server = await receiver(says(answer("403 Forbidden", [], Buffer.from(`no: ${forms.join(" ")}`))));
  const reported = await post(server.url, {
    headers: { "X-Key": "${UPTUPLE_SECRET_OPS}", "X-Path": "a${UPTUPLE_SECRET_OPS}" },
    environment: {
      UPTUPLE_SECRET_OPS: SECRET.replace("ö", "o"),
    },
  });
  assertAnswered(reported, 403);
  assert.ok(reported.excerpt?.includes(SECRET), "another text than the secret was taken out");

  const redacted = await post(`${server.url}?key=\${UPTUPLE_SECRET_PATH}`, { environment });
  assertAnswered(redacted, 403);
  assert.equal(redacted.excerpt, `no: [secret PATH] [secret PATH] "[secret PATH]" [secret PATH]`);
});

Deno.test("a secret that the end of the excerpt cuts through is not shown in part", async () => {
  await using server = await receiver(says(answer("500 Oops", [], `${"x".repeat(505)}s3cr3t-t0ken and more`)));
  const reported = await post(server.url, { headers: { "X-Key": "${UPTUPLE_SECRET_OPS}" }, environment });
  assert.equal(reported.excerpt, "x".repeat(505));
});

Deno.test("a secret that a broken connection cuts through is not shown in part", async () => {
  await using server = await receiver(says("HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\n", "key s3cr3t-t"));
  const reported = await post(server.url, { headers: { "X-Key": "${UPTUPLE_SECRET_OPS}" }, environment });
  assert.equal(reported.excerpt, "key ");
});

Deno.test("a signing key and a password in the URL are secrets too", async () => {
  const key = `whsec_${Buffer.from("twenty-four bytes or so!").toString("base64")}`;
  const credentials = Buffer.from("me:hunter2!").toString("base64");
  await using server = await receiver(
    says(answer("500 Oops", [`Retry-After: hunter2!`], `${key} hunter2! ${credentials}`)),
  );
  const reported = await post(server.url.replace("//", "//me:${UPTUPLE_SECRET_PASSWORD}@"), {
    notice: { signingSecrets: ["${UPTUPLE_SECRET_HOOK}"] },
    environment: { UPTUPLE_SECRET_HOOK: key, UPTUPLE_SECRET_PASSWORD: "hunter2!" },
  });
  assertAnswered(reported, 500);
  assert.equal(headerOf(server.posts[0]!, "Authorization"), `Basic ${credentials}`);
  assert.equal(JSON.stringify(reported).includes("hunter2"), false, reported.excerpt);
  assert.equal(reported.excerpt, "[secret HOOK] [secret PASSWORD] [credentials]");
  assert.equal(reported.retry_after, "[secret PASSWORD]");
});

Deno.test("an error does not show the secrets of the request", async () => {
  const reported = await post("http://${UPTUPLE_SECRET_OPS}.invalid/", {
    environment,
    resolve: (hostname) => Promise.reject(new Error(`no such name: ${hostname}`)),
  });
  assertFailed(reported, "dns", /^\[secret OPS\]\.invalid cannot be resolved: no such name: \[secret OPS\]\.invalid$/);
});

Deno.test("a notice whose secret is missing is not sent", async () => {
  await using server = await receiver(says(answer("200 OK")));
  for (
    const options of [
      { headers: { Authorization: "Bearer ${UPTUPLE_SECRET_ABSENT}" } },
      { notice: { signingSecrets: ["${UPTUPLE_SECRET_ABSENT}"] } },
    ]
  ) {
    assertFailed(await post(server.url, options), "secret.missing", /UPTUPLE_SECRET_ABSENT is missing: set/);
  }
  assertFailed(await post(`${server.url}\${UPTUPLE_SECRET_ABSENT}`), "secret.missing", /UPTUPLE_SECRET_ABSENT/);
  assert.deepEqual(server.requests, []);
});

Deno.test("a notice whose signing secret is no key is not sent", async () => {
  await using server = await receiver(says(answer("200 OK")));
  const reported = await post(server.url, {
    notice: { signingSecrets: ["${UPTUPLE_SECRET_HOOK}"] },
    environment: { UPTUPLE_SECRET_HOOK: "hunter2hunter2" },
  });
  assertFailed(reported, "secret.missing", /^\$\{UPTUPLE_SECRET_HOOK\} is not a signing key/);
  assert.equal(JSON.stringify(reported).includes("hunter2"), false);
  assert.deepEqual(server.requests, []);
});

Deno.test("a secret that cannot stand in a header is not sent, and not shown", async () => {
  await using server = await receiver(says(answer("200 OK")));
  const reported = await post(server.url, {
    headers: { Authorization: "Bearer ${UPTUPLE_SECRET_OPS}" },
    environment: { UPTUPLE_SECRET_OPS: "two\r\nlines" },
  });
  assertFailed(reported, "protocol", /cannot be sent/);
  assert.equal(/two|lines/.test(JSON.stringify(reported)), false, reported.error?.message);
  assert.deepEqual(server.requests, []);
});
