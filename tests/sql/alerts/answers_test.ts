import assert from "node:assert/strict";
import {
  addChannel,
  type Answer,
  answer,
  claim,
  type ClaimedAlert,
  claimOne,
  deliveries,
  dueIn,
  fail,
  passTime,
  violations,
} from "../../support/alerts.ts";
import { type TestDatabase, testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** A database with one failed service and one channel, whose notice is ready. */
async function oneNotice(options: { maxAttempts?: number } = {}): Promise<TestDatabase> {
  const database = await testDatabase();
  await addService(database.owner, "shop");
  await addChannel(database.owner, "ops", options);
  await fail(database.owner, "shop");
  return database;
}

/** Makes another service fail, so that another notice is ready. */
async function anotherNotice(owner: TestSql, service: string): Promise<void> {
  await addService(owner, service);
  await fail(owner, service);
}

async function finishMany(
  sql: TestSql,
  ...answers: { delivery_id: string; claim_token: string; response: Answer }[]
): Promise<string[]> {
  const rows = await sql`select outcome from uptuple.finish_alerts(${sql.json(answers)})`;
  return rows.map((row) => row.outcome);
}

Deno.test("2xx is delivered, what no retry can mend is dead at once, the rest is for later", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const meanings: Record<string, number[]> = {
    DELIVERED: [200, 201, 202, 204, 299],
    DEAD: [400, 409, 413, 415, 422],
    SUSPENDED: [401, 403, 404, 405, 410],
    PAUSED: [429],
    RETRY: [0, 100, 199, 300, 301, 302, 303, 307, 308, 402, 406, 408, 418, 425, 426, 451, 500, 502, 503, 504, 599, 999],
  };

  for (const [meaning, statuses] of Object.entries(meanings)) {
    const judged = await owner`
      select status, uptuple.judge_response(jsonb_build_object('status', status)) as meaning
      from unnest(${statuses}::integer[]) status`;
    assert.deepEqual(judged.map((row) => [row.status, row.meaning]), statuses.map((status) => [status, meaning]));
  }
});

Deno.test("no answer, and an answer that is none, are for later, and a missing secret is the channel's fault", async () => {
  await using database = await testDatabase();
  const judge = async (response: string): Promise<string> => {
    const [row] = await database.owner`select uptuple.judge_response(${response}::text::jsonb) as meaning`;
    return row.meaning;
  };

  for (
    const response of [
      '{"error": {"code": "connect.refused"}}',
      "{}",
      "null",
      "[]",
      '"ok"',
      "7",
      '{"status": "200"}',
      '{"status": null}',
    ]
  ) {
    assert.equal(await judge(response), "RETRY", response);
  }
  assert.equal(await judge('{"error": {"code": "secret.missing"}}'), "SUSPENDED");
});

Deno.test("an accepted notice is delivered, with what its receiver said kept as evidence", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  const worker = await database.connect("uptuple_worker");

  const claimed = await claimOne(worker);
  assert.equal(
    await answer(worker, claimed, { status: 202, excerpt: "thank \u0007you", latency_ms: 12.5 }),
    "DELIVERED",
  );

  const [row] = await owner`
    select state, claim_token, last_status, last_answer, finished_at > created_at as finished from uptuple.delivery`;
  assert.deepEqual({ ...row }, {
    state: "DELIVERED",
    claim_token: null,
    last_status: 202,
    last_answer: "thank \ufffdyou",
    finished: true,
  });
  const [evidence] =
    await owner`select attempt, worker, outcome, status, latency_ms, answer from uptuple.delivery_attempt`;
  assert.deepEqual({ ...evidence }, {
    attempt: 1,
    worker: "courier",
    outcome: "DELIVERED",
    status: 202,
    latency_ms: 12.5,
    answer: "thank \ufffdyou",
  });
});

Deno.test("five attempts, 5, 10, 20 and 40 s apart, then dead", async () => {
  await using database = await oneNotice();
  const { owner } = database;

  for (const backOff of [5, 10, 20, 40]) {
    assert.equal(await answer(owner, await claimOne(owner), { status: 503 }), "RETRY");
    const seconds = await dueIn(owner);
    assert.ok(seconds > backOff - 3 && seconds <= backOff, `due in ${seconds} s, not ${backOff} s`);
    assert.deepEqual(await claim(owner), []);
    await passTime(owner, `${backOff} seconds`);
  }
  const fifth = await claimOne(owner);
  assert.equal(fifth.attempt, 5);
  assert.equal(
    await answer(owner, fifth, { error: { code: "timeout.headers", message: "no answer in 10 s" } }),
    "DEAD",
  );

  const [dead] = await owner`select kind, service, attempts, last_status, last_answer from uptuple.dead_deliveries`;
  assert.deepEqual({ ...dead }, {
    kind: "service.failed",
    service: "shop",
    attempts: 5,
    last_status: null,
    last_answer: "no answer in 10 s",
  });
  const evidence = await owner`select attempt, outcome from uptuple.delivery_attempt order by id`;
  assert.deepEqual(
    evidence.map((row) => `${row.attempt} ${row.outcome}`),
    ["1 RETRY", "2 RETRY", "3 RETRY", "4 RETRY", "5 DEAD"],
  );
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel has as many attempts as it says, and no back-off is longer than 300 s", async () => {
  await using database = await oneNotice({ maxAttempts: 20 });
  const { owner } = database;
  await owner`update uptuple.delivery set attempts = 18`;

  const nineteenth = await claimOne(owner);
  assert.equal(await answer(owner, nineteenth, { status: 500 }), "RETRY");
  const seconds = await dueIn(owner);
  assert.ok(seconds > 297 && seconds <= 300, `due in ${seconds} s`);

  await passTime(owner, "300 seconds");
  assert.equal(await answer(owner, await claimOne(owner), { status: 500 }), "DEAD");
});

