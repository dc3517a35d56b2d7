import assert from "node:assert/strict";
import { type Answer, answer, claimOne } from "../../support/alerts.ts";
import { addChannelOfKind } from "../../support/channel_kinds.ts";
import { testDatabase } from "../../support/database.ts";

/** What receivers really say, and what that means for the notice. */
const ANSWERS: [kind: string, says: Answer & { command?: string }, meaning: string][] = [
  ["slack", { status: 200, excerpt: "ok" }, "DELIVERED"],
  ["slack", { status: 400, excerpt: "invalid_blocks" }, "DEAD"],
  ["slack", { status: 404, excerpt: "no_service" }, "SUSPENDED"],
  ["slack", { status: 410, excerpt: "channel_is_archived" }, "SUSPENDED"],
  ["discord", { status: 204 }, "DELIVERED"],
  ["discord", { status: 400, excerpt: `{"embeds": ["0"]}` }, "DEAD"],
  ["discord", { status: 404, excerpt: `{"message": "Unknown Webhook", "code": 10015}` }, "SUSPENDED"],
  ["discord", { status: 429, excerpt: `{"message": "You are being rate limited.", "retry_after": 64.57}` }, "PAUSED"],
  ["teams", { status: 202 }, "DELIVERED"],
  ["teams", { status: 401 }, "SUSPENDED"],
  ["mattermost", { status: 200, excerpt: "ok" }, "DELIVERED"],
  ["mattermost", {
    status: 400,
    excerpt: `{"id":"web.incoming_webhook.invalid.app_error","message":"Invalid webhook."}`,
  }, "SUSPENDED"],
  ["mattermost", { status: 400, excerpt: `{"id":"web.incoming_webhook.parse.app_error"}` }, "DEAD"],
  ["telegram", { status: 200, excerpt: `{"ok":true}` }, "DELIVERED"],
  ["telegram", { status: 400, excerpt: `{"ok":false,"description":"Bad Request: chat not found"}` }, "SUSPENDED"],
  ["telegram", { status: 400, excerpt: `{"ok":false,"description":"Bad Request: can't parse entities"}` }, "DEAD"],
  ["telegram", { status: 401, excerpt: `{"ok":false,"description":"Unauthorized"}` }, "SUSPENDED"],
  ["telegram", { status: 403, excerpt: `{"description":"Forbidden: bot was blocked by the user"}` }, "SUSPENDED"],
  ["telegram", { status: 429, excerpt: `{"ok":false,"parameters":{"retry_after":35}}` }, "PAUSED"],
  ["ntfy", { status: 200, excerpt: `{"id":"x"}` }, "DELIVERED"],
  ["ntfy", { status: 413 }, "DEAD"],
  ["ntfy", { status: 429 }, "PAUSED"],
  ["ntfy", { status: 507 }, "RETRY"],
  ["gotify", { status: 200 }, "DELIVERED"],
  ["gotify", { status: 401 }, "SUSPENDED"],
  ["pushover", { status: 200, excerpt: `{"status":1}` }, "DELIVERED"],
  ["pushover", { status: 400, excerpt: `{"token":"invalid","errors":["application token is invalid"]}` }, "SUSPENDED"],
  ["pushover", { status: 400, excerpt: `{"user":"invalid","errors":["user identifier is invalid"]}` }, "SUSPENDED"],
  ["pushover", { status: 400, excerpt: `{"message":"cannot be blank"}` }, "DEAD"],
  ["pushover", { status: 429 }, "PAUSED"],
  ["pagerduty", { status: 202, excerpt: `{"status":"success"}` }, "DELIVERED"],
  ["pagerduty", { status: 400, excerpt: `{"errors":["Length of 'routing_key' is incorrect"]}` }, "SUSPENDED"],
  ["pagerduty", { status: 400, excerpt: `{"errors":["'payload.severity' is invalid"]}` }, "DEAD"],
  ["pagerduty", { status: 429 }, "PAUSED"],
  ["opsgenie", { status: 202 }, "DELIVERED"],
  ["opsgenie", { status: 403 }, "SUSPENDED"],
  ["opsgenie", { status: 422 }, "DEAD"],
  ["alertmanager", { status: 200 }, "DELIVERED"],
  ["alertmanager", { status: 400 }, "DEAD"],
  ["email", { status: 250, command: "DATA", excerpt: "250 Queued" }, "DELIVERED"],
  ["email", { status: 421, command: "CONN" }, "RETRY"],
  ["email", { status: 451, command: "RCPT TO", excerpt: "451 Greylisted" }, "RETRY"],
  ["email", { status: 454, command: "AUTH PLAIN" }, "RETRY"],
  ["email", { status: 535, command: "AUTH PLAIN", excerpt: "535 Bad credentials" }, "SUSPENDED"],
  ["email", { status: 530, command: "MAIL FROM" }, "SUSPENDED"],
  ["email", { status: 550, command: "RCPT TO", excerpt: "550 No such user" }, "SUSPENDED"],
  ["email", { status: 502, command: "STARTTLS" }, "SUSPENDED"],
  ["email", { status: 554, command: "DATA", excerpt: "554 Spam" }, "DEAD"],
  ["email", { status: 552, command: "DATA" }, "DEAD"],
  ["email", { error: { code: "tls.untrusted" } }, "RETRY"],
  ["email", { error: { code: "secret.missing" } }, "SUSPENDED"],
];

