import assert from "node:assert/strict";
import { parseNetwork } from "../../../src/jobs/network.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";

const policy = networkPolicy();

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
  const policy = networkPolicy({ deny: ["10.0.0.0/8", "fc00::/7"] });
  assert.equal(policy("10.1.2.3"), "10.1.2.3 is in the denied network 10.0.0.0/8");
  assert.equal(policy("fd12::1"), "fd12::1 is in the denied network fc00::/7");
  assert.equal(policy("::ffff:10.1.2.3"), "::ffff:10.1.2.3 is in the denied network 10.0.0.0/8");
  assert.equal(policy("11.0.0.1"), null);
});

Deno.test("what is denied anyway stays denied beside what is added", () => {
  const policy = networkPolicy({ deny: ["10.0.0.0/8"] });
  assert.equal(policy("169.254.169.254"), "169.254.169.254 is in the denied network 169.254.0.0/16");
});

Deno.test("what is allowed wins over what is denied, by a person or anyway", () => {
  const policy = networkPolicy({ deny: ["10.0.0.0/8"], allow: ["10.1.0.0/16", "169.254.169.254"] });
  assert.equal(policy("10.1.2.3"), null);
  assert.equal(policy("::ffff:10.1.2.3"), null);
  assert.match(policy("10.2.0.1") ?? "", /10\.0\.0\.0\/8/);
  assert.equal(policy("169.254.169.254"), null);
  assert.match(policy("169.254.169.253") ?? "", /169\.254\.0\.0\/16/);
});

Deno.test("allowing all of IPv6 does not allow the IPv4 addresses in it", () => {
  const policy = networkPolicy({ allow: ["::/0"] });
  assert.equal(policy("fe80::1"), null);
  assert.match(policy("::ffff:169.254.169.254") ?? "", /169\.254\.0\.0\/16/);
});

const strict = networkPolicy({ strict: true });

for (
  const address of [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "168.63.129.16",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:0:10.0.0.1",
    "::ffff:192.168.1.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe90::1%eth0",
    "fec0::1",
    "ff02::1",
    "1::1",
    "4000::1",
    "e000::1",
  ]
) {
  Deno.test(`${address} is denied by the strict policy`, () => {
    assert.match(strict(address) ?? "", /is in the denied network/);
  });
}

for (
  const address of [
    "1.1.1.1",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.255.255",
    "198.20.0.1",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
  ]
) {
  Deno.test(`${address} is allowed by the strict policy`, () => assert.equal(strict(address), null));
}

Deno.test("the strict policy lets through what is allowed by name", () => {
  const policy = networkPolicy({ strict: true, allow: ["10.20.0.0/16", "fd12::/16", "64:ff9b:1::/48"] });
  for (const address of ["10.20.1.1", "::ffff:10.20.1.1", "fd12::1", "64:ff9b:1::8.8.8.8"]) {
    assert.equal(policy(address), null, address);
  }
  for (const address of ["10.21.0.1", "127.0.0.1", "fd13::1", "64:ff9b:1::10.21.0.1"]) {
    assert.match(policy(address) ?? "", /denied/, address);
  }
});

Deno.test("what is no address is denied", () => {
  for (const text of ["", "localhost", "1.2.3", "0x7f.1", "[::1]"]) {
    assert.match(policy(text) ?? "", /is not an address/);
  }
});

for (
  const [text, says] of [
    ["10.0.0.1/8", /more bits than its prefix/],
    ["fd00::1/8", /more bits than its prefix/],
    ["10.0.0.0/33", /0 to 32/],
    ["::/129", /0 to 128/],
    ["10.0.0.0/", /0 to 32/],
    ["10.0.0.0/-1", /0 to 32/],
    ["10.0.0.0/8/8", /is not a network/],
    ["10.0.0", /is not a network/],
    ["example.com", /is not a network/],
    ["fe80::1%eth0", /is not a network/],
  ] as const
) {
  Deno.test(`${JSON.stringify(text)} is not a network, and the error says why`, () => {
    assert.throws(() => parseNetwork(text), (error) => error instanceof RangeError && says.test(error.message));
  });
}
