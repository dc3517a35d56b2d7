import assert from "node:assert/strict";
import type { Address } from "../../../src/jobs/dial.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import { assertAnswered, assertFailed, observe, probeOnce } from "../../support/probing.ts";
import { answer, says, silentListener, target } from "../../support/targets.ts";

const OK = says(answer("200 OK"));

/** A resolver for one test. */
function resolvesTo(...addresses: string[]): () => Promise<Address[]> {
  return () => Promise.resolve(addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
}

/** A resolver that fails as the system's does. */
function failsWith(code: string): () => Promise<Address[]> {
  return () => Promise.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code }));
}

/** A port of the loopback interface that nothing listens on. */
async function freePort(): Promise<number> {
  await using server = await target(OK);
  return server.port;
}

Deno.test("a port that nothing listens on is connect.refused", async () => {
  const port = await freePort();
  const observation = await observe(`http://127.0.0.1:${port}/`);
  assertFailed(observation, "connect.refused", new RegExp(`127\\.0\\.0\\.1:${port} refused the connection`));
  assert.equal(observation.status, undefined);
  assert.equal(observation.address, undefined);
  assert.equal(observation.timings.connect, undefined);
});

Deno.test("a name that nobody knows is dns", async () => {
  const observation = await observe("http://nowhere.invalid/");
  assertFailed(observation, "dns", /nowhere\.invalid cannot be resolved: the name is not known/);
});

for (
  const [url, hostname] of [
    ["http://мтр24.рф/x", "xn--24-7lcqj.xn--p1ai"],
    ["http://faß.example/", "xn--fa-hia.example"],
    ["http://exa\u00admple.com/", "example.com"],
    ["http://a_b.example/", "a_b.example"],
    ["http://UPPER.example./", "upper.example."],
  ] as const
) {
  Deno.test(`${url} is resolved as ${hostname}`, async () => {
    const asked: string[] = [];
    await using server = await target(OK);
    const observation = await observe(url.replace(/(\.?)\/(?=x?$)/, `$1:${server.port}/`), {}, {
      resolve: (name) => {
        asked.push(name);
        return resolvesTo("127.0.0.1")();
      },
    });
    assertAnswered(observation, 200);
    assert.deepEqual(asked, [hostname]);
    assert.match(
      server.requests[0] ?? "",
      new RegExp(`\r\nHost: ${hostname.replaceAll(".", "\\.")}:${server.port}\r\n`),
    );
    assert.ok(observation.timings.dns !== undefined);
  });
}

for (const url of ["http://a..b/", "http://-a.invalid/", `http://${"x".repeat(64)}.invalid/`]) {
  Deno.test(`a name that cannot exist is dns: ${url.slice(0, 20)}`, async () => {
    assertFailed(await observe(url), "dns");
  });
}

Deno.test("a resolver that is down is dns, and says so", async () => {
  assertFailed(
    await observe("http://any.example/", {}, { resolve: failsWith("EAI_AGAIN") }),
    "dns",
    /resolver did not answer/,
  );
});

Deno.test("a name without addresses is dns", async () => {
  assertFailed(await observe("http://any.example/", {}, { resolve: resolvesTo() }), "dns", /no address/);
});

for (const host of ["0177.0.0.1", "2130706433", "0x7f.1", "localhost", "localhost."]) {
  Deno.test(`${host} is the loopback interface`, async () => {
    await using server = await target(OK);
    const observation = await observe(`http://${host}:${server.port}/`);
    assertAnswered(observation, 200);
    assert.equal(observation.address, "127.0.0.1");
  });
}

Deno.test("an IPv4-mapped address is connected to", async () => {
  await using server = await target(OK);
  assertAnswered(await observe(`http://[::ffff:127.0.0.1]:${server.port}/`), 200);
});

Deno.test("an address that refuses gives way to the next, whatever its family", async () => {
  await using server = await target(OK);
  const observation = await observe(`http://dual.example:${server.port}/`, {}, {
    resolve: resolvesTo("::1", "127.0.0.1"),
  });
  assertAnswered(observation, 200);
  assert.equal(observation.address, "127.0.0.1");
  assert.equal(observation.family, 4);
});

Deno.test("an address that does not answer gets company by the next, long before the deadline", async () => {
  using silent = await silentListener("::1");
  await using server = await target(OK, { port: silent.port });
  const observation = await observe(`http://dual.example:${server.port}/`, {}, {
    resolve: resolvesTo("::1", "127.0.0.1"),
  });
  assertAnswered(observation, 200);
  assert.equal(observation.address, "127.0.0.1");
  assert.ok(observation.timings.total < 2500);
});

Deno.test("a slow address is not given up while the next one is tried", async () => {
  using silent = await silentListener();
  const pending = observe(`http://dual.example:${silent.port}/`, {}, {
    resolve: resolvesTo("127.0.0.1", "::1"),
    timeoutMs: 600,
  });
  assertFailed(await pending, "connect.timeout");
});

Deno.test("when all addresses fail, the failure that says most is reported", async () => {
  const port = await freePort();
  const observation = await observe(`http://dual.example:${port}/`, {}, {
    resolve: resolvesTo("255.255.255.255", "127.0.0.1"),
  });
  assertFailed(observation, "connect.refused", /127\.0\.0\.1.*2 addresses were tried/);
});

Deno.test("an address that there is no way to is connect.unreachable", async () => {
  assertFailed(await observe("http://255.255.255.255/"), "connect.unreachable");
});

