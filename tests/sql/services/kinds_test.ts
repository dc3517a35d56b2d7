import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addService, claim, enqueue, makeWindowDue } from "../../support/services.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

/** A url, options, and the kind, target and configuration that they are stored as. */
const ACCEPTED: [url: string, options: object, kind: string, target: string, config: object][] = [
  ["tcp://LOCALHOST:22", {}, "tcp", "tcp://localhost:22", { expect: false }],
  ["tcp://[2001:DB8::1]:0022/", { expect: true }, "tcp", "tcp://[2001:db8::1]:22", { expect: true }],
  ["tcp://127.1:6379", { send: "PING\r\n" }, "tcp", "tcp://127.0.0.1:6379", { send: "PING\r\n", expect: false }],
  ["tls://imap.example.com:993", {}, "tcp", "tls://imap.example.com:993", { expect: false, tls: true }],
  [
    "tls://10.0.0.1:993",
    { tls_server_name: "imap.example.com", ca: PEM },
    "tcp",
    "tls://10.0.0.1:993",
    { expect: false, tls: { server_name: "imap.example.com", ca: PEM } },
  ],
  ["dns:Example.COM.", {}, "dns", "dns:example.com", { record_type: "A" }],
  [
    "dns:_dmarc.example.com",
    { record_type: "txt", resolver: "1.1.1.1" },
    "dns",
    "dns:_dmarc.example.com",
    { record_type: "TXT", resolver: "1.1.1.1:53" },
  ],
  [
    "dns:example.com",
    { record_type: "AAAA", resolver: "[2606:4700:4700::1111]:5353", answers: ["2001:DB8:0::1"] },
    "dns",
    "dns:example.com",
    { record_type: "AAAA", resolver: "[2606:4700:4700::1111]:5353", answers: { all_of: ["2001:db8::1"] } },
  ],
  [
    "dns:example.com",
    { record_type: "MX", resolver: "2606:4700:4700::1111", answers: { exactly: ["10  Mail.Example.com."] } },
    "dns",
    "dns:example.com",
    { record_type: "MX", resolver: "[2606:4700:4700::1111]:53", answers: { exactly: ["10 mail.example.com"] } },
  ],
  [
    "dns:Bücher.example",
    { record_type: "CNAME", resolver: "0177.0.0.1", answers: ["МТР24.рф.", "b.example"] },
    "dns",
    "dns:xn--bcher-kva.example",
    {
      record_type: "CNAME",
      resolver: "127.0.0.1:53",
      answers: { all_of: ["b.example", "xn--24-7lcqj.xn--p1ai"] },
    },
  ],
  [
    "dns:example.com",
    { record_type: "MX", resolver: "0x7f.1:5353", answers: ["10 Bücher.example"] },
    "dns",
    "dns:example.com",
    { record_type: "MX", resolver: "127.0.0.1:5353", answers: { all_of: ["10 xn--bcher-kva.example"] } },
  ],
  [
    "dns:example.com",
    { record_type: "TXT", answers: ["Grüße"] },
    "dns",
    "dns:example.com",
    { record_type: "TXT", answers: { all_of: ["Grüße"] } },
  ],
  ["tcp://127。0。0。1:80", {}, "tcp", "tcp://127.0.0.1:80", { expect: false }],
  ["certificate://0x7f000001", {}, "certificate", "certificate://127.0.0.1:443", { days: 14 }],
  ["certificate://example.com", {}, "certificate", "certificate://example.com:443", { days: 14 }],
  ["certificate://example.com:8443/", { days: 30 }, "certificate", "certificate://example.com:8443", { days: 30 }],
  ["postgresql:${UPTUPLE_SECRET_DSN}", {}, "postgresql", "postgresql:${UPTUPLE_SECRET_DSN}", {}],
  [
    "postgres://monitor:${UPTUPLE_SECRET_PASSWORD}@DB.example:5433/shop?sslmode=require",
    {
      client_certificate: "${UPTUPLE_SECRET_CRT}",
      client_key: "${UPTUPLE_SECRET_KEY}",
    },
    "postgresql",
    "postgresql://monitor:${UPTUPLE_SECRET_PASSWORD}@db.example:5433/shop?sslmode=require",
    { tls: { client_certificate: "${UPTUPLE_SECRET_CRT}", client_key: "${UPTUPLE_SECRET_KEY}" } },
  ],
  ["heartbeat:", {}, "heartbeat", "heartbeat:", { grace_seconds: 60 }],
  [
    "heartbeat:",
    { grace: "15 minutes", cron: "0 3 * * *", zone: "europe/berlin" },
    "heartbeat",
    "heartbeat:",
    { grace_seconds: 900, cron: "0 3 * * *", zone: "Europe/Berlin" },
  ],
  ["heartbeat:", { cron: "*/5 * * * *" }, "heartbeat", "heartbeat:", {
    grace_seconds: 60,
    cron: "*/5 * * * *",
    zone: "UTC",
  }],
];

