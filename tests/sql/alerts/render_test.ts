import assert from "node:assert/strict";
import { addChannelOfKind, CHANNELS, HOSTILE, rendered, type SampleEvent } from "../../support/channel_kinds.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";

const KINDS = Object.keys(CHANNELS);

/** All that can be told, and something that only a later release knows. */
const EVENTS: SampleEvent[] = [
  { kind: "service.failed" },
  { kind: "service.recovered", severity: "info" },
  { kind: "service.reminder" },
  { kind: "service.escalated" },
  { kind: "service.degraded", severity: "warning" },
  { kind: "service.restored", severity: "info" },
  { kind: "service.flapping", severity: "warning" },
  { kind: "service.stable", severity: "info" },
  { kind: "service.unknown", severity: "warning" },
  { kind: "service.known", severity: "info" },
  { kind: "certificate.expiring", severity: "warning" },
  { kind: "worker.quarantined", severity: "warning", incident: null },
  { kind: "worker.trusted", severity: "info", incident: null },
  { kind: "deliveries.dead", severity: "warning", incident: null },
  { kind: "digest", incident: null },
  { kind: "incident.acknowledged", severity: "info" },
  { kind: "channel.test", severity: "info", incident: null },
  { kind: "moon.eclipsed", severity: "info", incident: null },
];

const GOLDEN: Record<string, SampleEvent> = {
  failed: {
    kind: "service.failed",
    data: {
      service: "inventory",
      group: "shop",
      region: "default",
      code: "status",
      reason: "HTTP 503, expected 200-299",
      failing_since: "2026-01-02T03:03:05.678Z",
    },
  },
  recovered: {
    kind: "service.recovered",
    severity: "info",
    data: {
      service: "inventory",
      group: "shop",
      region: "default",
      reason: "HTTP 200",
      failing_since: "2026-01-02T03:03:05.678Z",
      down_seconds: 303.4,
    },
  },
  hostile: {
    kind: "service.failed",
    data: { service: 'a <b> "c" & @everyone', reason: HOSTILE, failing_since: "2026-01-02T03:03:05.678Z" },
  },
};

/** A database with a channel of each kind, whose notices link to a page. */
async function everyKind(): Promise<TestDatabase> {
  const database = await testDatabase();
  await database.owner`update uptuple.setting set installation_id = '01234567-89ab-4cde-8f01-23456789abcd'`;
  await database.owner`select uptuple.set_public_url('https://status.example.com')`;
  for (const kind of KINDS) await addChannelOfKind(database.owner, kind);
  return database;
}

/** The request with its body read, so that a person can read the file. */
// deno-lint-ignore no-explicit-any -- each kind has a shape of its own
function readable(request: any): unknown {
  return request.body === undefined ? request : { ...request, body: JSON.parse(request.body) };
}

// After a change that is meant, GOLDEN=write writes the files anew, and git shows what became of them.
Deno.test("each kind of channel renders a failure, a recovery and hostile text as its golden file says", async (t) => {
  await using database = await everyKind();
  for (const kind of KINDS) {
    await t.step(kind, async () => {
      const actual: Record<string, unknown> = {};
      for (const [name, event] of Object.entries(GOLDEN)) {
        actual[name] = readable(await rendered(database.owner, kind, event));
      }
      const file = new URL(`golden/${kind}.json`, import.meta.url);
      if (Deno.env.get("GOLDEN") === "write") await Deno.writeTextFile(file, JSON.stringify(actual, null, 2) + "\n");
      assert.deepEqual(actual, JSON.parse(await Deno.readTextFile(file)));
    });
  }
});

