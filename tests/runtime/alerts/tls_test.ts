import assert from "node:assert/strict";
import type { DeliveryAnswer } from "../../../src/alerts/notice.ts";
import { authority, selfSigned, type ServerCertificate } from "../../support/certificates.ts";
import { assertAnswered, assertFailed, BODY, post } from "../../support/posting.ts";
import { receiver } from "../../support/receivers.ts";
import { answer, says } from "../../support/targets.ts";

/** Posts from another process, which trusts an authority as its environment tells it to. */
async function postTrusting(pem: string, url: string): Promise<DeliveryAnswer> {
  const trusted = await Deno.makeTempFile({ suffix: ".pem" });
  try {
    await Deno.writeTextFile(trusted, pem);
    const posting = JSON.stringify(new URL("../../support/posting.ts", import.meta.url).href);
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        `import { post } from ${posting}; console.log(JSON.stringify(await post(${JSON.stringify(url)})));`,
      ],
      env: { NODE_EXTRA_CA_CERTS: trusted },
    }).output();
    return JSON.parse(new TextDecoder().decode(stdout));
  } finally {
    await Deno.remove(trusted);
  }
}

async function assertRefused(certificate: ServerCertificate, code: string): Promise<void> {
  await using server = await receiver(says(answer("200 OK")), { certificate });
  assertFailed(await post(server.url), code);
  assert.deepEqual(server.requests, [], "the notice was sent");
}

Deno.test("a notice is sent to a receiver whose certificate is by an authority that this machine trusts", async () => {
  const trusted = await authority();
  await using server = await receiver(says(answer("200 OK", [], "stored")), { certificate: await trusted.issue() });
  const reported = await postTrusting(trusted.pem, server.url);
  assertAnswered(reported, 200);
  assert.equal(reported.excerpt, "stored");
  assert.deepEqual(server.posts.map(({ body }) => body), [BODY]);
});

Deno.test("a notice is not sent to a receiver whose certificate nobody vouches for", async () => {
  await assertRefused(await selfSigned(), "tls.self_signed");
  await assertRefused(await (await authority()).issue(), "tls.untrusted");
});

Deno.test("a notice is not sent to a receiver whose certificate is out of date", async () => {
  await assertRefused(await (await authority()).issue({ fromDays: -10, toDays: -1 }), "tls.expired");
});

Deno.test("a notice is not sent in the clear to a port that does not speak TLS", async () => {
  await using server = await receiver(says(answer("200 OK")));
  assertFailed(await post(server.url.replace("http:", "https:"), { notice: { timeoutMs: 300 } }), "timeout.tls");
  assert.deepEqual(server.posts, []);
});
