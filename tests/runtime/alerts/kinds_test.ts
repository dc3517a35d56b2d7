import assert from "node:assert/strict";
import { claimedNotice, type NoticeRow } from "../../../src/alerts/notice.ts";
import { sendNotice } from "../../../src/alerts/send_notice.ts";
import { secretStore } from "../../../src/secrets.ts";
import { CHANNELS } from "../../support/channel_kinds.ts";
import { testDatabase } from "../../support/database.ts";
import { mailServer } from "../../support/mail_server.ts";
import { assertFailed, post } from "../../support/posting.ts";
import { headerOf, receiver } from "../../support/receivers.ts";
import { answer, says } from "../../support/targets.ts";

/** The secrets of all channels, each with what JSON, URLs and mail would break on. */
const SECRETS: Record<string, string> = Object.fromEntries(
  [
    "SLACK",
    "DISCORD",
    "TEAMS",
    "MATTERMOST",
    "NTFY",
    "GOTIFY",
    "PUSHOVER_TOKEN",
    "PUSHOVER_USER",
    "PAGERDUTY",
    "OPSGENIE",
    "MAIL",
  ]
    .map((name) => [`UPTUPLE_SECRET_${name}`, `${name.toLowerCase()}-key"\\1`]),
);
SECRETS["UPTUPLE_SECRET_TELEGRAM"] = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

/** A reason that a target gives, in the hope of being told what a secret is. */
const GREEDY = Object.keys(SECRETS).map((name) => `\${${name}}`).join(" ");

Deno.test("each kind of channel puts its secrets where its options say, and none where a target asks for them", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await using server = await receiver(says(answer("200 OK", [], "ok")));
  await using mail = await mailServer({ login: `uptuple:${SECRETS["UPTUPLE_SECRET_MAIL"]}` });
  for (const [kind, { url, options = {} }] of Object.entries(CHANNELS)) {
    const secretPath = /\$\{UPTUPLE_SECRET_[A-Z]+\}/.exec(url ?? "")?.[0] ?? "";
    const here = kind === "email" ? `smtp://127.0.0.1:${mail.port}` : `${server.url}${secretPath}`;
    const given = kind === "email" ? { ...options, starttls: "never" } : options;
    await owner`
      select uptuple.add_channel(name => ${kind}, url => ${here}, kind => ${kind}, options => ${
      owner.json(given as never)
    })`;
  }
  await owner`select uptuple.add_service(name => ${
    GREEDY.slice(0, 199).trim()
  }, url => 'http://127.0.0.1:1/', failure_threshold => 1)`;
  await owner`select uptuple.record_health(${GREEDY.slice(0, 199).trim()}, 'DOWN', ${GREEDY})`;

  const rows = await owner<NoticeRow[]>`select * from uptuple.claim_alerts('tester', 100)`;
  assert.equal(rows.length, Object.keys(CHANNELS).length);
  const options = { secrets: secretStore((name) => SECRETS[name]), signal: new AbortController().signal };
  for (const row of rows) {
    await t.step(row.channel, async () => {
      server.posts.length = 0;
      const reported = await sendNotice(claimedNotice(row, performance.now()), options);
      assert.equal(reported.status, row.channel === "email" ? 250 : 200, JSON.stringify(reported));
      if (row.channel === "email") {
        const text = mail.mails[0]?.source.replaceAll("=\r\n", "") ?? "";
        for (const [name, value] of Object.entries(SECRETS)) {
          assert.equal(text.includes(value), false, name);
          assert.ok(text.includes(name), name);
        }
        return;
      }

      const [posted] = server.posts;
      assert.ok(posted);
      const body = JSON.parse(posted.body);
      const own = { pushover: ["token", "user"], pagerduty: ["routing_key"] }[row.channel] ?? [];
      const members: Record<string, string> = {
        token: "PUSHOVER_TOKEN",
        user: "PUSHOVER_USER",
        routing_key: "PAGERDUTY",
      };
      for (const member of own) {
        assert.equal(body[member], SECRETS[`UPTUPLE_SECRET_${members[member]}`]);
        delete body[member];
      }
      const rest = JSON.stringify(body);
      for (const value of Object.values(SECRETS)) {
        assert.equal(rest.includes(JSON.stringify(value).slice(1, -1)), false);
      }
      assert.match(rest, /UPTUPLE\\*_SECRET\\*_/);
    });
  }
});