Deno.test("each kind of channel can tell of each kind of event, with all its data or none", async () => {
  await using database = await everyKind();
  const data = {
    service: "inventory",
    worker: "probe-1",
    channel: "ops",
    count: 7,
    services: ["a", "b"],
    lines: ["one", "two"],
    not_after: "2026-02-01T00:00:00.000Z",
    acknowledged_by: "ann",
    note: "on it",
    reason: "because",
  };
  for (const kind of KINDS) {
    for (const event of EVENTS) {
      for (
        const given of [data, {}, {
          services: "x",
          lines: {},
          down_seconds: "long",
          count: null,
          title: " ",
          reason: [1],
        }]
      ) {
        const request = await rendered(database.owner, kind, { ...event, data: given });
        assert.equal(request.error, undefined, `${kind}, ${event.kind}: ${request.error}`);
        if (kind === "email") assert.ok(request.mail.subject.length > 0 && request.mail.text.length > 0);
        else assert.ok(Object.keys(JSON.parse(request.body)).length > 0, `${kind}, ${event.kind}`);
      }
    }
  }
});

Deno.test("each kind of event has a title of its own, in one line", async () => {
  await using database = await everyKind();
  const titles = new Set<string>();
  for (const event of EVENTS) {
    const data = { service: "inv\nentory\t\u202e", worker: "w\r\n1", channel: "ops", acknowledged_by: "ann", count: 3 };
    const { mail } = await rendered(database.owner, "email", { ...event, data });
    // deno-lint-ignore no-control-regex -- none of them may be there
    assert.doesNotMatch(mail.subject, /[\x00-\x1f\x7f\u202e]/);
    titles.add(mail.subject);
  }
  assert.equal(titles.size, EVENTS.length, [...titles].join("\n"));
  assert.ok(titles.has("inv entory \ufffd is DOWN"), [...titles].join("\n"));
});

Deno.test("a certificate that has ended is not said to expire soon", async () => {
  await using database = await everyKind();
  for (const [days_left, words] of [[3, "expires soon"], [0, "expires soon"], [-1, "has expired"]] as const) {
    const { mail } = await rendered(database.owner, "email", {
      kind: "certificate.expiring",
      severity: "warning",
      data: { service: "inventory", days_left },
    });
    assert.equal(mail.subject, `The certificate of inventory ${words}`);
  }
});

Deno.test("an event that brings its own title and text is told in those words", async () => {
  await using database = await everyKind();
  const { mail } = await rendered(database.owner, "email", {
    kind: "digest",
    data: { title: "7 services failed", text: "Within 5 s.", lines: ["inventory: HTTP 503", "cart: HTTP 502"] },
  });
  assert.equal(mail.subject, "7 services failed");
  assert.equal(
    mail.text,
    "7 services failed\n\nWithin 5 s.\ninventory: HTTP 503\ncart: HTTP 502\n\nhttps://status.example.com/incidents/42",
  );
});

Deno.test("many services are told by their number, twenty by name", async () => {
  await using database = await everyKind();
  const services = Array.from({ length: 50 }, (_, each) => ({ service: `s${each + 1}` }));
  const said = async (data: Record<string, unknown>) =>
    (await rendered(database.owner, "ntfy", { kind: "digest", data: { count: 60, services, ...data } })).body;
  const failed = JSON.parse(await said({ of: "service.failed" }));
  assert.equal(failed.title, "60 services are DOWN");
  assert.match(failed.message, /^Services: s1, s2, .*, s20 and 40 more$/);
  const recovered = JSON.parse(await said({ of: "service.recovered", count: 3, services: services.slice(0, 3) }));
  assert.deepEqual([recovered.title, recovered.message, recovered.tags], [
    "3 services are UP again",
    "Services: s1, s2, s3",
    ["green_circle"],
  ]);
});

Deno.test("what opens and what ends a trouble have the same labels and the same start for Alertmanager", async () => {
  await using database = await everyKind();
  const since = "2026-01-02T03:04:05.678Z";
  for (
    const [opens, severity, ends, began] of [
      ["service.failed", "critical", "service.recovered", "failing_since"],
      ["service.flapping", "critical", "service.stable", "flapping_since"],
      ["service.unknown", "warning", "service.known", "unknown_since"],
    ] as const
  ) {
    const alert = async (kind: string, severity: "critical" | "warning" | "info", data: Record<string, unknown>) =>
      JSON.parse((await rendered(database.owner, "alertmanager", { kind, severity, data })).body).alerts[0];
    const firing = await alert(opens, severity, { service: "shop" });
    const resolved = await alert(ends, "info", { service: "shop", [began]: since });
    assert.deepEqual([firing.labels, firing.startsAt, firing.fingerprint], [
      resolved.labels,
      since,
      resolved.fingerprint,
    ]);
    assert.equal(resolved.startsAt, since);
  }
});