Deno.test("the resolver is asked once, and the address it gave is the one connected to", async () => {
  let asked = 0;
  await using server = await target(OK);
  const observation = await observe(`http://rebinding.example:${server.port}/`, {}, {
    resolve: () => resolvesTo(asked++ === 0 ? "127.0.0.1" : "169.254.169.254")(),
  });
  assertAnswered(observation, 200);
  assert.equal(asked, 1);
});

Deno.test("each hop is resolved and judged anew", async () => {
  let asked = 0;
  await using server = await target(says("HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n"));
  const observation = await observe(`http://rebinding.example:${server.port}/`, { follow_redirects: 1 }, {
    resolve: () => resolvesTo(asked++ === 0 ? "127.0.0.1" : "169.254.169.254")(),
  });
  assertFailed(observation, "policy.denied", /169\.254\.169\.254/);
  assert.equal(server.requests.length, 1);
});

Deno.test("a name with a denied address among others is connected to by the others", async () => {
  await using server = await target(OK);
  const observation = await observe(`http://mixed.example:${server.port}/`, {}, {
    resolve: resolvesTo("169.254.169.254", "127.0.0.1"),
  });
  assertAnswered(observation, 200);
  assert.equal(observation.address, "127.0.0.1");
});

Deno.test("a policy may deny what the default allows", async () => {
  await using server = await target(OK);
  const observation = await observe(server.url, {}, { policy: networkPolicy({ deny: ["127.0.0.0/8"] }) });
  assertFailed(observation, "policy.denied", /127\.0\.0\.0\/8/);
  assert.equal(server.requests.length, 0);
});

for (const code of ["EMFILE", "EPERM"]) {
  Deno.test(`${code} while resolving is this machine's failure and not the target's`, async () => {
    const outcome = await probeOnce("http://any.example/", {}, { resolve: failsWith(code) });
    assert.match("stalled" in outcome ? outcome.stalled : "", new RegExp(code));
  });
}

Deno.test(
  "a permission that the program lacks is not the target's failure",
  { permissions: { net: ["127.0.0.1:1"] } },
  async () => {
    const outcome = await probeOnce("http://127.0.0.1:2/");
    assert.match("stalled" in outcome ? outcome.stalled : "", /cannot connect from here.*--allow-net/);
  },
);

for (const [host, address] of [["127.0.0.1", "127.0.0.1"], ["2130706433", "127.0.0.1"], ["localhost", "127.0.0.1"]]) {
  Deno.test(`under the strict policy http://${host}/ is not connected to, as a target and as a redirect's`, async () => {
    const strict = networkPolicy({ strict: true });
    await using server = await target(OK);
    await using outside = await target(
      says(answer("302 Found", [`Location: http://${host}:${server.port}/`])),
      { address: "127.0.0.2" },
    );
    const resolve = resolvesTo("127.0.0.1");
    assertFailed(
      await observe(`http://${host}:${server.port}/`, {}, { policy: strict, resolve }),
      "policy.denied",
      new RegExp(`${address} is in the denied network 127\\.0\\.0\\.0/8`),
    );
    const policy = networkPolicy({ strict: true, allow: ["127.0.0.2"] });
    assertFailed(await observe(outside.url, { follow_redirects: 1 }, { policy, resolve }), "policy.denied");
    assert.equal(outside.requests.length, 1);
    assert.equal(server.requests.length, 0);
  });
}

Deno.test("a check that asks for one family uses no address of the other", async () => {
  await using four = await target(OK);
  await using six = await target(OK, { address: "::1", port: four.port });
  const resolve = resolvesTo("::1", "127.0.0.1");
  const url = `http://dual.example:${four.port}/`;
  for (const [family, address] of [[4, "127.0.0.1"], [6, "::1"]] as const) {
    const observation = await observe(url, { ip_family: family }, { resolve });
    assertAnswered(observation, 200);
    assert.equal(observation.address, address);
    assert.equal(observation.family, family);
  }
  assert.deepEqual([four.requests.length, six.requests.length], [1, 1]);
});

for (const [family, host] of [[6, "127.0.0.1"], [4, "[::1]"], [6, "four.example"]] as const) {
  Deno.test(`http://${host}/ has no address of IPv${family}, which is dns`, async () => {
    const resolve = resolvesTo("127.0.0.1");
    assertFailed(
      await observe(`http://${host}:1/`, { ip_family: family }, { resolve }),
      "dns",
      /has no IPv[46] address/,
    );
  });
}

for (
  const host of [
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[::1",
    "[::g]",
    "[1.2.3.4]",
    "256.1.1.1",
    "1.2.3.4.5",

    "09.1.1.1",
    "xn--a",
    "a%00b",
    "",
    ".",
  ]
) {
  Deno.test(`a host of ${JSON.stringify(host)} is never connected to`, async () => {
    const observation = await observe(`http://${host}/`, {}, { resolve: resolvesTo() });
    assert.match(observation.error?.code ?? "", /^(protocol|dns)$/);
    assert.equal(observation.address, undefined);
  });
}

for (const port of [1, 25, 6000, 6667, 10080]) {
  Deno.test(`port ${port}, which browsers block, is connected to like any other`, async () => {
    assertFailed(
      await observe(`http://127.0.0.3:${port}/`),
      "connect.refused",
      new RegExp(`127\\.0\\.0\\.3:${port} refused`),
    );
  });
}
