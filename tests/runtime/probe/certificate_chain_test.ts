import assert from "node:assert/strict";
import type { Observation } from "../../../src/jobs/observation.ts";
import { authority, type ServerCertificate } from "../../support/certificates.ts";
import { assertAnswered, observe } from "../../support/probing.ts";
import { answer, says, target } from "../../support/targets.ts";

const root = await authority();

/** Probes a server that shows a certificate, by the name localhost, trusting the test's root. */
async function observeCertificate(certificate: ServerCertificate, config = {}): Promise<Observation> {
  await using server = await target(says(answer("200 OK")), { certificate });
  return await observe(`https://localhost:${server.port}/`, { tls: { ca: root.pem }, ...config });
}

/** In whole days from now. */
const days = (iso: string | undefined) => Math.round((Date.parse(iso ?? "") - Date.now()) / 86_400_000);

Deno.test("the end of the chain is that of an intermediate which ends before the leaf", async () => {
  const { certificate } = await observeCertificate(await (await root.intermediate({ toDays: 3 })).issue({ toDays: 8 }));
  assert.equal(days(certificate?.not_after), 8);
  assert.equal(days(certificate?.chain_not_after), 3);
});

Deno.test("the end of a trusted authority is no end of the chain, and neither is that of one which signed it once", async () => {
  const ending = await authority("CN=Ending Root", { toDays: 2 });
  const current = await authority("CN=Current Root", { toDays: 900 });
  const crossSigned = await current.crossSignedBy(ending, { toDays: 2 });
  const certificate = await crossSigned.issue({ toDays: 8 });

  const byCurrent = await observeCertificate(certificate, { tls: { ca: current.pem } });
  assertAnswered(byCurrent, 200);
  assert.equal(days(byCurrent.certificate?.chain_not_after), 8);

  const byEnding = await observeCertificate(certificate, { tls: { ca: ending.pem } });
  assertAnswered(byEnding, 200);
  assert.equal(days(byEnding.certificate?.chain_not_after), 2);
});

Deno.test("the chain of a certificate that was replaced is looked at anew", async () => {
  const intermediate = await root.intermediate({ toDays: 6 });
  for (const toDays of [4, 5, 9]) {
    const { certificate } = await observeCertificate(await intermediate.issue({ toDays }));
    assert.equal(days(certificate?.chain_not_after), Math.min(toDays, 6));
  }
});
