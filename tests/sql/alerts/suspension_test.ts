import assert from "node:assert/strict";
import {
  addChannel,
  type Answer,
  answer,
  answerAll,
  claim,
  claimOne,
  deliveries,
  passTime,
  record,
  violations,
} from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** Makes that many services fail, so that as many notices are ready. */
async function failMany(owner: TestSql, count: number): Promise<void> {
  for (let number = 1; number <= count; number++) {
    await addService(owner, `service ${number}`, { failureThreshold: 1 });
    await record(owner, `service ${number}`, "DOWN");
  }
}

async function channel(owner: TestSql): Promise<Record<string, unknown>> {
  const [row] = await owner`
    select state, suspended_reason, transient_failures, extract(epoch from next_probe_at - clock_timestamp())::float as probe_in
    from uptuple.channels_health`;
  return { ...row };
}

async function attempts(owner: TestSql): Promise<number[]> {
  const rows = await owner`select attempts from uptuple.delivery order by id`;
  return rows.map((row) => row.attempts);
}

const refusals: { name: string; response: Answer; reason: string }[] = [
  { name: "401", response: { status: 401, excerpt: "who are you?" }, reason: "HTTP 401: who are you?" },
  {
    name: "a missing secret",
    response: { error: { code: "secret.missing", message: "UPTUPLE_SECRET_OPS is not set" } },
    reason: "UPTUPLE_SECRET_OPS is not set",
  },
];

for (const { name, response, reason } of refusals) {
  Deno.test(`${name} suspends the channel: its notices wait, spend no attempt, and people are told`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    await addChannel(owner, "ops");
    await failMany(owner, 2);
    const [first] = await claim(owner, 1);

    assert.equal(await answer(owner, first!, response), "SUSPENDED");

    const { state, suspended_reason } = await channel(owner);
    assert.deepEqual([state, suspended_reason], ["SUSPENDED", reason]);
    assert.deepEqual(await attempts(owner), [0, 0]);
    assert.deepEqual(await claim(owner), []);
    const [problem] = await owner`select severity, problem from uptuple.problems where problem like '%suspended%'`;
    assert.deepEqual({ ...problem }, { severity: "error", problem: `The channel ops is suspended: ${reason}` });
    const waiting = await owner`select waits_because from uptuple.deliveries_backlog`;
    assert.deepEqual(
      [...waiting].map((row) => row.waits_because),
      Array(2).fill(`the channel is suspended: ${reason}`),
    );
    assert.deepEqual(await violations(owner), []);
  });
}

Deno.test("a suspended channel is probed with one notice every five minutes, which spends no attempt", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 3);
  const [first] = await claim(owner, 1);
  await answer(owner, first!, { status: 401 });

  for (const response of [{ status: 401 }, { status: 503 }, { error: { code: "connect.timeout" } }, { status: 503 }]) {
    await passTime(owner, "4 minutes 50 seconds");
    assert.deepEqual(await claim(owner), []);
    await passTime(owner, "10 seconds");
    const probe = await claimOne(owner);
    assert.deepEqual(await claim(owner), []);
    await answer(owner, probe, response);
    const { state, probe_in } = await channel(owner);
    assert.equal(state, "SUSPENDED");
    assert.ok(probe_in as number > 290 && probe_in as number <= 300, `next probe in ${probe_in} s`);
  }
  assert.deepEqual(await attempts(owner), [0, 0, 0]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a probe that is accepted opens the channel, and everything that waited goes out", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 6);
  const [first] = await claim(owner, 1);
  await answer(owner, first!, { status: 403 });
  await passTime(owner, "5 minutes");

  await answer(owner, await claimOne(owner), { status: 204 });

  assert.equal((await channel(owner)).state, "OPEN");
  assert.equal((await claim(owner)).length, 4);
});

Deno.test("a crash in the middle of a probe spends an attempt, and the next probe comes in its time", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 1);
  await answer(owner, await claimOne(owner), { status: 401 });
  await passTime(owner, "5 minutes");
  await claimOne(owner);

  await passTime(owner, "30 seconds");
  assert.deepEqual(await claim(owner), []);
  await passTime(owner, "4 minutes 30 seconds");
  assert.equal((await claimOne(owner)).attempt, 2);
});

Deno.test("five transient failures in a row over its notices suspend a channel, and no notice is spent on it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 8);

  const [a, b, c, d] = await claim(owner);
  for (const each of [a, b, c]) await answer(owner, each!, { error: { code: "dns", message: "no such host" } });
  const [e, f, g] = await claim(owner);
  assert.equal((await channel(owner)).state, "OPEN");
  for (const each of [d, e, f, g]) await answer(owner, each!, { error: { code: "dns", message: "no such host" } });

  const { state, suspended_reason, transient_failures } = await channel(owner);
  assert.deepEqual([state, transient_failures], ["SUSPENDED", 7]);
  assert.equal(suspended_reason, "5 failures in a row, the last one: no such host");
  // The fifth suspends and still counts; what came after it does not.
  assert.deepEqual(await attempts(owner), [1, 1, 1, 1, 1, 0, 0, 0]);
});

for (
  const { name, response } of [{ name: "an accepted notice", response: { status: 200 } }, {
    name: "a refused notice",
    response: { status: 422 },
  }]
) {
  Deno.test(`${name} shows that the channel works: failures are counted anew`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    await addChannel(owner, "ops");
    await failMany(owner, 6);

    for (const each of await claim(owner)) await answer(owner, each, { status: 502 });
    const [fifth, sixth] = await claim(owner);
    await answer(owner, fifth!, response);
    assert.equal((await channel(owner)).transient_failures, 0);
    await answer(owner, sixth!, { status: 502 });

    assert.deepEqual([(await channel(owner)).state, (await channel(owner)).transient_failures], ["OPEN", 1]);
  });
}

Deno.test("a pause is no failure: 429 between failures neither counts nor counts anew", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 4);
  const [a, b, c, d] = await claim(owner);

  await answer(owner, a!, { status: 500 });
  await answer(owner, b!, { status: 429, retry_after: "1" });
  await answer(owner, c!, { status: 500 });
  await answer(owner, d!, { status: 429, retry_after: "1" });

  assert.deepEqual([(await channel(owner)).state, (await channel(owner)).transient_failures], ["PAUSED", 2]);
});

Deno.test("two minutes without network kill at most one notice of many, and all others arrive", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 20);

  for (let second = 0; second < 120; second += 4) {
    for (const each of await claim(owner)) await answer(owner, each, { error: { code: "connect.unreachable" } });
    await passTime(owner, "4 seconds");
  }
  const [{ dead }] = await owner`select count(*) filter (where state = 'DEAD')::int as dead from uptuple.delivery`;
  assert.ok(dead <= 1, `${dead} are dead`);

  await passTime(owner, "5 minutes");
  await answerAll(owner, { status: 200 });
  await answerAll(owner, { status: 200 });
  const [{ delivered }] =
    await owner`select count(*) filter (where state = 'DELIVERED')::int as delivered from uptuple.delivery`;
  assert.equal(delivered, 20 - dead);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("two minutes without network kill at most the one notice that there is, with its last attempt", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 1);

  for (let second = 0; second < 120; second += 4) {
    for (const each of await claim(owner)) await answer(owner, each, { error: { code: "connect.unreachable" } });
    await passTime(owner, "4 seconds");
  }
  await addService(owner, "later", { failureThreshold: 1 });
  await record(owner, "later", "DOWN");

  assert.deepEqual(await deliveries(owner), ["ops service 1 FAILED DEAD", "ops later FAILED READY"]);
  assert.equal((await channel(owner)).state, "SUSPENDED");
});
