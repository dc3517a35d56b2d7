import assert from "node:assert/strict";
import { answer, claim, claimOne, fail, violations } from "../../support/alerts.ts";
import { addChannelOfKind, CHANNELS } from "../../support/channel_kinds.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** What a person could get wrong, with the argument or option that the error names and the cure that it gives. */
const MISTAKES: {
  kind: string;
  url?: string | null;
  options?: Record<string, unknown>;
  message: RegExp;
  hint: RegExp;
}[] = [
  { kind: "pigeon", message: /^kind 'pigeon' is not known$/, hint: /alertmanager, discord, email.*webhook/ },
  { kind: "Slack", message: /^kind 'Slack' is not known$/, hint: /slack/ },
  { kind: "webhook", url: null, message: /^url is missing$/, hint: /https:/ },
  { kind: "slack", url: null, message: /^url is missing$/, hint: /https:/ },
  {
    kind: "webhook",
    options: { token: "x" },
    message: /^options has 'token', which the kind webhook does not know$/,
    hint: /none/,
  },
  { kind: "slack", options: { mention: "@here" }, message: /^options has a value for 'mention'/, hint: /<!channel>/ },
  { kind: "slack", options: { mentions: "<!here>" }, message: /^options has 'mentions'/, hint: /It knows mention\./ },
  { kind: "discord", options: { mention: "<!channel>" }, message: /^options has a value for 'mention'/, hint: /@here/ },
  { kind: "mattermost", options: { mention: 1 }, message: /^options has a value for 'mention'/, hint: /@channel/ },
  {
    kind: "telegram",
    options: { chat_id: "1" },
    message: /^options lacks 'token', which the kind telegram needs$/,
    hint: /UPTUPLE_SECRET_TELEGRAM/,
  },
  {
    kind: "telegram",
    options: { token: "${UPTUPLE_SECRET_T}" },
    message: /^options lacks 'chat_id'/,
    hint: /"chat_id": "-100/,
  },
  {
    kind: "telegram",
    options: { token: "123:abc", chat_id: "1" },
    message: /^options has a value for 'token'/,
    hint: /environment/,
  },
  {
    kind: "telegram",
    options: { token: "${UPTUPLE_SECRET_T}", chat_id: "1", message_thread_id: "7" },
    message: /^options has a value for 'message_thread_id'/,
    hint: /"message_thread_id": 7/,
  },
  {
    kind: "telegram",
    url: "https://api.telegram.org/?a=b",
    message: /has a query, and must be that of the server alone$/,
    hint: /options/,
  },
  { kind: "ntfy", options: { topic: "a/b" }, message: /^options has a value for 'topic'/, hint: /our-alerts/ },
  { kind: "gotify", url: null, message: /^url is missing$/, hint: /https:/ },
  { kind: "gotify", options: {}, message: /^options lacks 'token'/, hint: /UPTUPLE_SECRET_GOTIFY/ },
  {
    kind: "pushover",
    options: { token: "${UPTUPLE_SECRET_T}" },
    message: /^options lacks 'user'/,
    hint: /UPTUPLE_SECRET_PUSHOVER_USER/,
  },
  { kind: "pagerduty", options: {}, message: /^options lacks 'routing_key'/, hint: /UPTUPLE_SECRET_PAGERDUTY/ },
  {
    kind: "opsgenie",
    options: { api_key: "secret" },
    message: /^options has a value for 'api_key'/,
    hint: /environment/,
  },
  {
    kind: "email",
    url: null,
    message: /^url null is not that of a mail server$/,
    hint: /smtp:\/\/mail\.example\.com:587/,
  },
  { kind: "email", url: "https://mail.example/", message: /is not that of a mail server$/, hint: /smtps:/ },
  { kind: "email", url: "smtp://me:pw@mail.example", message: /is not that of a mail server$/, hint: /options/ },
  { kind: "email", url: "smtp://mail.example:0", message: /is not that of a mail server$/, hint: /smtps:/ },
  { kind: "email", options: { to: "a@b.example" }, message: /^options lacks 'from'/, hint: /uptuple@example\.com/ },
  { kind: "email", options: { from: "a@b.example" }, message: /^options lacks 'to'/, hint: /ops@example\.com/ },
  { kind: "email", options: { from: "a@b.example", to: [] }, message: /^options has a value for 'to'/, hint: /ops@/ },
  {
    kind: "email",
    options: { from: "a@b.example", to: ["a@b.example", 1] },
    message: /^options has a value for 'to'/,
    hint: /ops@/,
  },
  {
    kind: "email",
    options: { from: "a@b.example\r\nBcc: c@d.example", to: "a@b.example" },
    message: /^options has a value for 'from'/,
    hint: /@/,
  },
  {
    kind: "email",
    options: { from: "A <a@b.example>", to: "a@b.example" },
    message: /^options has a value for 'from'/,
    hint: /@/,
  },
  {
    kind: "email",
    options: { from: "a@b.example", to: "a@b.example", user: "me" },
    message: /^options has only one of/,
    hint: /both/,
  },
  {
    kind: "email",
    options: { from: "a@b.example", to: "a@b.example", starttls: "yes" },
    message: /^options has a value for 'starttls'/,
    hint: /required/,
  },
];

