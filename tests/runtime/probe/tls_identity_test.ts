import assert from "node:assert/strict";
import type { HttpConfig } from "../../../src/jobs/http/request.ts";
import { authority } from "../../support/certificates.ts";
import { assertAnswered, assertFailed, observe, type ProbingOptions } from "../../support/probing.ts";
import { answer, says, target } from "../../support/targets.ts";

const OK = says(answer("200 OK", [], "hello"));
const root = await authority();
const TRUST = { tls: { ca: root.pem } };
const LOOPBACK: ProbingOptions = { resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]) };

Deno.test("the server is told the host name of the URL, and no name when the URL has an address", async () => {
  await using server = await target(OK, { certificate: await root.issue() });
  assertAnswered(await observe(`https://localhost:${server.port}/`, TRUST), 200);
  assertAnswered(await observe(`https://LocalHost.:${server.port}/`, TRUST), 200);
  assertAnswered(await observe(server.url, TRUST), 200);
  assert.deepEqual(server.greetings.map(({ serverName }) => serverName), ["localhost", "localhost", null]);
});

Deno.test("a name in its own script is told and verified in punycode", async () => {
  await using server = await target(OK, {
    certificate: await root.issue({ names: ["xn--24-7lcqj.xn--p1ai"], addresses: [] }),
  });
  const observation = await observe(`https://мтр24.рф:${server.port}/x`, TRUST, LOOPBACK);
  assertAnswered(observation, 200);
  assert.equal(server.greetings[0]?.serverName, "xn--24-7lcqj.xn--p1ai");
  assert.match(server.requests[0] ?? "", /\r\nHost: xn--24-7lcqj\.xn--p1ai:/);
});

for (const [address, host] of [["127.0.0.1", "127.0.0.1"], ["::1", "[::1]"]] as const) {
  Deno.test(`https://${host}/ can be asked as another host: its name is told, verified and sent`, async () => {
    await using server = await target(OK, {
      address,
      certificate: await root.issue({ names: ["virtual.example"], addresses: [] }),
    });
    const config = { tls: { ca: root.pem, server_name: "virtual.example" }, headers: { Host: "virtual.example" } };
    const observation = await observe(server.url, config);
    assertAnswered(observation, 200);
    assert.equal(observation.address, address);
    assert.equal(observation.certificate?.host, "virtual.example");
    assert.equal(server.greetings[0]?.serverName, "virtual.example");
    assert.match(server.requests[0] ?? "", /\r\nHost: virtual\.example\r\n/);
  });
}

Deno.test("a Host header changes nothing about whom the certificate must be for", async () => {
  await using server = await target(OK, {
    certificate: await root.issue({ names: ["virtual.example"], addresses: [] }),
  });
  const observation = await observe(server.url, { ...TRUST, headers: { Host: "virtual.example" } });
  assertFailed(observation, "tls.name_mismatch", /for virtual\.example, not for 127\.0\.0\.1/);
});

Deno.test("a server name that the certificate is not for is a name mismatch, whatever the URL says", async () => {
  await using server = await target(OK, { certificate: await root.issue() });
  const observation = await observe(`https://localhost:${server.port}/`, {
    tls: { ca: root.pem, server_name: "other.example" },
  });
  assertFailed(observation, "tls.name_mismatch", /not for other\.example/);
});

Deno.test("over redirects each host is asked for by its own name, and the expiry of each is reported", async () => {
  await using second = await target(OK, {
    certificate: await root.issue({ names: ["second.example"], addresses: [], toDays: 5 }),
  });
  await using first = await target(says(answer("302 Found", [`Location: https://second.example:${second.port}/`])), {
    certificate: await root.issue({ names: ["configured.example"], addresses: [], toDays: 20 }),
  });
  const observation = await observe(first.url, {
    tls: { ca: root.pem, server_name: "configured.example" },
    follow_redirects: 1,
  }, LOOPBACK);
  assertAnswered(observation, 200);
  assert.equal(first.greetings[0]?.serverName, "configured.example");
  assert.equal(second.greetings[0]?.serverName, "second.example");
  const days = (iso: string | undefined) => Math.round((Date.parse(iso ?? "") - Date.now()) / 86_400_000);
  assert.equal(observation.certificate?.host, "second.example");
  assert.equal(days(observation.certificate?.not_after), 5);
  assert.equal(days(observation.redirects?.[0]?.certificate_not_after), 20);
});

const client = await root.issue({ subject: "CN=monitor" });
const SECRETS = {
  UPTUPLE_SECRET_CA: root.pem,
  UPTUPLE_SECRET_CERT: client.cert,
  UPTUPLE_SECRET_KEY: client.key,
};
const FROM_SECRETS: HttpConfig = {
  tls: {
    ca: "${UPTUPLE_SECRET_CA}",
    client_certificate: "${UPTUPLE_SECRET_CERT}",
    client_key: "${UPTUPLE_SECRET_KEY}",
  },
};

for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
  Deno.test(`over ${maxVersion} a client certificate from secrets is shown to a server that asks for one`, async () => {
    await using server = await target(OK, {
      certificate: await root.issue(),
      clientAuthority: root.pem,
      maxVersion,
    });
    const observation = await observe(server.url, FROM_SECRETS, { environment: SECRETS });
    assertAnswered(observation, 200);
    assert.equal(server.greetings[0]?.client, "monitor");
    assert.doesNotMatch(JSON.stringify(observation), /BEGIN|monitor/);
  });

  Deno.test(`over ${maxVersion} a server that asks in vain for a client certificate is tls.handshake, and says so`, async () => {
    await using server = await target(OK, { certificate: await root.issue(), clientAuthority: root.pem, maxVersion });
    const observation = await observe(server.url, TRUST);
    assertFailed(observation, "tls.handshake", /client certificate|nothing in common/);
    assert.equal(observation.status, undefined);
    assert.equal(server.requests.length, 0);
  });
}