Deno.test("a service that has stopped flapping and is down is not told as if it were up", async () => {
  await using database = await everyKind();
  const { mail } = await rendered(database.owner, "email", {
    kind: "service.stable",
    data: { service: "shop", status: "DOWN" },
  });
  assert.equal(mail.subject, "shop is no longer FLAPPING, but DOWN");
});

/** The longest text that each receiver takes, in the units in which it counts. */
const LIMITS: Record<string, (body: never) => [text: string, limit: number][]> = {
  slack: ({ attachments: [{ blocks: [section] }] }: { attachments: [{ blocks: [{ text: { text: string } }] }] }) => [
    [section.text.text, 3000],
  ],
  discord: ({ embeds: [embed] }: { embeds: [{ title: string; description: string }] }) => [
    [embed.title, 256],
    [embed.description, 4096],
  ],
  telegram: ({ text }: { text: string }) => [[text.replaceAll(/<[^>]+>/g, "").replaceAll(/&\w+;/g, "&"), 4096]],
  pushover: ({ title, message }: { title: string; message: string }) => [[title, 250], [message, 1024]],
  pagerduty: ({ payload, dedup_key }: { payload: { summary: string }; dedup_key: string }) => [
    [payload.summary, 1024],
    [dedup_key, 255],
  ],
  opsgenie: ({ message, alias, description }: { message: string; alias: string; description: string }) => [
    [message, 130],
    [alias, 512],
    [description, 15000],
  ],
};

Deno.test("no text is longer than its receiver takes, and what is cut ends in an ellipsis", async (t) => {
  await using database = await everyKind();
  for (const [name, letter] of Object.entries({ letters: "x", markup: "*", brackets: "<", astral: "\ud83d\udd25" })) {
    for (const [kind, texts] of Object.entries(LIMITS)) {
      await t.step(`${kind}, ${name}`, async () => {
        const data = {
          service: letter.repeat(200),
          reason: letter.repeat(9000),
          failing_since: "2026-01-02T03:03:05.678Z",
        };
        const request = await rendered(database.owner, kind, { kind: "service.failed", data });
        for (const [text, limit] of texts(JSON.parse(request.body) as never)) {
          const length = kind === "pushover" || kind === "pagerduty" || kind === "opsgenie"
            ? [...text].length
            : text.length;
          assert.ok(length <= limit, `${length} of ${limit}`);
        }
        assert.ok(request.body.includes("\u2026"));
        // ntfy and Teams count bytes; what others take is far more than this.
        assert.ok(new TextEncoder().encode(request.body).length < 60_000);
      });
    }
  }
  const long = { service: "\ud83d\udd25".repeat(200), reason: "\ud83d\udd25".repeat(9000) };
  const { message } = JSON.parse((await rendered(database.owner, "ntfy", { kind: "service.failed", data: long })).body);
  assert.ok(new TextEncoder().encode(message).length <= 4096);
  const teams = await rendered(database.owner, "teams", { kind: "service.failed", data: long });
  assert.ok(new TextEncoder().encode(teams.body).length <= 28_000);
});