Deno.test("a channel with options that its kind cannot use is refused, with the option and the cure, and nothing is written", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const { kind, url = CHANNELS[kind]?.url ?? null, options, message, hint } of MISTAKES) {
    await t.step(`${kind} ${url ?? ""} ${JSON.stringify(options ?? {})}`, async () => {
      const given = owner.json((options ?? CHANNELS[kind]?.options ?? {}) as never);
      await assert.rejects(
        owner`select uptuple.add_channel(name => 'new', kind => ${kind}, url => ${url}, options => ${given})`,
        (error: { code: string; message: string; hint: string }) => {
          assert.equal(error.code, "22023", error.message);
          assert.match(error.message, message);
          assert.match(error.hint, hint);
          return true;
        },
      );
    });
  }
  for (const options of ["[]", "null", null]) {
    await assert.rejects(
      owner`select uptuple.add_channel('new', 'https://x.example/', options => ${options}::text::jsonb)`,
      {
        code: "22023",
        message: "options must be a JSON object",
      },
    );
  }
  assert.deepEqual([...await owner`select * from uptuple.channel`], []);
});

Deno.test("mail has no headers and no signature, and other channels go to http and https only", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const mail =
    owner`url => 'smtp://mail.example', kind => 'email', options => '{"from": "a@b.example", "to": "a@b.example"}'`;
  const refusals = [
    owner`select uptuple.add_channel('new', ${mail}, headers => '{"X": "1"}')`,
    owner`select uptuple.add_channel('new', ${mail}, signing_secrets => ${["${UPTUPLE_SECRET_A}"]})`,
    owner`select uptuple.add_channel('new', 'smtp://mail.example')`,
    owner`select uptuple.add_channel('new', 'tcp://mail.example:25', kind => 'slack')`,
  ];
  for (const refused of refusals) await assert.rejects(refused, { code: "22023" });
});

Deno.test("a kind whose service has one address for all needs no URL, and mail gets its usual port and more attempts", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const kind of Object.keys(CHANNELS)) await addChannelOfKind(owner, kind);
  await owner`
    select uptuple.add_channel('mail2', 'smtps://[2001:db8::1]', kind => 'email', max_attempts => 3,
      options => '{"from": "a@b.example", "to": "a@b.example"}')`;

  const rows = await owner`select name, url, max_attempts from uptuple.channel order by name`;
  const of = (name: string) => rows.find((row) => row.name === name) ?? {};
  assert.equal(of("telegram").url, "https://api.telegram.org/");
  assert.equal(of("ntfy").url, "https://ntfy.sh/");
  assert.equal(of("pushover").url, "https://api.pushover.net/1/messages.json");
  assert.equal(of("pagerduty").url, "https://events.pagerduty.com/v2/enqueue");
  assert.equal(of("opsgenie").url, "https://api.opsgenie.com/");
  assert.deepEqual([of("email").url, of("email").max_attempts], ["smtp://mail.example:587", 10]);
  assert.deepEqual([of("mail2").url, of("mail2").max_attempts], ["smtps://[2001:db8::1]:465", 3]);
  assert.equal(of("webhook").max_attempts, 5);
});

