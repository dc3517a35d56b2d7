import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { RELEASE } from "../../../src/release.ts";
import { BODY, post } from "../../support/posting.ts";
import { headerOf, inTurn, type Post, receiver, resets, staysSilent } from "../../support/receivers.ts";
import { answer, says } from "../../support/targets.ts";

const EVENT = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
const KEY = `whsec_${Buffer.from("twenty-four bytes or so!").toString("base64")}`;
const OTHER_KEY = `whsec_${Buffer.from("a key that comes after it").toString("base64")}`;

/** What a receiver computes by the specification. */
function expectedSignature(posted: Post, key: string): string {
  const hmac = createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64"));
  const content = `${headerOf(posted, "webhook-id")}.${headerOf(posted, "webhook-timestamp")}.${posted.body}`;
  return `v1,${hmac.update(content, "utf8").digest("base64")}`;
}

Deno.test("a notice is the request that SQL rendered, byte for byte and in its spelling", async () => {
  await using server = await receiver(says(answer("200 OK")));
  await post(`${server.url}hook?room=7`, { headers: { "X-Tenant": "blue" } });
  const [posted] = server.posts;
  assert.ok(posted);
  assert.equal(posted.requestLine, "POST /hook?room=7 HTTP/1.1");
  assert.equal(posted.body, BODY);
  const sent = new Map(posted.headers);
  assert.equal(sent.get("Idempotency-Key"), EVENT);
  assert.equal(sent.get("webhook-id"), EVENT);
  assert.equal(sent.get("Content-Type"), "application/json");
  assert.equal(sent.get("X-Tenant"), "blue");
  assert.equal(sent.get("Content-Length"), String(Buffer.byteLength(BODY)));
  assert.equal(headerOf(posted, "Host"), `127.0.0.1:${server.port}`);
});

Deno.test("a notice names the program that sends it, unless the channel names another", async () => {
  await using server = await receiver(says(answer("200 OK")));
  await post(server.url);
  await post(server.url, { headers: { "user-agent": "watcher/9" } });
  assert.deepEqual(server.posts.map((posted) => headerOf(posted, "User-Agent")), [`uptuple/${RELEASE}`, "watcher/9"]);
});

Deno.test("every attempt has the same id and the same body, and a connection and a time of its own", async () => {
  const ports = new Set<number | undefined>();
  await using server = await receiver((socket, request, index) => {
    ports.add(socket.remotePort);
    inTurn(says(answer("500 Oops")), resets(), staysSilent(), says(answer("429 Wait")), says(answer("200 OK")))(
      socket,
      request,
      index,
    );
  });
  const before = Math.floor(Date.now() / 1000);
  for (let attempt = 1; attempt <= 5; attempt++) await post(server.url, { notice: { attempt, timeoutMs: 300 } });
  const after = Math.floor(Date.now() / 1000);

  assert.equal(server.posts.length, 5);
  assert.equal(ports.size, 5);
  for (const posted of server.posts) {
    assert.equal(posted.body, BODY);
    assert.equal(headerOf(posted, "Idempotency-Key"), EVENT);
    assert.equal(headerOf(posted, "webhook-id"), EVENT);
    const timestamp = headerOf(posted, "webhook-timestamp") ?? "";
    assert.match(timestamp, /^\d+$/);
    assert.ok(Number(timestamp) >= before && Number(timestamp) <= after, timestamp);
  }
});

Deno.test("a notice to a channel without a signing secret has no signature", async () => {
  await using server = await receiver(says(answer("200 OK")));
  await post(server.url);
  assert.equal(headerOf(server.posts[0]!, "webhook-signature"), undefined);
});

Deno.test("the signature is one that the receiver can compute from what it got", async () => {
  await using server = await receiver(says(answer("200 OK")));
  await post(server.url, {
    notice: { signingSecrets: ["${UPTUPLE_SECRET_HOOK}"] },
    environment: { UPTUPLE_SECRET_HOOK: KEY },
  });
  const [posted] = server.posts;
  assert.ok(posted);
  assert.equal(headerOf(posted, "webhook-signature"), expectedSignature(posted, KEY));
});

Deno.test("while a key is rotated, a receiver may know either", async () => {
  await using server = await receiver(says(answer("200 OK")));
  await post(server.url, {
    notice: { signingSecrets: ["${UPTUPLE_SECRET_NEW}", "${UPTUPLE_SECRET_OLD}"] },
    environment: { UPTUPLE_SECRET_NEW: OTHER_KEY, UPTUPLE_SECRET_OLD: KEY },
  });
  const [posted] = server.posts;
  assert.ok(posted);
  assert.equal(
    headerOf(posted, "webhook-signature"),
    `${expectedSignature(posted, OTHER_KEY)} ${expectedSignature(posted, KEY)}`,
  );
});

Deno.test("an attempt that is made later is signed for its own time", async () => {
  await using server = await receiver(says(answer("503 Later")));
  const options = { notice: { signingSecrets: ["${UPTUPLE_SECRET_HOOK}"] }, environment: { UPTUPLE_SECRET_HOOK: KEY } };
  await post(server.url, options);
  const [first] = server.posts;
  assert.ok(first);
  while (String(Math.floor(Date.now() / 1000)) === headerOf(first, "webhook-timestamp")) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await post(server.url, options);
  const [, second] = server.posts;
  assert.ok(second);
  assert.notEqual(headerOf(second, "webhook-timestamp"), headerOf(first, "webhook-timestamp"));
  assert.notEqual(headerOf(second, "webhook-signature"), headerOf(first, "webhook-signature"));
  assert.equal(headerOf(second, "webhook-signature"), expectedSignature(second, KEY));
});