Deno.test("the keys of kinds that take them in a header or in the path are there", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await using server = await receiver(says(answer("200 OK")));
  const options = { secrets: secretStore((name) => SECRETS[name]), signal: new AbortController().signal };
  for (const kind of ["telegram", "ntfy", "gotify", "opsgenie"]) {
    await owner`
      select uptuple.add_channel(name => ${kind}, url => ${server.url}, kind => ${kind},
        options => ${owner.json(CHANNELS[kind]?.options as never)})`;
    await owner`select uptuple.test_channel(${kind})`;
    const [row] = await owner<NoticeRow[]>`select * from uptuple.claim_alerts('tester', 100)`;
    assert.ok(row);
    assert.equal((await sendNotice(claimedNotice(row, performance.now()), options)).status, 200);
  }
  const [telegram, ntfy, gotify, opsgenie] = server.posts;
  assert.equal(telegram?.requestLine, `POST /bot${SECRETS["UPTUPLE_SECRET_TELEGRAM"]}/sendMessage HTTP/1.1`);
  assert.equal(headerOf(ntfy!, "Authorization"), `Bearer ${SECRETS["UPTUPLE_SECRET_NTFY"]}`);
  assert.equal(ntfy?.requestLine, "POST / HTTP/1.1");
  assert.equal(headerOf(gotify!, "X-Gotify-Key"), SECRETS["UPTUPLE_SECRET_GOTIFY"]);
  assert.equal(gotify?.requestLine, "POST /message HTTP/1.1");
  assert.equal(headerOf(opsgenie!, "Authorization"), `GenieKey ${SECRETS["UPTUPLE_SECRET_OPSGENIE"]}`);
  assert.equal(opsgenie?.requestLine, "POST /v2/alerts HTTP/1.1");
});

Deno.test("a secret in a body is escaped as JSON and redacted from what is reported, and the rest of the body says what it said", async () => {
  const secret = 'a "quoted" \\ key\n';
  await using server = await receiver(says(answer("200 OK", [], `got ${JSON.stringify(secret)}`)));
  const body = `{"reason": "\${UPTUPLE_SECRET_KEY}", "key": "\${UPTUPLE_SECRET_KEY}", "n": 1.50}`;
  const reported = await post(server.url, {
    environment: { UPTUPLE_SECRET_KEY: secret },
    notice: { request: { method: "POST", url: server.url, headers: {}, body, secrets_at: ["key", "absent", "n"] } },
  });
  assert.equal(reported.excerpt, `got "[secret KEY]"`);
  assert.deepEqual(JSON.parse(server.posts[0]?.body ?? ""), { reason: "${UPTUPLE_SECRET_KEY}", key: secret, n: 1.5 });
});

Deno.test("a secret that is missing for a body is reported, and nothing is sent", async () => {
  await using server = await receiver(says(answer("200 OK")));
  const request = {
    method: "POST",
    url: server.url,
    headers: {},
    body: `{"key": "\${UPTUPLE_SECRET_KEY}"}`,
    secrets_at: ["key"],
  };
  assertFailed(await post(server.url, { notice: { request } }), "secret.missing", /UPTUPLE_SECRET_KEY/);
  assert.deepEqual(server.posts, []);
});

Deno.test("a notice that could not be rendered is reported with the reason, and nothing is sent", async () => {
  const reported = await post("", { notice: { request: { error: "uptuple.render_mine: division by zero" } } });
  assert.deepEqual(reported.error, { code: "render", message: "uptuple.render_mine: division by zero" });
});