/** Arguments of add_service beside its name, and the message of their refusal. */
const REFUSED: [args: string, message: RegExp][] = [
  ["url => 'tcp://example.com'", /has no port$/],
  ["url => 'tcp://example.com:0'", /has the port 0, which does not exist$/],
  ["url => 'tcp://example.com:65536'", /has the port 65536, which does not exist$/],
  ["url => 'tcp://example.com:22/path'", /is not a host and a port$/],
  ["url => 'tcp://me:secret@example.com:22'", /^url 'tcp:\/\/\*\*\*@example.com:22' is not a host and a port$/],
  ["url => 'tcp:example.com:22'", /is not a host and a port$/],
  ["url => 'tcp://:22'", /has no host$/],
  ["url => 'tls://a..b:22'", /has a host with a label that is empty/],
  ["url => E'tcp://example.com:22\\n'", /has a character that a URL cannot hold$/],
  ["url => 'dns:'", /is not dns: and a name$/],
  ["url => 'dns://1.1.1.1/example.com'", /is not dns: and a name$/],
  ["url => 'dns:example.com:53'", /is not dns: and a name$/],
  ["url => 'dns:exa mple.com'", /has a character that a URL cannot hold$/],
  ["url => 'certificate:example.com'", /is not a host and a port$/],
  [
    "url => 'postgresql://u:p@db:port/x'",
    /^url 'postgresql:\/\/\*\*\*@db:port\/x' has the port port, which does not exist$/,
  ],
  ["url => 'postgresql:db'", /is no URL of a PostgreSQL database$/],
  ["url => 'heartbeat:backup'", /has something after heartbeat:$/],
  ["url => 'mailto:me@example.com'", /does not start with http:\/\/ or https:\/\/, nor as any other check does$/],
  ["url => 'tcp://x:1', method => 'POST'", /^method is given, and a check of 'tcp:' does not use it$/],
  ["url => 'tls://x:1', headers => '{\"A\": \"b\"}'", /^headers is given, and a check of 'tls:' does not use it$/],
  ["url => 'dns:x', body => 'x'", /^body is given, and a check of 'dns:' does not use it$/],
  ["url => 'certificate://x', expected_statuses => '401'", /^expected_statuses is given/],
  ["url => 'postgresql://x/y', follow_redirects => 1", /^follow_redirects is given/],
  ["url => 'tcp://x:1', insecure => true", /^insecure is given, and a check of 'tcp:' does not use it$/],
  ["url => 'heartbeat:', insecure => true", /^insecure is given/],
  [
    "url => 'tcp://x:1', options => '{\"tls_server_name\": \"x\"}'",
    /^options has 'tls_server_name', which this check \(tcp\) does not have$/,
  ],
  ["url => 'http://x/', options => '{\"record_type\": \"A\"}'", /^options has 'record_type'/],
  ["url => 'http://x/', options => '[]'", /^options must be a JSON object$/],
  ["url => 'http://x/', options => null", /^options must be a JSON object$/],
  ["url => 'https://x/', options => '{\"ip_family\": 5}'", /^options has the ip_family 5, and it must be 4 or 6$/],
  ["url => 'https://x/', options => '{\"ip_family\": \"4\"}'", /^options has the ip_family "4"/],
  ["url => 'https://x/', options => '{\"tls_server_name\": \"10.0.0.1\"}'", /which is no host name$/],
  ["url => 'https://x/', options => '{\"tls_server_name\": 7}'", /'tls_server_name' that is no text$/],
  ["url => 'https://x/', options => '{\"ca\": \"not pem\"}'", /'ca' that is neither a secret nor a certificate$/],
  [
    "url => 'https://x/', options => '{\"client_certificate\": \"${UPTUPLE_SECRET_A}\"}'",
    /needs both or neither$/,
  ],
  [
    'url => \'https://x/\', options => \'{"client_certificate": "${UPTUPLE_SECRET_A}", "client_key": "-----BEGIN"}\'',
    /client_key that is not a secret of the environment$/,
  ],
  ["url => 'tcp://x:1', options => '{\"send\": 1}'", /'send' that is no text of up to 4096 bytes$/],
  ["url => 'tcp://x:1', options => '{\"expect\": \"OK\"}'", /'expect' that is neither true nor false$/],
  ["url => 'dns:x', options => '{\"record_type\": \"ANY\"}'", /the record_type 'ANY', which cannot be asked for$/],
  ["url => 'dns:x', options => '{\"resolver\": \"dns.example\"}'", /the resolver 'dns.example', which is no address$/],
  ["url => 'dns:x', options => '{\"resolver\": \"1.1.1.1:99999\"}'", /which is no address$/],
  ["url => 'dns:x', options => '{\"resolver\": \"999.1.1.1\"}'", /which is no address$/],
  ["url => 'dns:x', options => '{\"answers\": [\"a.example\"]}'", /the answer 'a.example', which is no IPv4 address$/],
  ["url => 'dns:x', options => '{\"answers\": [\"::1\"]}'", /the answer '::1', which is no IPv4 address$/],
  [
    'url => \'dns:x\', options => \'{"record_type": "AAAA", "answers": {"any_of": ["1.2.3.4"]}}\'',
    /the answer '1.2.3.4', which is no IPv6 address$/,
  ],
  ["url => 'dns:x', options => '{\"answers\": []}'", /answers that are not a list of 1 to 50 texts$/],
  ["url => 'dns:x', options => '{\"answers\": [1]}'", /answers that are not a list/],
  ['url => \'dns:x\', options => \'{"answers": {"none": ["a"]}}\'', /answers that are not a list/],
  ["url => 'certificate://x', options => '{\"days\": -1}'", /^options has -1, and days must be a whole number/],
  ["url => 'certificate://x', options => '{\"days\": 1.5}'", /^options has 1.5, and days/],
  [
    "url => 'heartbeat:', options => '{\"grace\": \"soon\"}'",
    /the grace 'soon', and it must be a time from 1 minute to 30 days$/,
  ],
  ["url => 'heartbeat:', options => '{\"grace\": \"-5 minutes\"}'", /the grace '-5 minutes'/],
  ["url => 'heartbeat:', options => '{\"zone\": \"Europe/Berlin\"}'", /a zone without a cron expression$/],
  ["url => 'heartbeat:', options => '{\"cron\": \"0 0 30 2 *\"}'", /never fires/],
  ['url => \'heartbeat:\', options => \'{"cron": "0 3 * * *", "zone": "UTC+2"}\'', /is not a zone's name/],
  [
    "url => 'heartbeat:', assertions => '[{\"status\": 200}]'",
    /there is nothing that they could look at in 'heartbeat:'$/,
  ],
];

async function revision(sql: TestSql, name: string): Promise<Record<string, unknown>> {
  const [row] = await sql`
    select revision.kind, revision.target, revision.config
    from uptuple.service
    join uptuple.service_revision revision on revision.service_id = service.id and revision.revision = service.revision
    where service.name = ${name}`;
  return { ...row };
}

Deno.test("the scheme of a url says what is checked, and what is stored is canonical and complete", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  for (const [index, [url, options, kind, target, config]] of ACCEPTED.entries()) {
    await t.step(`${url} ${JSON.stringify(options)}`, async () => {
      await owner`select uptuple.add_service(name => ${`service ${index}`}, url => ${url}, options => ${
        owner.json(options as never)
      })`;

      assert.deepEqual(await revision(owner, `service ${index}`), { kind, target, config });
    });
  }
});