Deno.test("an answer that no retry can mend kills the notice at once, and its channel goes on", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await anotherNotice(owner, "cart");

  const [first, second] = await claim(owner);
  assert.equal(await answer(owner, first!, { status: 422, excerpt: "no" }), "DEAD");
  assert.equal(await answer(owner, second!, { status: 200 }), "DELIVERED");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DEAD", "ops cart FAILED DELIVERED"]);
  const [channel] = await owner`select state, transient_failures, last_failure from uptuple.channels_health`;
  assert.deepEqual({ ...channel }, { state: "OPEN", transient_failures: 0, last_failure: "HTTP 422: no" });
});

Deno.test("Retry-After is read as seconds or as any of the three forms of a date, up to an hour", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner.unsafe("set timezone = 'America/New_York'; set datestyle = 'SQL, DMY'");
  const seconds = async (header: string | null): Promise<number | null> => {
    const [row] = await owner`select round(extract(epoch from uptuple.retry_after(${header})))::int as seconds`;
    return row.seconds;
  };
  const inTwoMinutes = async (form: string): Promise<number | null> => {
    const [row] =
      await owner`select to_char(clock_timestamp() at time zone 'UTC' + interval '120.5 s', ${form}) as header`;
    return await seconds(row.header);
  };

  assert.equal(await seconds("120"), 120);
  assert.equal(await seconds(" 0 "), 0);
  assert.equal(await seconds("86400"), 3600);
  assert.equal(await seconds("99999999999999999999"), 3600);
  for (
    const form of ['Dy, DD Mon YYYY HH24:MI:SS "GMT"', 'FMDay, DD-Mon-YY HH24:MI:SS "GMT"', "Dy Mon DD HH24:MI:SS YYYY"]
  ) {
    const read = await inTwoMinutes(form);
    assert.ok(read !== null && read >= 118 && read <= 121, `${form} is read as ${read} s`);
  }
  assert.equal(await seconds("Sun, 06 Nov 1994 08:49:37 GMT"), 0);
  assert.equal(await seconds("Thu, 01 Jan 2099 00:00:00 GMT"), 3600);
  const unreadable = [
    null,
    "",
    "soon",
    "-5",
    "1.5",
    "1e3",
    "Mon, 99 Zzz 2026 99:99:99 GMT",
    "Mon, infinity is a long time",
    "'; select 1",
  ];
  for (const header of unreadable) assert.equal(await seconds(header), null, String(header));
});

Deno.test("Retry-After can move a retry later and never earlier", async () => {
  await using database = await oneNotice();
  const { owner } = database;

  await answer(owner, await claimOne(owner), { status: 503, retry_after: "120" });
  const later = await dueIn(owner);
  assert.ok(later > 117 && later <= 120, `due in ${later} s`);

  await passTime(owner, "120 seconds");
  await answer(owner, await claimOne(owner), { status: 503, retry_after: "1" });
  const notEarlier = await dueIn(owner);
  assert.ok(notEarlier > 7 && notEarlier <= 10, `due in ${notEarlier} s`);

  await passTime(owner, "10 seconds");
  await answer(owner, await claimOne(owner), { status: 503, retry_after: "999999" });
  const capped = await dueIn(owner);
  assert.ok(capped > 3590 && capped <= 3600, `due in ${capped} s`);
});

for (
  const { form, header, seconds } of [
    { form: "seconds", header: "'120'", seconds: 120 },
    {
      form: "a date",
      header: `to_char(clock_timestamp() at time zone 'UTC' + interval '121 s', 'Dy, DD Mon YYYY HH24:MI:SS "GMT"')`,
      seconds: 120,
    },
    { form: "nothing", header: "null", seconds: 60 },
  ]
) {
  Deno.test(`429 with ${form} in Retry-After pauses the channel and spends nothing`, async () => {
    await using database = await oneNotice();
    const { owner } = database;
    const claimed = await claimOne(owner);
    await anotherNotice(owner, "cart");
    const [retry] = await owner.unsafe(`select ${header} as after`);

    assert.equal(
      await answer(owner, claimed, { status: 429, ...(retry!.after === null ? {} : { retry_after: retry!.after }) }),
      "PAUSED",
    );

    const [row] = await owner`
      select attempts, delivery.state, channels_health.state as channel, extract(epoch from paused_until - clock_timestamp())::float as pause
      from uptuple.delivery, uptuple.channels_health where delivery.id = ${claimed.delivery_id}`;
    assert.deepEqual([row.attempts, row.state, row.channel], [0, "READY", "PAUSED"]);
    assert.ok(row.pause > seconds - 4 && row.pause <= seconds + 1, `paused for ${row.pause} s`);
    assert.deepEqual(await claim(owner), []);

    await passTime(owner, `${seconds + 1} seconds`);
    assert.equal((await claim(owner)).length, 2);
  });
}