Deno.test("the options of a channel can be changed as they can be given, and its kind stays", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannelOfKind(owner, "ntfy");
  await owner`select uptuple.update_channel('ntfy', options => '{"topic": "others"}')`;
  await owner`select uptuple.update_channel('ntfy', timeout => '3 seconds')`;
  const [channel] = await owner`select kind, options, url from uptuple.channel`;
  assert.deepEqual({ ...channel }, { kind: "ntfy", options: { topic: "others" }, url: "https://ntfy.sh/" });
  await assert.rejects(owner`select uptuple.update_channel('ntfy', options => '{"topic": "a b"}')`, { code: "22023" });
  await assert.rejects(owner`select uptuple.update_channel('ntfy', url => 'https://ntfy.sh/?x')`, { code: "22023" });
});

/** Makes a kind of one's own, whose body is an expression over the event. */
async function makeKind(sql: TestSql, kind: string, body: string, owner = "uptuple_owner"): Promise<void> {
  await sql.unsafe(`
    create or replace function uptuple.render_${kind}(event uptuple.event, channel uptuple.channel) returns jsonb
    language sql stable set search_path = pg_catalog, pg_temp
    return uptuple.json_request(event, channel, channel.url, ${body});
    alter function uptuple.render_${kind}(uptuple.event, uptuple.channel) owner to ${owner};
    revoke execute on function uptuple.render_${kind}(uptuple.event, uptuple.channel) from public`);
}

Deno.test("a function of one's own is a kind of channel, with options of its own", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await makeKind(
    owner,
    "zulip",
    `json_build_object('to', channel.options ->> 'stream', 'content', uptuple.notice_title(event), 'link', uptuple.notice_url(event))`,
  );
  const operator = await database.connect("uptuple_operator");
  await operator`
    select uptuple.add_channel('chat', 'https://zulip.example/api', kind => 'zulip', options => '{"stream": "ops", "anything": [1]}')`;
  await addService(owner, "shop");
  await fail(owner, "shop");

  const { request } = await claimOne(owner);
  assert.equal(request.url, "https://zulip.example/api");
  assert.deepEqual(JSON.parse(request.body), { to: "ops", content: "shop is DOWN", link: null });
});

Deno.test("a kind that cannot render a test notice is refused when the channel is added, with what went wrong", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await makeKind(
    owner,
    "broken",
    "json_build_object('x', 1 / length(event.kind || '') - 1 / (length(event.kind) - length('channel.test')))",
  );
  await assert.rejects(owner`select uptuple.add_channel('chat', 'https://x.example/', kind => 'broken')`, {
    code: "22023",
    message: "a test notice cannot be rendered for the kind broken",
    detail: "uptuple.render_broken: division by zero",
    hint: "Mend the function uptuple.render_broken, or give the options that it reads.",
  });
  await owner`
    create function uptuple.render_empty(uptuple.event, uptuple.channel) returns jsonb language sql return '{"url": 1}'::jsonb`;
  await assert.rejects(owner`select uptuple.add_channel('chat', 'https://x.example/', kind => 'empty')`, {
    code: "22023",
    detail: /^uptuple\.render_empty gave no request/,
  });
  assert.deepEqual([...await owner`select * from uptuple.channel`], []);
});