Deno.test("a client certificate that the server does not accept gets no answer", async () => {
  const stranger = await (await authority("CN=Somebody Else")).issue({ subject: "CN=stranger" });
  await using server = await target(OK, { certificate: await root.issue(), clientAuthority: root.pem });
  const observation = await observe(server.url, {
    tls: { ca: root.pem, client_certificate: stranger.cert, client_key: stranger.key },
  });
  // Where the request was under way already, the system says that the connection was reset, and not why.
  assert.match(observation.error?.code ?? "", /^(tls\.handshake|connect\.reset)$/);
  assert.equal(server.requests.length, 0);
});

Deno.test("a client certificate is shown to the configured host and not to that of a redirect", async () => {
  const asks = { certificate: await root.issue({ names: ["a.example", "b.example"] }), clientAuthority: root.pem };
  await using other = await target(OK, asks);
  let next = "";
  await using server = await target((socket) => socket.end(answer("302 Found", [`Location: ${next}`])), asks);
  const url = `https://a.example:${server.port}/`;

  next = `https://b.example:${other.port}/`;
  const refused = await observe(url, { ...FROM_SECRETS, follow_redirects: 1 }, { environment: SECRETS, ...LOOPBACK });
  assertFailed(refused, "tls.handshake", /client certificate/);
  assert.equal(server.greetings[0]?.client, "monitor");

  next = `https://a.example:${other.port}/`;
  const accepted = await observe(url, { ...FROM_SECRETS, follow_redirects: 1 }, { environment: SECRETS, ...LOOPBACK });
  assertAnswered(accepted, 200);
  assert.deepEqual(other.greetings, [{ serverName: "a.example", client: "monitor" }]);
});

Deno.test("a secret that changes takes effect with the next probe, and back", async () => {
  const stranger = await authority("CN=Somebody Else");
  const other = await root.issue({ subject: "CN=renewed" });
  await using server = await target(OK, { certificate: await root.issue(), clientAuthority: root.pem });
  const seen = [];
  for (
    const environment of [
      SECRETS,
      { ...SECRETS, UPTUPLE_SECRET_CERT: other.cert, UPTUPLE_SECRET_KEY: other.key },
      { ...SECRETS, UPTUPLE_SECRET_CA: stranger.pem },
      SECRETS,
    ]
  ) {
    const { status, error } = await observe(server.url, FROM_SECRETS, { environment });
    seen.push(status ?? error?.code);
  }
  assert.deepEqual(seen, [200, 200, "tls.untrusted", 200]);
  assert.equal(server.greetings[1]?.client, "renewed");
  assert.equal(server.requests.length, 3);
});

Deno.test("a bundle of several authorities trusts each of them", async () => {
  const other = await authority("CN=Other Root");
  for (const issuer of [root, other]) {
    await using server = await target(OK, { certificate: await issuer.issue() });
    assertAnswered(await observe(server.url, { tls: { ca: `# ours\n${root.pem}\n${other.pem}\n` } }), 200);
  }
});

for (
  const [what, secrets, says] of [
    [
      "a CA that is no PEM",
      { UPTUPLE_SECRET_CA: "nonsense" },
      /tls\.ca \(\$\{UPTUPLE_SECRET_CA\}\) holds no certificate in PEM/,
    ],
    ["a CA that is a key", { UPTUPLE_SECRET_CA: client.key }, /tls\.ca .*holds no certificate/],
    [
      "a CA that is broken",
      { UPTUPLE_SECRET_CA: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
      /tls\.ca .*cannot be read/,
    ],
    [
      "a client key that is no key",
      { UPTUPLE_SECRET_KEY: "nonsense" },
      /tls\.client_key .*holds no private key in PEM/,
    ],
    [
      "a client key of another certificate",
      { UPTUPLE_SECRET_KEY: (await root.issue()).key },
      /tls\.client_key .*is not the key of tls\.client_certificate/,
    ],
    [
      "a client certificate that is none",
      { UPTUPLE_SECRET_CERT: client.key },
      /tls\.client_certificate .*holds no cert/,
    ],
    ["no client key", { UPTUPLE_SECRET_KEY: "" }, /UPTUPLE_SECRET_KEY is missing/],
    ["no CA", { UPTUPLE_SECRET_CA: "" }, /UPTUPLE_SECRET_CA is missing/],
  ] as const
) {
  Deno.test(`${what} in the secrets is secret.missing with its name, and nothing is connected to`, async () => {
    await using server = await target(OK, { certificate: await root.issue() });
    const observation = await observe(server.url, FROM_SECRETS, { environment: { ...SECRETS, ...secrets } });
    assertFailed(observation, "secret.missing", says);
    assert.doesNotMatch(JSON.stringify(observation), /nonsense|PRIVATE/);
    assert.equal(server.greetings.length, 0);
  });
}

Deno.test("a client certificate without its key is refused, and so is a key without its certificate", async () => {
  for (const half of [{ client_certificate: client.cert }, { client_key: client.key }]) {
    assertFailed(await observe("https://127.0.0.1:1/", { tls: half }), "secret.missing", /go together/);
  }
});
