import assert from "node:assert/strict";
import type { Observation } from "../../../src/jobs/observation.ts";
import { authority, type LeafOptions, selfSigned, type ServerCertificate } from "../../support/certificates.ts";
import { assertAnswered, assertFailed, observe } from "../../support/probing.ts";
import { answer, says, target } from "../../support/targets.ts";

const OK = says(answer("200 OK", [], "hello"));
const root = await authority();
const stranger = await authority("CN=Somebody Else");

/** Probes a server that shows a certificate, by the name localhost, trusting the test's root. */
async function observeCertificate(
  certificate: ServerCertificate,
  config = {},
  host = "localhost",
): Promise<Observation> {
  await using server = await target(OK, { certificate });
  return await observe(`https://${host}:${server.port}/`, { tls: { ca: root.pem }, ...config });
}

const issue = (options?: LeafOptions) => root.issue(options);

Deno.test("a certificate is reported with its dates, names and fingerprint, and the handshake with its time", async () => {
  const observation = await observeCertificate(
    await issue({ subject: "CN=server, O=Test", names: ["localhost", "*.example.com"] }),
  );
  assertAnswered(observation, 200);
  const { certificate, timings } = observation;
  assert.equal(certificate?.subject, "CN=server, O=Test");
  assert.equal(certificate?.issuer, "CN=Test Root");
  assert.deepEqual(certificate?.names, ["localhost", "*.example.com", "127.0.0.1"]);
  assert.match(certificate?.fingerprint256 ?? "", /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
  assert.ok(Math.abs(Date.parse(certificate?.not_after ?? "") - Date.now() - 10 * 86_400_000) < 60_000);
  assert.ok(Math.abs(Date.parse(certificate?.not_before ?? "") - Date.now() + 86_400_000) < 60_000);
  assert.match(certificate?.not_after ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok((timings.tls ?? 0) > 0);
});

Deno.test("a certificate for the address is accepted for the address", async () => {
  assertAnswered(await observeCertificate(await issue({ names: [] }), {}, "127.0.0.1"), 200);
});

Deno.test("a name in upper case and with a dot at its end is the same name", async () => {
  assertAnswered(await observeCertificate(await issue(), {}, "LOCALHOST."), 200);
});

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  Deno.test(`${version} is spoken`, async () => {
    await using server = await target(OK, { certificate: await issue(), maxVersion: version });
    assertAnswered(await observe(`https://localhost:${server.port}/`, { tls: { ca: root.pem } }), 200);
  });
}

const bad: readonly [
  what: string,
  code: NonNullable<Observation["error"]>["code"],
  make: () => Promise<ServerCertificate>,
][] = [
  ["an expired certificate", "tls.expired", () => issue({ fromDays: -5, toDays: -1 })],
  ["an expired certificate of an unknown authority", "tls.expired", () => stranger.issue({ fromDays: -5, toDays: -1 })],
  ["an expired certificate that signed itself", "tls.expired", () => selfSigned({ fromDays: -5, toDays: -1 })],
  [
    "an expired certificate for another name",
    "tls.expired",
    () => issue({ fromDays: -5, toDays: -1, names: ["other.example"] }),
  ],
  ["a certificate of tomorrow", "tls.not_yet_valid", () => issue({ fromDays: 1, toDays: 5 })],
  ["a certificate for another name", "tls.name_mismatch", () => issue({ names: ["other.example"], addresses: [] })],
  ["a certificate for names below only", "tls.name_mismatch", () => issue({ names: ["*.localhost"], addresses: [] })],
  ["a certificate that signed itself", "tls.self_signed", () => selfSigned()],
  ["a certificate of an unknown authority", "tls.untrusted", () => stranger.issue()],
  [
    "a certificate that signed itself, as an authority",
    "tls.self_signed",
    () => selfSigned({ isAuthority: true }),
  ],
  [
    "a certificate of an unknown authority that comes with it",
    "tls.untrusted",
    async () => {
      const { cert, key } = await stranger.issue();
      return { cert: cert + stranger.pem, key };
    },
  ],
  [
    "a certificate without its intermediate",
    "tls.untrusted",
    async () => {
      const { cert, key } = await (await root.intermediate()).issue();
      return { cert: cert.slice(0, cert.indexOf("-----END") + 26), key };
    },
  ],
  ["a certificate for clients only", "tls.untrusted", () => issue({ usages: ["1.3.6.1.5.5.7.3.2"] })],
  [
    "a certificate whose intermediate is of tomorrow",
    "tls.not_yet_valid",
    async () => (await root.intermediate({ fromDays: 1, toDays: 5 })).issue(),
  ],
  [
    "a certificate whose intermediate expired",
    "tls.expired",
    async () => (await root.intermediate({ fromDays: -5, toDays: -1 })).issue(),
  ],
];

for (const [what, code, make] of bad) {
  Deno.test(`${what} is ${code}, and is reported`, async () => {
    const observation = await observeCertificate(await make());
    assertFailed(observation, code);
    assert.equal(observation.status, undefined);
    assert.ok(observation.certificate?.not_after);
    assert.equal(observation.address, "127.0.0.1");
  });

  Deno.test(`${what} is only a warning when the check is insecure`, async () => {
    const observation = await observeCertificate(await make(), { insecure: true });
    assertAnswered(observation, 200);
    assert.deepEqual(observation.warnings, [code]);
    assert.ok(observation.certificate?.not_after);
  });
}

Deno.test("nothing is sent to a server that is not trusted", async () => {
  await using server = await target(OK, { certificate: await stranger.issue() });
  await observe(`https://localhost:${server.port}/`, { tls: { ca: root.pem }, headers: { Authorization: "Bearer t" } });
  await server.closed;
  assert.equal(server.requests.length, 0);
});

Deno.test("an insecure probe does not make the next one trust", async () => {
  await using server = await target(OK, { certificate: await stranger.issue() });
  const url = `https://localhost:${server.port}/`;
  for (let round = 0; round < 3; round++) {
    assertAnswered(await observe(url, { insecure: true, read_body: true }), 200);
    assertAnswered(await observe(url, { tls: { ca: stranger.pem }, read_body: true }), 200);
    assertFailed(await observe(url), "tls.untrusted");
    assertFailed(await observe(url, { tls: { ca: root.pem } }), "tls.untrusted");
  }
});

Deno.test("a chain through an intermediate is trusted", async () => {
  assertAnswered(await observeCertificate(await (await root.intermediate()).issue()), 200);
});

Deno.test("a name mismatch says which names there are", async () => {
  const observation = await observeCertificate(await issue({ names: ["a.example", "b.example"], addresses: [] }));
  assertFailed(observation, "tls.name_mismatch", /for a\.example, b\.example, not for localhost/);
});

Deno.test("a certificate that was replaced is seen by the next probe", async () => {
  const [old, fresh] = [await issue({ subject: "CN=old" }), await issue({ subject: "CN=fresh" })];
  const first = await target(OK, { certificate: old });
  const { port } = first;
  const before = await observe(`https://localhost:${port}/`, { tls: { ca: root.pem } });
  await first[Symbol.asyncDispose]();
  await using _second = await target(OK, { certificate: fresh, port });
  const after = await observe(`https://localhost:${port}/`, { tls: { ca: root.pem } });
  assert.equal(before.certificate?.subject, "CN=old");
  assert.equal(after.certificate?.subject, "CN=fresh");
});

Deno.test("an answer in plain HTTP to the handshake is tls.handshake, and says so", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(512));
    await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await connection.read(new Uint8Array(512)).catch(() => null);
  })();
  const { port } = listener.addr as Deno.NetAddr;
  assertFailed(await observe(`https://127.0.0.1:${port}/`), "tls.handshake", /does not speak TLS/);
  await served;
});