Deno.test("a pause stands: no answer to a post that was under way ends or shortens it", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await anotherNotice(owner, "cart");
  await anotherNotice(owner, "desk");
  await anotherNotice(owner, "till");
  const [first, second, third, fourth] = await claim(owner);

  await answer(owner, first!, { status: 429, retry_after: "120" });
  await answer(owner, second!, { status: 200 });
  await answer(owner, third!, { status: 429, retry_after: "1" });
  await answer(owner, fourth!, { status: 422 });

  const [channel] =
    await owner`select state, extract(epoch from paused_until - clock_timestamp())::float as pause from uptuple.channels_health`;
  assert.equal(channel.state, "PAUSED");
  assert.ok(channel.pause > 110, `paused for ${channel.pause} s`);
});

Deno.test("a repeated report is a DUPLICATE, and changes nothing", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  const claimed = await claimOne(owner);
  await answer(owner, claimed, { status: 503 });
  const [before] = await owner`select * from uptuple.delivery`;

  assert.equal(await answer(owner, claimed, { status: 200 }), "DUPLICATE");

  const [after] = await owner`select * from uptuple.delivery`;
  assert.deepEqual(after, before);
});

Deno.test("a report with another token, or of no delivery, is REFUSED and changes nothing", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  const claimed = await claimOne(owner);
  const [before] = await owner`select * from uptuple.delivery`;

  assert.equal(await answer(owner, { ...claimed, claim_token: crypto.randomUUID() }, { status: 200 }), "REFUSED");
  assert.equal(await answer(owner, { ...claimed, delivery_id: "4711" }, { status: 200 }), "REFUSED");

  const [after] = await owner`select * from uptuple.delivery`;
  assert.deepEqual(after, before);
  const [channel] = await owner`select last_success_at, last_failure_at from uptuple.channel`;
  assert.deepEqual({ ...channel }, { last_success_at: null, last_failure_at: null });
});

Deno.test("a batch of reports answers for each in its order, the same one twice included", async () => {
  await using database = await oneNotice();
  const { owner } = database;
  await anotherNotice(owner, "cart");
  await anotherNotice(owner, "desk");
  const [shop, cart, desk] = await claim(owner) as [ClaimedAlert, ClaimedAlert, ClaimedAlert];
  const pick = ({ delivery_id, claim_token }: ClaimedAlert) => ({ delivery_id, claim_token });

  const outcomes = await finishMany(
    owner,
    { ...pick(desk), response: { status: 503 } },
    { ...pick(shop), response: { status: 200 } },
    { ...pick(shop), response: { status: 500 } },
    { ...pick(cart), claim_token: crypto.randomUUID(), response: { status: 200 } },
    { ...pick(cart), response: { status: 422 } },
  );

  assert.deepEqual(outcomes, ["RETRY", "DELIVERED", "DUPLICATE", "REFUSED", "DEAD"]);
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "ops cart FAILED DEAD",
    "ops desk FAILED READY",
  ]);
});

Deno.test("reports that are no list are refused with the cure", async () => {
  await using database = await testDatabase();

  for (const answers of ["null", "{}", '"x"', null]) {
    await assert.rejects(database.owner`select * from uptuple.finish_alerts(${answers}::text::jsonb)`, {
      code: "22023",
      message: "answers must be a JSON array",
      hint: /^Give \[\{"delivery_id": 1/,
    });
  }
});

Deno.test("hostile answers break no report", async () => {
  await using database = await oneNotice({ maxAttempts: 20 });
  const { owner } = database;
  const hostile = [
    '{"status": 1e30}',
    '{"status": -99999999999}',
    '{"status": 503.7, "latency_ms": -1e300}',
    '{"status": 500, "latency_ms": "fast", "retry_after": {"a": [1]}}',
    `{"status": 500, "excerpt": ${JSON.stringify(`"'\\ \u0001 💥` + "z".repeat(1_000_000))}}`,
    '{"error": "a string"}',
    '{"error": {"message": ["a list"]}}',
    "null",
  ];

  for (const response of hostile) {
    await owner`update uptuple.channel set transient_failures = 0`;
    await owner`update uptuple.delivery set due_at = clock_timestamp()`;
    const claimed = await claimOne(owner);
    const [row] =
      await owner`select uptuple.finish_alert(${claimed.delivery_id}, ${claimed.claim_token}, ${response}::text::jsonb) as outcome`;
    assert.equal(row.outcome, "RETRY", response.slice(0, 80));
  }
  const [longest] = await owner`select max(length(answer)) as length from uptuple.delivery_attempt`;
  assert.equal(longest.length, 512);
});