Deno.test("a notice that its kind cannot render dies alone, and all others go out", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await makeKind(owner, "picky", "json_build_object('x', 1 / (length(event.data ->> 'service') - 5))");
  await owner`select uptuple.add_channel('picky', 'https://x.example/', kind => 'picky', max_attempts => 1)`;
  await owner`select uptuple.add_channel('ops', 'https://y.example/')`;
  await addService(owner, "wrong");
  await addService(owner, "right1");
  await fail(owner, "wrong");
  await fail(owner, "right1");

  const claimed = await claim(owner);
  assert.equal(claimed.length, 4);
  const outcomes: string[] = [];
  for (const each of claimed) {
    const error = (each.request as { error?: string }).error;
    const response = error === undefined ? { status: 200 } : { error: { code: "render", message: error } };
    outcomes.push(`${each.channel} ${await answer(owner, each, response)}`);
  }
  assert.deepEqual(outcomes.sort(), ["ops DELIVERED", "ops DELIVERED", "picky DEAD", "picky DELIVERED"]);
  const [dead] = await owner`select cause, last_answer from uptuple.dead_deliveries`;
  assert.deepEqual({ ...dead }, { cause: "render", last_answer: "uptuple.render_picky: division by zero" });
  assert.deepEqual(await violations(owner), []);
});

Deno.test("nobody but the schema's owner can bring a function that runs with its rights", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await assert.rejects(
    operator`create function uptuple.render_mine(uptuple.event, uptuple.channel) returns jsonb language sql return '{}'`,
    { code: "42501" },
  );
  await makeKind(owner, "theirs", "'{}'::json", "uptuple_operator");
  await assert.rejects(operator`select uptuple.add_channel('x', 'https://x.example/', kind => 'theirs')`, {
    code: "22023",
    message: "kind 'theirs' is not known",
  });
  for (const kind of ["webhook(null,null); drop table uptuple.event --", "", "a b", null]) {
    await assert.rejects(operator`select uptuple.add_channel('x', 'https://x.example/', kind => ${kind})`, {
      code: "22023",
    });
  }
});

Deno.test("a test notice goes to its channel alone, is marked, and shows what came of it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.add_channel('ops', 'https://x.example/')`;
  await owner`select uptuple.add_channel('boss', 'https://y.example/')`;
  const operator = await database.connect("uptuple_operator");

  const [{ id }] = await operator<[{ id: string }]>`select uptuple.test_channel('boss') as id`;
  const claimed = await claimOne(owner);
  assert.deepEqual([claimed.delivery_id, claimed.channel, claimed.kind], [id, "boss", "channel.test"]);
  const body = JSON.parse(claimed.request.body);
  assert.equal(body.type, "channel.test");
  assert.deepEqual([body.data.test, body.data.channel, body.data.event_id], [true, "boss", claimed.event_id]);
  await answer(owner, claimed, { status: 404, excerpt: "no such hook", latency_ms: 12.5 });

  const [attempt] = await operator`
    select channel, channel_kind, service, kind, attempt, outcome, status, latency_ms, answer, notice_is, worker, event_id
    from uptuple.delivery_attempts where delivery_id = ${id}`;
  assert.deepEqual({ ...attempt }, {
    channel: "boss",
    channel_kind: "webhook",
    service: null,
    kind: "channel.test",
    attempt: 1,
    outcome: "SUSPENDED",
    status: 404,
    latency_ms: 12.5,
    answer: "no such hook",
    notice_is: "READY",
    worker: "courier",
    event_id: claimed.event_id,
  });
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a test of a suspended channel probes it at once, one of a disabled or unknown channel is refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.add_channel('ops', 'https://x.example/')`;
  await owner`select uptuple.test_channel('ops')`;
  await answer(owner, await claimOne(owner), { status: 401 });
  assert.deepEqual(await claim(owner), []);

  await owner`select uptuple.test_channel('ops')`;
  await answer(owner, await claimOne(owner), { status: 200 });
  assert.equal((await owner`select state from uptuple.channels_health`)[0].state, "OPEN");

  await owner`select uptuple.disable_channel('ops')`;
  await assert.rejects(owner`select uptuple.test_channel('ops')`, {
    code: "UT002",
    message: "the channel 'ops' is disabled",
    hint: "select uptuple.enable_channel('ops') switches it on.",
  });
  await assert.rejects(owner`select uptuple.test_channel('sms')`, { code: "UT001" });
  const worker = await database.connect("uptuple_worker");
  await assert.rejects(worker`select uptuple.test_channel('ops')`, { code: "42501" });
});