Deno.test("people are called by what is critical, and by the channel's own option alone", async () => {
  await using database = await everyKind();
  const told = async (kind: string, event: SampleEvent) =>
    JSON.parse((await rendered(database.owner, kind, event)).body);
  const failed = { kind: "service.failed", data: { service: "@everyone", reason: "<!channel> @here <@1>" } };
  const recovered: SampleEvent = { ...failed, kind: "service.recovered", severity: "info" };

  assert.match((await told("slack", failed)).text, /^<!channel> \S+ @everyone is DOWN$/u);
  assert.match((await told("slack", recovered)).text, /^\S+ @everyone is UP again$/u);
  assert.equal((await told("discord", failed)).content, "<@&4711>");
  assert.deepEqual((await told("discord", failed)).allowed_mentions, { parse: [], roles: ["4711"] });
  assert.deepEqual((await told("discord", recovered)).allowed_mentions, { parse: [] });
  assert.equal((await told("discord", recovered)).content, undefined);
  assert.equal((await told("mattermost", failed)).text, "@channel");
  assert.equal((await told("mattermost", recovered)).text, undefined);
  assert.doesNotMatch((await rendered(database.owner, "mattermost", recovered)).body, /@(everyone|here)/);

  for (
    const [mention, allowed] of [
      ["<@99>", { parse: [], users: ["99"] }],
      ["@here", { parse: ["everyone"] }],
    ] as const
  ) {
    await database.owner`select uptuple.update_channel('discord', options => ${database.owner.json({ mention })})`;
    assert.deepEqual((await told("discord", failed)).allowed_mentions, allowed);
  }
});

Deno.test("a failure and its recovery have one key at each receiver that keeps incidents, and another incident another", async () => {
  await using database = await everyKind();
  const { owner } = database;
  const told = async (kind: string, event: SampleEvent) => JSON.parse((await rendered(owner, kind, event)).body);
  const failed: SampleEvent = { kind: "service.failed", data: { service: "inventory", reason: "HTTP 503" } };
  const recovered: SampleEvent = { ...failed, kind: "service.recovered", severity: "info" };
  const acknowledged: SampleEvent = {
    kind: "incident.acknowledged",
    severity: "info",
    data: { acknowledged_by: "ann" },
  };
  const key = "uptuple-01234567-incident-42";

  for (const [event, action] of [[failed, "trigger"], [acknowledged, "acknowledge"], [recovered, "resolve"]] as const) {
    const { event_action, dedup_key } = await told("pagerduty", event);
    assert.deepEqual([event_action, dedup_key], [action, key]);
  }
  assert.equal((await told("pagerduty", { ...failed, incident: 43 })).dedup_key, "uptuple-01234567-incident-43");

  assert.equal((await told("opsgenie", failed)).alias, key);
  assert.equal(
    (await rendered(owner, "opsgenie", recovered)).url,
    `https://api.opsgenie.com/v2/alerts/${key}/close?identifierType=alias`,
  );
  assert.equal(
    (await rendered(owner, "opsgenie", acknowledged)).url,
    `https://api.opsgenie.com/v2/alerts/${key}/acknowledge?identifierType=alias`,
  );

  const [firing, resolved] = [await told("alertmanager", failed), await told("alertmanager", recovered)];
  assert.deepEqual([firing.status, resolved.status], ["firing", "resolved"]);
  assert.deepEqual(firing.alerts[0].labels, resolved.alerts[0].labels);
  assert.equal(firing.alerts[0].fingerprint, resolved.alerts[0].fingerprint);
  assert.deepEqual([firing.alerts[0].endsAt, resolved.alerts[0].endsAt], [
    "0001-01-01T00:00:00Z",
    "2026-01-02T03:04:05.678Z",
  ]);
});

Deno.test("a trouble without an incident has one key from its beginning to its end, and no two troubles share one", async () => {
  await using database = await everyKind();
  const key = async (event: SampleEvent) =>
    JSON.parse((await rendered(database.owner, "pagerduty", { incident: null, ...event })).body).dedup_key;
  const pairs: [SampleEvent, SampleEvent][] = [
    [{ kind: "service.degraded" }, { kind: "service.restored" }],
    [{ kind: "service.flapping" }, { kind: "service.stable" }],
    [{ kind: "service.unknown" }, { kind: "service.known" }],
    [{ kind: "worker.quarantined", data: { worker: "a b/c" } }, { kind: "worker.trusted", data: { worker: "a b/c" } }],
  ];
  const keys = new Set<string>();
  for (const [begin, end] of pairs) {
    assert.equal(await key(begin), await key(end), begin.kind);
    keys.add(await key(begin));
  }
  keys.add(await key({ kind: "certificate.expiring" }));
  keys.add(await key({ kind: "deliveries.dead" }));
  keys.add(await key({ kind: "worker.quarantined", data: { worker: "another" } }));
  assert.equal(keys.size, 7);
  for (const each of keys) assert.match(each, /^[A-Za-z0-9-]{1,255}$/);
});

