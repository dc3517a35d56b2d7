import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import { assertAnswered, assertFailed, observe, type ProbingOptions } from "../../support/probing.ts";
import { answer, says, saysInTurn, target } from "../../support/targets.ts";

const FOLLOW = { follow_redirects: 3 };
const LOOPBACK: ProbingOptions = { resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]) };
const FINAL = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone";
const redirect = (...locations: string[]) =>
  `HTTP/1.1 302 Found\r\n${locations.map((location) => `Location: ${location}\r\n`).join("")}Content-Length: 0\r\n\r\n`;

for (
  const [location, asked] of [
    ["next", "/d/next"],
    ["./next", "/d/next"],
    ["../next", "/next"],
    ["/next", "/next"],
    ["?a=1", "/d/start?a=1"],
    ["next?to=http://x.example/", "/d/next?to=http://x.example/"],
    ["  /next  ", "/next"],
    ["/next#part", "/next"],
    ["/a b", "/a%20b"],
    ["/%41%zz", "/%41%zz"],
    ["\\next", "/next"],
    ["/x\\..\\next", "/next"],
    ["\t/next", "/next"],
  ] as const
) {
  Deno.test(`from /d/start a Location of ${JSON.stringify(location)} leads to ${asked}, as in a browser`, async () => {
    await using server = await target(saysInTurn(redirect(location), FINAL));
    assertAnswered(await observe(`${server.url}d/start`, FOLLOW), 200);
    assert.ok(server.requests[1]?.startsWith(`GET ${asked} HTTP/1.1\r\n`), server.requests[1]);
  });
}

Deno.test("a Location without a scheme keeps the scheme and changes the host", async () => {
  await using server = await target((socket, _, index) =>
    socket.end(index > 0 ? FINAL : redirect(`//other.example:${server.port}/next`))
  );
  const observation = await observe(server.url, FOLLOW, LOOPBACK);
  assertAnswered(observation, 200);
  assert.match(server.requests[1] ?? "", /^GET \/next .*\r\nHost: other\.example:/);
});

for (const location of ["/\\127.0.0.1:81/x", "\\\\127.0.0.1:81\\x", "http:\\\\127.0.0.1:81"]) {
  Deno.test(`slashes and backslashes cannot hide the host of ${JSON.stringify(location)} from the policy`, async () => {
    await using server = await target(says(redirect(location)), { address: "127.0.0.2" });
    const url = `http://127.0.0.2:${server.port}/`;
    const observation = await observe(url, FOLLOW, { policy: networkPolicy({ strict: true, allow: ["127.0.0.2"] }) });
    assertFailed(observation, "policy.denied", /127\.0\.0\.1 /);
  });
}

Deno.test("a backslash ends the host, so that what follows is no other host", async () => {
  const asked: string[] = [];
  await using server = await target(says(redirect("http://first.example\\@second.example/")));
  const observation = await observe(server.url, FOLLOW, {
    resolve: (name) => {
      asked.push(name);
      return Promise.resolve([]);
    },
  });
  assertFailed(observation, "dns");
  assert.deepEqual(asked, ["first.example"]);
});

Deno.test("two equal Locations are one, two different ones are redirect.invalid", async () => {
  await using equal = await target(saysInTurn(redirect("/a", "/a"), FINAL));
  assertAnswered(await observe(equal.url, FOLLOW), 200);
  await using different = await target(says(redirect("/a", "/b")));
  const observation = await observe(different.url, FOLLOW);
  assertFailed(observation, "redirect.invalid", /2 different Locations/);
  assert.equal(observation.status, 302);
  assert.equal(different.requests.length, 1);
});

Deno.test("two different Locations are an answer like any other when redirects are not followed", async () => {
  await using server = await target(says(redirect("/a", "/b")));
  assertAnswered(await observe(server.url), 302);
});

Deno.test("21 hops are not followed", async () => {
  await using server = await target((socket, _, index) => socket.end(index < 21 ? redirect(`/${index}`) : FINAL));
  const observation = await observe(server.url, { follow_redirects: 5 });
  assertFailed(observation, "redirect.limit");
  assert.equal(observation.redirects?.length, 5);
  assert.equal(server.requests.length, 6);
});

Deno.test("a redirect that grows with each hop is followed within its bounds, and shown cut", async () => {
  await using server = await target((socket, request) => {
    const [, path = ""] = request.split(" ");
    socket.end(redirect(`${path}${"x".repeat(10_000)}`));
  });
  const observation = await observe(server.url, { follow_redirects: 5 });
  assertFailed(observation, "redirect.limit");
  assert.ok(observation.redirects?.every(({ location }) => location.length <= 500));
});

Deno.test("redirects with cookies that are gates one after the other are passed, within one probe", async () => {
  await using server = await target((socket, request) => {
    const step = /\r\nCookie: .*step=(\d)/.exec(request)?.[1] ?? "0";
    if (step === "3") socket.end(FINAL);
    else socket.end(answer("302 Found", ["Location: /", `Set-Cookie: step=${Number(step) + 1}; Path=/`]));
  });
  const observation = await observe(server.url, FOLLOW);
  assertAnswered(observation, 200);
  assert.equal(observation.redirects?.length, 3);
});

for (
  const [location, host] of [
    ["http://0177.0.0.1", "127.0.0.1"],
    ["http://2130706433", "127.0.0.1"],
    ["http://0x7f000001", "127.0.0.1"],
    ["http://127.1", "127.0.0.1"],
    ["http://127.0.0.1.", "127.0.0.1"],
    ["http://\u2460\u2461\u2466.0.0.1", "127.0.0.1"],
    ["http://[::ffff:127.0.0.1]", "::ffff:7f00:1"],
    ["http://[0:0:0:0:0:0:0:1]", "::1"],
    ["http://[::127.0.0.1]", "::7f00:1"],
    ["http://[64:ff9b::7f00:1]", "64:ff9b::7f00:1"],
    ["http://0", "0.0.0.0"],
    ["http://1.2.3", "1.2.0.3"],
  ] as const
) {
  Deno.test(`${location} is judged as ${host}, as a target and as a redirect's`, async () => {
    const bytes = Buffer.from(`${location}:81/`).toString("latin1");
    await using server = await target(says(answer("302 Found", [`Location: ${bytes}`])), { address: "127.0.0.2" });
    for (const url of [`${location}:81/`, server.url]) {
      const observation = await observe(url, FOLLOW, {
        policy: (address) => address === "127.0.0.2" ? null : `${address} is not wanted`,
      });
      assertFailed(observation, "policy.denied");
      assert.ok(observation.error?.message.includes(`: ${host} is not wanted`), observation.error?.message);
    }
  });
}
