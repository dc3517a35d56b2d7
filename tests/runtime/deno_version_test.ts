import assert from "node:assert/strict";
import { judgeDenoVersion } from "../../src/deno_version.ts";

Deno.test("a Deno older than 2.8 is refused with the cure, one that resumes TLS sessions is warned of, and newer ones pass", () => {
  for (const version of ["1.46.3", "2.7.14", "2.0.0"]) {
    assert.match(judgeDenoVersion(version).refusal ?? "", /needs 2\.8 or newer: run "deno upgrade"/, version);
  }
  for (const version of ["2.8.0", "2.8.3", "2.9.5"]) {
    const { refusal, warning } = judgeDenoVersion(version);
    assert.equal(refusal, null, version);
    assert.match(warning ?? "", /TLS/, version);
  }
  for (const version of ["2.9.6", "2.9.6+canary", "2.10.0", "3.0.0"]) {
    assert.deepEqual(judgeDenoVersion(version), { refusal: null, warning: null }, version);
  }
});