Deno.test("without a public URL no notice has a link, and every notice is whole", async () => {
  await using database = await everyKind();
  await database.owner`select uptuple.set_public_url(null)`;
  for (const kind of KINDS) {
    const request = await rendered(database.owner, kind, { kind: "service.failed", data: { service: "inventory" } });
    assert.equal(request.error, undefined);
    assert.doesNotMatch(JSON.stringify(request), /status\.example\.com|Open Uptuple|null/, kind);
  }
});

Deno.test("the public URL is stored in its canonical form, and what is no page's address is refused", async () => {
  await using database = await testDatabase();
  const worker = await database.connect("uptuple_worker");
  const set = async (url: string | null) => (await worker`select uptuple.set_public_url(${url}) as url`)[0]?.url;
  assert.equal(await set("HTTPS://Status.Example.com:443"), "https://status.example.com/");
  assert.equal(await set("http://127.0.0.1:8080/uptime"), "http://127.0.0.1:8080/uptime/");
  for (
    const url of [
      "status.example.com",
      "ftp://x/",
      "https://x/?a=b",
      "https://me:pw@x/",
      "https://${UPTUPLE_SECRET_X}/",
    ]
  ) {
    await assert.rejects(set(url), { code: "22023" }, url);
  }
  assert.equal(
    (await database.owner`select public_url from uptuple.setting`)[0].public_url,
    "http://127.0.0.1:8080/uptime/",
  );
  assert.equal(await set(null), null);
  const viewer = await database.connect("uptuple_viewer");
  await assert.rejects(viewer`select uptuple.set_public_url(null)`, { code: "42501" });
});

Deno.test("a notice links to the page of its incident, else to that of its service, however that is called, else to the first page", async () => {
  await using database = await testDatabase();
  const sql = database.owner;
  await sql`select uptuple.set_public_url('https://status.example.com/uptime')`;
  const linkOf = async (event: { service_id?: number; incident_id?: number }) =>
    (await sql`
      select uptuple.notice_url(jsonb_populate_record(null::uptuple.event, ${
      sql.json({ event_id: crypto.randomUUID(), ...event })
    })) as url`)[0]?.url;
  const nameOnce = async (name: string) =>
    (await sql`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:9/') as id`)[0]?.id;

  const base = "https://status.example.com/uptime/";
  for (const name of ["inventory", "a/b?c#d %41&e=f+g", "<b>|[x](y)_'\"\\", "caf\u00e9 \ud83d\udd25", "-._~", "..."]) {
    const url: string = await linkOf({ service_id: await nameOnce(name) });
    assert.match(url, /^https:\/\/status\.example\.com\/uptime\/services\/[A-Za-z0-9._~%-]+$/);
    // As a browser and the router take it apart.
    assert.equal(decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? ""), name);
  }
  for (const name of [".", ".."]) {
    assert.equal(await linkOf({ service_id: await nameOnce(name) }), `${base}services?name=${name}`);
  }
  assert.equal(
    await linkOf({ service_id: await nameOnce("\ud83d\udd25".repeat(100)) }),
    base,
    "receivers refuse a long link",
  );

  const gone = await nameOnce("gone");
  assert.equal(await linkOf({ service_id: gone, incident_id: 42 }), `${base}incidents/42`);
  await sql`select uptuple.remove_service('gone')`;
  assert.equal(await linkOf({ service_id: gone }), base);
  assert.equal(await linkOf({}), base);
});
