import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { sign, signingKey, SigningKeyError } from "../../../src/alerts/signature.ts";

const KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** The rule of the specification, written down a second time. */
function expected(id: string, timestamp: number, body: string, key: string): string {
  const hmac = createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64"));
  return `v1,${hmac.update(`${id}.${timestamp}.${body}`, "utf8").digest("base64")}`;
}

Deno.test("the published vector of Standard Webhooks comes out", async () => {
  const body = new TextEncoder().encode(`{"test": 2432232314}`);
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body };
  assert.equal(await sign(message, [signingKey(KEY, "key")]), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

Deno.test("the bytes of the body are signed, whatever they are", async () => {
  for (const body of ["", "{}", "caf\u00e9 \ud83d\udd25", "line\r\nline", "a".repeat(100_000)]) {
    const message = {
      id: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
      timestamp: 1767323045,
      body: new TextEncoder().encode(body),
    };
    assert.equal(await sign(message, [signingKey(KEY, "key")]), expected(message.id, message.timestamp, body, KEY));
  }
});

Deno.test("two keys make two signatures, in the order of the keys", async () => {
  const other = `whsec_${Buffer.from("another key of thirty-two bytes!").toString("base64")}`;
  const message = { id: "a", timestamp: 1, body: new TextEncoder().encode("b") };
  const signature = await sign(message, [signingKey(KEY, "one"), signingKey(other, "two")]);
  assert.equal(signature, `${expected("a", 1, "b", KEY)} ${expected("a", 1, "b", other)}`);
});

Deno.test("a key of any length is read, with and without padding", () => {
  assert.deepEqual([...signingKey("whsec_AQ==", "key")], [1]);
  assert.deepEqual([...signingKey("whsec_AQ", "key")], [1]);
  assert.deepEqual([...signingKey("whsec_AQI", "key")], [1, 2]);
  assert.equal(signingKey(`whsec_${Buffer.alloc(64, 255).toString("base64")}`, "key").length, 64);
});

Deno.test("what is no key is refused by the name of its source and not shown", () => {
  for (
    const text of [
      "",
      "whsec_",
      "hunter2hunter2",
      "whsk_AQID",
      "whsec_A",
      "whsec_hunter2!",
      "whsec_AQ=",
      "whsec_ AQID",
      "WHSEC_AQID",
    ]
  ) {
    assert.throws(() => signingKey(text, "${UPTUPLE_SECRET_OPS}"), (error) => {
      assert.ok(error instanceof SigningKeyError);
      assert.match(error.message, /^\$\{UPTUPLE_SECRET_OPS\} is not a signing key: it must be whsec_ and/);
      assert.equal(error.message.includes("hunter2"), false);
      return true;
    }, `${JSON.stringify(text)} was taken`);
  }
});
