import assert from "node:assert/strict";
import { type ClaimedNotice, claimedNotice, type NoticeRow } from "../../../src/alerts/notice.ts";
import { sendNotice } from "../../../src/alerts/send_notice.ts";
import { secretStore } from "../../../src/secrets.ts";
import { startReceiver } from "../../../scripts/example_receiver.ts";
import { type TestDatabase, testDatabase, type TestSql } from "../../support/database.ts";
import { receiver, resets, staysSilent } from "../../support/receivers.ts";
import { answer, type Behaviour, says } from "../../support/targets.ts";

/** A service that is DOWN, and a channel that is to be told of it. */
async function openIncident(
  database: TestDatabase,
  url: string,
  options: { timeout?: string; signing?: string[] } = {},
): Promise<void> {
  const sql = database.owner;
  await sql`
    select uptuple.add_channel(
      name => 'ops', url => ${url}, signing_secrets => ${options.signing ?? []}, timeout => ${options.timeout ?? "5 s"}
    )`;
  await sql`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/', failure_threshold => 1)`;
  await sql`select uptuple.record_health('inventory', 'DOWN', 'HTTP 503, "café" \${UPTUPLE_SECRET_KEY} 🔥')`;
}

async function claimNotice(sql: TestSql): Promise<ClaimedNotice> {
  const [row, other] = await sql<NoticeRow[]>`select * from uptuple.claim_alerts('tester', 10)`;
  assert.ok(row, "no notice was ready");
  assert.equal(other, undefined, "more than one notice was ready");
  return claimedNotice(row, performance.now());
}

async function deliver(sql: TestSql, environment: Record<string, string> = {}): Promise<string> {
  const notice = await claimNotice(sql);
  const reported = await sendNotice(notice, {
    secrets: secretStore((name) => environment[name]),
    signal: new AbortController().signal,
  });
  const [row] = await sql`
    select uptuple.finish_alert(${notice.deliveryId}, ${notice.claimToken}, ${sql.json(reported as never)}) as outcome`;
  return row.outcome;
}

/** Seconds until the channel may send again. */
async function pausedFor(sql: TestSql): Promise<number> {
  const [row] = await sql`
    select extract(epoch from paused_until - clock_timestamp())::float as seconds from uptuple.channel where name = 'ops'`;
  return row.seconds;
}

const RECEIVERS: { it: string; does: Behaviour; outcome: string }[] = [
  { it: "accepts", does: says(answer("202 Accepted")), outcome: "DELIVERED" },
  { it: "fails", does: says(answer("500 Oops")), outcome: "RETRY" },
  { it: "redirects", does: says(answer("302 Found", ["Location: http://127.0.0.1:1/"])), outcome: "RETRY" },
  { it: "says nothing", does: staysSilent(), outcome: "RETRY" },
  { it: "resets the connection", does: resets(), outcome: "RETRY" },
  { it: "calls the notice wrong", does: says(answer("422 Unprocessable")), outcome: "DEAD" },
  { it: "does not know the sender", does: says(answer("401 Unauthorized")), outcome: "SUSPENDED" },
  { it: "is gone", does: says(answer("410 Gone")), outcome: "SUSPENDED" },
];

for (const { it, does, outcome } of RECEIVERS) {
  Deno.test(`a notice to a receiver that ${it} is answered ${outcome}`, async () => {
    await using database = await testDatabase();
    await using server = await receiver(does);
    await openIncident(database, server.url, { timeout: it === "says nothing" ? "300 ms" : "5 s" });
    assert.equal(await deliver(database.owner), outcome);
    assert.equal(server.posts.length, 1);
  });
}

Deno.test("a notice whose signing secret is missing suspends the channel and is not sent", async () => {
  await using database = await testDatabase();
  await using server = await receiver(says(answer("200 OK")));
  await openIncident(database, server.url, { signing: ["${UPTUPLE_SECRET_HOOK}"] });
  assert.equal(await deliver(database.owner), "SUSPENDED");
  assert.deepEqual(server.requests, []);
});

Deno.test("a receiver that asks for time in seconds gets it", async () => {
  await using database = await testDatabase();
  await using server = await receiver(says(answer("429 Too Many Requests", ["Retry-After: 120"])));
  await openIncident(database, server.url);
  assert.equal(await deliver(database.owner), "PAUSED");
  const seconds = await pausedFor(database.owner);
  assert.ok(seconds > 110 && seconds <= 120, `${seconds} s`);
});

Deno.test("a receiver that asks for time by a date gets it", async () => {
  await using database = await testDatabase();
  const date = new Date(Date.now() + 300_000).toUTCString();
  await using server = await receiver(says(answer("429 Too Many Requests", [`Retry-After: ${date}`])));
  await openIncident(database, server.url);
  assert.equal(await deliver(database.owner), "PAUSED");
  const seconds = await pausedFor(database.owner);
  assert.ok(seconds > 280 && seconds <= 301, `${seconds} s`);
});

Deno.test("a notice whose acknowledgement is lost comes again, and the example receiver has it once", async () => {
  await using database = await testDatabase();
  const sql = database.owner;
  await using example = await startReceiver({ port: 0, url: database.url });
  await openIncident(database, example.url);

  const lost = await claimNotice(sql);
  const options = { secrets: secretStore(() => undefined), signal: new AbortController().signal };
  assert.equal((await sendNotice(lost, options)).status, 200);
  await sql`update uptuple.delivery set due_at = clock_timestamp() where id = ${lost.deliveryId}`;

  assert.equal(await deliver(sql), "DELIVERED");
  await sql`select uptuple.record_health('inventory', 'UP', 'HTTP 200')`;
  assert.equal(await deliver(sql), "DELIVERED");

  const rows = await sql`
    select body::jsonb ->> 'type' as type, body::jsonb #>> '{data,reason}' as reason, posts
    from example_receiver.notice order by arrival`;
  assert.deepEqual(rows.map((row) => [row.type, row.posts]), [["service.failed", 2], ["service.recovered", 1]]);
  assert.equal(rows[0].reason, 'HTTP 503, "café" ${UPTUPLE_SECRET_KEY} 🔥');
});