Deno.test("a connection that is closed within the handshake is tls.handshake", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(64));
  })();
  const { port } = listener.addr as Deno.NetAddr;
  assertFailed(
    await observe(`https://127.0.0.1:${port}/`),
    "tls.handshake",
    /closed the connection during the TLS handshake/,
  );
  await served;
});

Deno.test("a redirect to another host is shaken hands with and verified as that host", async () => {
  await using second = await target(OK, { certificate: await issue({ names: ["second.example"], addresses: [] }) });
  await using first = await target(
    says(answer("302 Found", [`Location: https://second.example:${second.port}/`])),
    { certificate: await issue({ names: ["first.example"], addresses: [], toDays: 20 }) },
  );
  const observation = await observe(`https://first.example:${first.port}/`, {
    tls: { ca: root.pem },
    follow_redirects: 1,
  }, {
    resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
  });
  assertAnswered(observation, 200);
  assert.match(second.requests[0] ?? "", new RegExp(`Host: second\\.example:${second.port}`));
});

Deno.test("over redirects, the certificate that expires first is reported", async () => {
  const short = await issue({ subject: "CN=short", toDays: 3 });
  const long = await issue({ subject: "CN=long", toDays: 9 });
  for (const [from, to] of [[short, long], [long, short]] as const) {
    await using second = await target(OK, { certificate: to });
    await using first = await target(says(answer("302 Found", [`Location: https://localhost:${second.port}/`])), {
      certificate: from,
    });
    const observation = await observe(`https://localhost:${first.port}/`, {
      tls: { ca: root.pem },
      follow_redirects: 1,
    });
    assertAnswered(observation, 200);
    assert.equal(observation.certificate?.subject, "CN=short");
  }
});

