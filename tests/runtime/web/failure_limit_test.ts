import assert from "node:assert/strict";
import { clientOf, limitFailures } from "../../../src/web/failure_limit.ts";

Deno.test("a client that failed too often waits for the end of its period, and no other does", () => {
  const clock = { ms: 0 };
  const limit = limitFailures({ failures: 3, periodMs: 60_000, clients: 100, now: () => clock.ms });

  for (let failure = 0; failure < 3; failure++) {
    assert.equal(limit.waitSeconds("192.0.2.1"), 0);
    limit.failed("192.0.2.1");
    clock.ms += 1000;
  }

  assert.equal(limit.waitSeconds("192.0.2.1"), 57);
  assert.equal(limit.waitSeconds("192.0.2.2"), 0);
  clock.ms = 59_999;
  assert.equal(limit.waitSeconds("192.0.2.1"), 1);
  clock.ms = 60_000;
  assert.equal(limit.waitSeconds("192.0.2.1"), 0);
});

Deno.test("a new period begins with no failures", () => {
  const clock = { ms: 0 };
  const limit = limitFailures({ failures: 2, periodMs: 60_000, clients: 100, now: () => clock.ms });
  limit.failed("192.0.2.1");
  limit.failed("192.0.2.1");
  clock.ms = 60_000;

  limit.failed("192.0.2.1");

  assert.equal(limit.waitSeconds("192.0.2.1"), 0);
});

Deno.test("a crowd of clients does not fill the memory: the longest known is forgotten", () => {
  const limit = limitFailures({ failures: 1, periodMs: 60_000, clients: 2, now: () => 0 });

  for (const client of ["first", "second", "third"]) limit.failed(client);

  assert.deepEqual(["first", "second", "third"].map((client) => limit.waitSeconds(client)), [0, 60, 60]);
});

Deno.test("an IPv6 customer is one client, however many addresses there are in the network", () => {
  assert.equal(clientOf("2001:db8:1:2::7"), "2001:db8:1:2::/64");
  assert.equal(clientOf("2001:db8:1:2:ffff:0:0:1"), "2001:db8:1:2::/64");
  assert.equal(clientOf("2001:0db8:1::2:7"), "2001:db8:1:0::/64");
  assert.equal(clientOf("::1"), "0:0:0:0::/64");
  assert.equal(clientOf("fe80::1%eth0"), "fe80:0:0:0::/64");
});

Deno.test("an IPv4 address is one client, in either spelling, and so is whoever has no address", () => {
  assert.equal(clientOf("192.0.2.1"), "192.0.2.1");
  assert.equal(clientOf("::ffff:192.0.2.1"), "192.0.2.1");
  assert.equal(clientOf(undefined), "unknown");
});