Deno.test("what an update does not mention stays, whatever the kind, and makes no new revision", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  for (const [index, [url, options]] of ACCEPTED.entries()) {
    const name = `service ${index}`;
    await owner`select uptuple.add_service(name => ${name}, url => ${url}, options => ${owner.json(options as never)})`;
    const before = await revision(owner, name);

    const [updated] = await owner`select uptuple.update_service(${name}, failure_threshold => 2) as revision`;

    assert.equal(updated.revision, 1, url);
    assert.deepEqual(await revision(owner, name), before);
  }
});

Deno.test("what cannot be checked is refused when it is written, with what is wrong and the cure", async (t) => {
  await using database = await emptiedDatabase();

  for (const [args, message] of REFUSED) {
    await t.step(args, async () => {
      await assert.rejects(
        database.owner.unsafe(`select uptuple.add_service(name => 'a', ${args})`),
        (error: { message: string; hint?: string; code: string }) => {
          assert.match(error.message, message);
          assert.equal(error.code, "22023");
          assert.ok(error.hint && error.hint.length > 10, "a hint has the cure");
          return true;
        },
      );
    });
  }
  const [rows] = await database.owner`select count(*)::integer from uptuple.service`;
  assert.equal(rows.count, 0);
});

Deno.test("options replace those there are, and an empty object takes them away", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(name => 'a', url => 'tls://a.example:1', options => '{"send": "x", "tls_server_name": "b.example"}')`;

  await owner`select uptuple.update_service('a', options => '{"send": "y"}')`;
  assert.deepEqual((await revision(owner, "a")).config, { send: "y", expect: false, tls: true });
  await owner`select uptuple.update_service('a', options => '{}', insecure => true)`;
  assert.deepEqual((await revision(owner, "a")).config, { expect: false, tls: true, insecure: true });
  await owner`select uptuple.update_service('a', url => 'tls://c.example:2')`;
  assert.deepEqual(await revision(owner, "a"), {
    kind: "tcp",
    target: "tls://c.example:2",
    config: { expect: false, tls: true, insecure: true },
  });
});

Deno.test("a new url may not make another kind of check of a service", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  await assert.rejects(owner`select uptuple.update_service('inventory', url => 'tcp://127.0.0.1:80')`, {
    code: "22023",
    message: "url 'tcp://127.0.0.1:80' is another kind of check than 'http://127.0.0.1:8081/health'",
    hint: "Add a service of its own for it: what came before would not compare.",
  });
  await owner`select uptuple.add_service(name => 'mail', url => 'tcp://127.0.0.1:25')`;
  await assert.rejects(owner`select uptuple.update_service('mail', method => 'GET')`, {
    message: "method is given, and a check of 'tcp:' does not use it",
  });
});

Deno.test("no job is ever made for a heartbeat, and nobody can ask for one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'backup', url => 'heartbeat:', every => '30 seconds')`;
  await addService(owner, "inventory");

  await makeWindowDue(owner, "inventory");
  await enqueue(owner);
  const jobs = await claim(owner, 100);
  assert.ok(jobs.length > 0);
  assert.deepEqual([...new Set(jobs.map((job) => job.service))], ["inventory"]);
  for (const asked of ["uptuple.check_now('backup')", "uptuple.enqueue_job('backup', 0)"]) {
    await assert.rejects(owner.unsafe(`select ${asked}`), {
      code: "UT002",
      message: "the service 'backup' is a heartbeat, which nobody probes",
    });
  }
  await owner`select uptuple.disable_service('backup'), uptuple.enable_service('backup')`;
  await owner`select * from uptuple.record_health('backup', 'DOWN')`;
  const [made] = await owner`
    select count(*)::integer from uptuple.job join uptuple.service on service.id = job.service_id where service.name = 'backup'`;
  assert.equal(made.count, 0);
});

Deno.test("a password in a url of any kind is not shown in the status", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'a', url => 'postgresql://bob:pw@db.example/x?password=pw&application_name=y')`;
  await owner`select uptuple.add_service(name => 'b', url => 'https://bob:pw@example.com/?token=pw#x')`;

  const shown = await owner<{ url: string }[]>`select url from uptuple.status order by service`;

  assert.deepEqual(shown.map((row) => row.url), [
    "postgresql://***@db.example/x?password=***&application_name=y",
    "https://***@example.com/?token=***",
  ]);
});
