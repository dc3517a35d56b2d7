import assert from "node:assert/strict";
import type { Observation } from "../../../src/jobs/observation.ts";
import { authority, selfSigned, type ServerCertificate } from "../../support/certificates.ts";
import { assertReached, observeCheck } from "../../support/kinds.ts";
import { assertFailed } from "../../support/probing.ts";
import { rawServer } from "../../support/raw_server.ts";

const root = await authority();

async function observe(certificate: ServerCertificate, host = "localhost", insecure = false): Promise<Observation> {
  await using server = await rawServer(() => {}, { certificate });
  const config = { tls: { ca: root.pem }, insecure };
  return await observeCheck({ kind: "certificate", target: `certificate://${host}:${server.port}`, config });
}

Deno.test("a certificate is reported without a word being said over the connection", async () => {
  await using server = await rawServer(() => {}, { certificate: await root.issue({ names: ["localhost"] }) });
  const observation = await observeCheck({
    kind: "certificate",
    target: `certificate://localhost:${server.port}`,
    config: { tls: { ca: root.pem } },
  });
  assertReached(observation);
  assert.deepEqual(observation.certificate?.names, ["localhost", "127.0.0.1"]);
  assert.ok(Math.abs(Date.parse(observation.certificate?.not_after ?? "") - Date.now() - 10 * 86_400_000) < 60_000);
  assert.equal(server.received(), "");
});

for (
  const [what, code, make] of [
    ["an expired certificate", "tls.expired", () => root.issue({ fromDays: -5, toDays: -1 })],
    ["one that is not valid yet", "tls.not_yet_valid", () => root.issue({ fromDays: 1 })],
    ["one for another name", "tls.name_mismatch", () => root.issue({ names: ["example.com"], addresses: [] })],
    ["one that is signed by itself", "tls.self_signed", () => selfSigned()],
  ] as const
) {
  Deno.test(`${what} is ${code}, and is reported all the same`, async () => {
    const certificate = await make();
    const refused = await observe(certificate);
    assertFailed(refused, code);
    assert.match(refused.certificate?.not_after ?? "", /^\d{4}-/);
    const allowed = await observe(certificate, "localhost", true);
    assertReached(allowed);
    assert.deepEqual(allowed.warnings, [code]);
    assert.equal(allowed.certificate?.fingerprint256, refused.certificate?.fingerprint256);
  });
}

Deno.test("a server without TLS is tls.handshake", async () => {
  await using server = await rawServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const target = `certificate://localhost:${server.port}`;
  assertFailed(await observeCheck({ kind: "certificate", target, config: {} }), "tls.handshake");
});