Deno.test("the answers of each kind of receiver mean what that receiver means by them", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const kind of new Set(ANSWERS.map(([kind]) => kind))) await addChannelOfKind(owner, kind);
  for (const [kind, says, meaning] of ANSWERS) {
    await t.step(`${kind}: ${JSON.stringify(says)}`, async () => {
      await owner`select uptuple.enable_channel(${kind})`;
      await owner`select uptuple.test_channel(${kind})`;
      const claimed = await claimOne(owner);
      assert.equal(await answer(owner, claimed, says), meaning);
      await owner`update uptuple.delivery set state = 'DISCARDED', finished_at = now() where state = 'READY'`;
      await owner`update uptuple.channel set suspended_at = null, suspended_reason = null, probe_at = null, transient_failures = 0`;
    });
  }
});

Deno.test("what a mail server says is shown as its answer and not as HTTP", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannelOfKind(owner, "email");
  await owner`select uptuple.test_channel('email')`;
  await answer(
    owner,
    await claimOne(owner),
    { status: 535, command: "AUTH PLAIN", excerpt: "535 Bad credentials" } as Answer,
  );
  const [channel] = await owner`select state, suspended_reason from uptuple.channels_health`;
  assert.deepEqual({ ...channel }, { state: "SUSPENDED", suspended_reason: "SMTP 535: 535 Bad credentials" });
  const [delivery] = await owner`select last_cause, last_status from uptuple.delivery`;
  assert.deepEqual({ ...delivery }, { last_cause: "SMTP 535", last_status: 535 });
});

Deno.test("a receiver may ask for time in its body: rounded up, the longer of two, at most an hour, and only with a 429", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  const cases: [answer: Answer, seconds: number | null][] = [
    [{ status: 429, excerpt: `{"retry_after": 64.57}` }, 65],
    [{ status: 429, excerpt: `{"parameters":{"retry_after":35}}` }, 35],
    [{ status: 429, excerpt: `{"retry_after":0.3}`, retry_after: "2" }, 2],
    [{ status: 429, excerpt: `{"retry_after":12.1}`, retry_after: "2" }, 13],
    [{ status: 429, excerpt: `{"retry_after":999999}` }, 3600],
    [{ status: 429, excerpt: `{"retry_after":"soon"} ` }, null],
    [{ status: 429, excerpt: `{"retry_after":-5}` }, null],
    [{ status: 429, excerpt: `{"retry_after": 7, "cut": "he` }, 7],
    [{ status: 503, excerpt: `{"retry_after":35}` }, null],
    [{ status: 503, excerpt: "", retry_after: "9" }, 9],
    [{ error: { code: "connect.refused" } }, null],
  ];
  for (const [said, seconds] of cases) {
    await t.step(JSON.stringify(said), async () => {
      const [row] = await owner`select extract(epoch from uptuple.asked_wait(${owner.json(said)}))::float as seconds`;
      assert.equal(row.seconds, seconds);
    });
  }
});

Deno.test("the channel pauses for as long as the body asks, and the notice loses no attempt", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannelOfKind(owner, "discord");
  await owner`select uptuple.test_channel('discord')`;
  const says = {
    status: 429,
    retry_after: "1",
    excerpt: `{"message": "You are being rate limited.", "retry_after": 64.57}`,
  };
  assert.equal(await answer(owner, await claimOne(owner), says), "PAUSED");
  const [channel] =
    await owner`select extract(epoch from paused_until - clock_timestamp())::float as seconds from uptuple.channel`;
  assert.ok(channel.seconds > 60 && channel.seconds <= 65, `${channel.seconds} s`);
  assert.equal((await owner`select attempts from uptuple.delivery`)[0].attempts, 0);
});