Deno.test("over redirects, the certificate that fails is reported", async () => {
  await using second = await target(OK, { certificate: await stranger.issue({ subject: "CN=bad", toDays: 90 }) });
  await using first = await target(
    says(answer("302 Found", [`Location: https://localhost:${second.port}/`])),
    { certificate: await issue({ subject: "CN=good" }) },
  );
  const observation = await observe(`https://localhost:${first.port}/`, { tls: { ca: root.pem }, follow_redirects: 1 });
  assertFailed(observation, "tls.untrusted");
  assert.equal(observation.certificate?.subject, "CN=bad");
  assert.equal(observation.status, undefined);
});

Deno.test("a body over TLS is read to its length and to the end of its connection", async () => {
  for (const said of [answer("200 OK", [], "hello"), "HTTP/1.0 200 OK\r\n\r\nhello"]) {
    await using server = await target(says(said), { certificate: await issue() });
    const observation = await observe(`https://localhost:${server.port}/`, { tls: { ca: root.pem }, read_body: true });
    assertAnswered(observation, 200);
    assert.equal(observation.body, "hello");
  }
});

Deno.test("a certificate that signed itself is trusted where it is the configured authority", async () => {
  for (const isAuthority of [false, true]) {
    const own = await selfSigned({ isAuthority });
    assertAnswered(await observeCertificate(own, { tls: { ca: own.cert } }), 200);
    assertFailed(await observeCertificate(own, { tls: { ca: own.cert } }, "127.0.0.2"), "connect.refused");
  }
  const other = await selfSigned({ names: ["other.example"], addresses: [] });
  assertFailed(await observeCertificate(other, { tls: { ca: other.cert } }), "tls.name_mismatch");
});

Deno.test("a certificate whose intermediate is not sent is untrusted, and the message says so", async () => {
  const { cert, key } = await (await root.intermediate()).issue();
  const alone = { cert: cert.slice(0, cert.indexOf("-----END") + 26), key };
  assertFailed(await observeCertificate(alone), "tls.untrusted", /sends no intermediate certificate/);
});

for (
  const [what, alert, says] of [
    ["protocol version", 70, /no version of TLS that is still safe/],
    ["handshake failure", 40, /nothing in common: no cipher/],
    ["insufficient security", 71, /nothing in common: no cipher/],
    ["unrecognized name", 112, /does not know the host name/],
    ["certificate required", 116, /asks for a client certificate/],
    ["internal error", 80, /the TLS handshake failed/],
  ] as const
) {
  Deno.test(`the alert "${what}" is tls.handshake, and its meaning is said`, async () => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const served = (async () => {
      using connection = await listener.accept();
      await connection.read(new Uint8Array(2048));
      await connection.write(new Uint8Array([0x15, 3, 3, 0, 2, 2, alert]));
      await connection.read(new Uint8Array(2048)).catch(() => null);
    })();
    const { port } = listener.addr as Deno.NetAddr;
    const observation = await observe(`https://localhost:${port}/`, {}, {
      resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    });
    assertFailed(observation, "tls.handshake", says);
    await served;
  });
}

for (
  const [what, certificate] of [
    ["verified", () => issue()],
    ["expired", () => issue({ fromDays: -5, toDays: -1 })],
  ] as const
) {
  Deno.test(`the facts of a certificate that is ${what} come with every kind of answer`, async () => {
    for (const said of [answer("500 Oops"), "HTTP/1.1 200 OK\r\nX Y: z\r\n\r\n", "", "SSH-2.0-x\r\n"]) {
      await using server = await target(says(said), { certificate: await certificate() });
      const { certificate: facts } = await observe(server.url, { tls: { ca: root.pem }, insecure: true });
      assert.equal(facts?.subject, "CN=server");
      assert.equal(facts?.host, "127.0.0.1");
      assert.equal(facts?.chain_not_after !== undefined, what === "verified");
    }
  });
}

Deno.test("a certificate for servers and clients is accepted", async () => {
  const forBoth = await issue({ usages: ["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"] });
  assertAnswered(await observeCertificate(forBoth), 200);
});

Deno.test("a certificate with hundreds of long names is reported within bounds", async () => {
  const names = ["localhost", ...Array.from({ length: 300 }, (_, index) => `${"n".repeat(50)}.${index}.example`)];
  const { certificate } = await observeCertificate(await issue({ names }));
  assert.equal(certificate?.names[0], "localhost");
  assert.ok(JSON.stringify(certificate).length < 6000);
});

Deno.test("a session is not resumed: each probe makes a full handshake", async () => {
  await using server = await target(OK, { certificate: await issue(), maxVersion: "TLSv1.2" });
  for (let probes = 0; probes < 4; probes++) {
    const { certificate } = await observe(server.url, { tls: { ca: root.pem } });
    assert.ok(certificate?.chain_not_after);
  }
  assert.equal(server.greetings.length, 4);
});
