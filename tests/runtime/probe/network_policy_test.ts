import assert from "node:assert/strict";
import { denyNetworks } from "../../../src/jobs/network_policy.ts";

const policy = denyNetworks();

for (
  const address of [
    "169.254.169.254",
    "169.254.0.1",
    "fe80::1",
    "fe90::1",
    "febf:ffff::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "fd20:ce::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "0:0:0:0:0:ffff:a9fe:a9fe",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::100.100.100.200",
    "2002:a9fe:a9fe::1",
  ]
) {
  Deno.test(`${address} is denied by default`, () => {
    assert.match(policy(address) ?? "", /is in the denied network/);
  });
}

for (
  const address of [
    "127.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "fd00::1",
    "fd00:ec2::253",
    "100.100.100.201",
    "169.253.255.255",
    "169.255.0.0",
    "fec0::1",
    "2001:db8::a9fe:a9fe",
    "93.184.216.34",
  ]
) {
  Deno.test(`${address} is allowed by default`, () => assert.equal(policy(address), null));
}

Deno.test("a denied network is named", () => {
  const strict = denyNetworks(["10.0.0.0/8", "fc00::/7"]);
  assert.equal(strict("10.1.2.3"), "10.1.2.3 is in the denied network 10.0.0.0/8");
  assert.equal(strict("fd12::1"), "fd12::1 is in the denied network fc00::/7");
  assert.equal(strict("::ffff:10.1.2.3"), "::ffff:10.1.2.3 is in the denied network 10.0.0.0/8");
  assert.equal(strict("169.254.169.254"), null);
});
