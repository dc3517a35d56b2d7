import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  claim,
  type ClaimedAlert,
  claimOne,
  deliveries,
  dueIn,
  fail,
  passTime,
  recover,
  violations,
} from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** Makes that many services fail, in one call. */
async function failMany(owner: TestSql, count: number): Promise<void> {
  await owner`
    select uptuple.add_service(name => 'service ' || number, url => 'http://127.0.0.1:8081/', failure_threshold => 1)
    from generate_series(1, ${count}::integer) number`;
  await owner`select uptuple.record_health('service ' || number, 'DOWN') from generate_series(1, ${count}::integer) number`;
}

async function release(sql: TestSql, ...claimed: Pick<ClaimedAlert, "delivery_id" | "claim_token">[]): Promise<number> {
  const [row] = await sql`
    select uptuple.release_alerts(${claimed.map((each) => each.delivery_id)}::bigint[], ${
    claimed.map((each) => each.claim_token)
  }::uuid[]) as count`;
  return row.count;
}

async function attempts(owner: TestSql): Promise<number> {
  const [row] = await owner`select attempts from uptuple.delivery`;
  return row.attempts;
}

Deno.test("a claim leases a notice to one worker for 30 s with a fresh token, and counts the attempt", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const worker = await database.connect("uptuple_worker");
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");

  const [claimed, ...others] = await worker<ClaimedAlert[]>`select * from uptuple.claim_alert('courier')`;

  assert.deepEqual(others, []);
  assert.equal(claimed!.attempt, 1);
  assert.equal(claimed!.lease_ms, 30_000);
  const [row] = await owner`select state, claim_token, worker, attempts from uptuple.delivery`;
  assert.deepEqual({ ...row }, { state: "SENDING", claim_token: claimed!.claim_token, worker: "courier", attempts: 1 });
  const seconds = await dueIn(owner);
  assert.ok(seconds > 25 && seconds <= 30, `leased for ${seconds} s`);
  assert.deepEqual(await claim(owner), []);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a crash after the claim spends an attempt, and the next claim has a token of its own", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");

  const lost = await claimOne(owner);
  await passTime(owner, "30 seconds");
  const heir = await claimOne(owner);

  assert.equal(heir.attempt, 2);
  assert.notEqual(heir.claim_token, lost.claim_token);
  assert.equal(await answer(owner, lost, { status: 200 }), "REFUSED");
  assert.equal(await answer(owner, heir, { status: 200 }), "DELIVERED");
});

Deno.test("an expired delivery lease cannot be acknowledged, also before anybody else has claimed it", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const late = await claimOne(owner);

  await passTime(owner, "30 seconds");
  assert.equal(await answer(owner, late, { status: 200 }), "REFUSED");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED SENDING"]);
  const [{ count }] = await owner`select count(*)::int from uptuple.delivery_attempt`;
  assert.equal(count, 0);
});

for (const finder of ["claim_alerts('courier', 10)", "sweep()"]) {
  Deno.test(`a notice whose last lease ran out is dead, found by ${finder}`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    await addService(owner, "shop");
    await addChannel(owner, "ops", { maxAttempts: 2 });
    await fail(owner, "shop");
    await recover(owner, "shop");
    await claimOne(owner);
    await passTime(owner, "30 seconds");
    const last = await claimOne(owner);
    await passTime(owner, "30 seconds");

    const found = await owner.unsafe(`select * from uptuple.${finder}`);

    if (finder === "sweep()") assert.equal(found[0]!.alerts_buried, 1);
    else assert.deepEqual([...found], []);
    assert.deepEqual(await deliveries(owner), ["ops shop FAILED DEAD", "ops shop RECOVERED HELD"]);
    const [evidence] = await owner`select attempt, worker, outcome, answer from uptuple.delivery_attempt`;
    assert.deepEqual({ ...evidence }, {
      attempt: 2,
      worker: "courier",
      outcome: "DEAD",
      answer: "the last lease ended without an answer",
    });
    assert.equal(await answer(owner, last, { status: 200 }), "REFUSED");
    assert.deepEqual(await violations(owner), []);
  });
}

Deno.test("a notice that was not started is given back with its attempt, and is ready at once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const worker = await database.connect("uptuple_worker");
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");

  const claimed = await claimOne(worker);
  assert.equal(await release(worker, claimed), 1);

  assert.equal(await attempts(owner), 0);
  const again = await claimOne(worker);
  assert.equal(again.attempt, 1);
  assert.equal(await answer(worker, claimed, { status: 200 }), "REFUSED");
});

Deno.test("only who holds the lease can give back, once, and while it lasts", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const claimed = await claimOne(owner);

  assert.equal(await release(owner, { ...claimed, claim_token: crypto.randomUUID() }), 0);
  assert.equal(await release(owner, { ...claimed, delivery_id: "4711" }), 0);
  assert.equal(await release(owner, claimed, claimed), 1);
  assert.equal(await release(owner, claimed), 0);
  assert.equal(await attempts(owner), 0);

  const expired = await claimOne(owner);
  await passTime(owner, "30 seconds");
  assert.equal(await release(owner, expired), 0);
  assert.equal(await attempts(owner), 1);
  await assert.rejects(owner`select uptuple.release_alerts('{1,2}', array[gen_random_uuid()])`, {
    code: "22023",
    message: "delivery_ids has 2 entries and claim_tokens has 1",
  });
});

Deno.test("at most four posts of a channel are under way, however many claim at once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 12);
  const couriers = await Promise.all(Array.from({ length: 5 }, () => database.connect("uptuple_worker")));

  const claims = (await Promise.all(couriers.map((courier) => claim(courier, 3)))).flat();

  assert.equal(claims.length, 4);
  assert.equal(new Set(claims.map((each) => each.delivery_id)).size, 4);
  assert.equal(new Set(claims.map((each) => each.claim_token)).size, 4);
  assert.deepEqual(await violations(owner), []);
  await answer(owner, claims[0]!, { status: 200 });
  await answer(owner, claims[1]!, { status: 503 });
  assert.equal((await claim(owner)).length, 2);
});

Deno.test("a post whose lease ended is no longer under way", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await failMany(owner, 6);
  await claim(owner);

  await passTime(owner, "30 seconds");

  assert.equal((await claim(owner)).length, 4);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("each channel has posts under way of its own", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await failMany(owner, 6);

  const claimed = await claim(owner, 6);
  const rest = await claim(owner, 100);

  assert.deepEqual([claimed.length, rest.length], [6, 2]);
  assert.equal([...claimed, ...rest].filter((each) => each.channel === "ops").length, 4);
});

Deno.test("a claim that makes no sense is refused with the cure", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const nonsense = [
    { worker: "courier", max: 0, message: "max_alerts is 0, and must be between 1 and 1000" },
    { worker: "courier", max: 1001, message: "max_alerts is 1001, and must be between 1 and 1000" },
    { worker: "courier", max: null, message: "max_alerts is null, and must be between 1 and 1000" },
    { worker: "", max: 1, message: /^worker is ''/ },
    { worker: null, max: 1, message: /^worker is null/ },
  ];

  for (const { worker, max, message } of nonsense) {
    await assert.rejects(
      owner`select * from uptuple.claim_alerts(${worker}, ${max})`,
      (error: Error & { code: string; hint: string }) => {
        assert.equal(error.code, "22023");
        assert.match(error.message, typeof message === "string" ? new RegExp(`^${message}$`) : message);
        assert.ok(error.hint);
        return true;
      },
    );
  }
});

Deno.test("a viewer cannot claim, answer or give back", async () => {
  await using database = await testDatabase();
  const viewer = await database.connect("uptuple_viewer");
  const token = crypto.randomUUID();

  await assert.rejects(claim(viewer), { code: "42501" });
  await assert.rejects(answer(viewer, { delivery_id: "1", claim_token: token }, { status: 200 }), { code: "42501" });
  await assert.rejects(release(viewer, { delivery_id: "1", claim_token: token }), { code: "42501" });
});

for (const statistics of ["of before they came", "that are fresh", "of when there were none"]) {
  Deno.test(`claims, answers and give-backs do not look at what is blocked, suspended or sent, with statistics ${statistics}`, async () => {
    await using database = await testDatabase();
    const { owner } = database;
    await addChannel(owner, "ops");
    await addChannel(owner, "quiet");
    await owner`alter table uptuple.delivery set (autovacuum_enabled = false)`;
    await owner`alter table uptuple.event set (autovacuum_enabled = false)`;
    if (statistics === "of when there were none") await owner`analyze uptuple.delivery, uptuple.event`;
    await failMany(owner, 10);
    await owner`select uptuple.discard_alert(id, 'known') from uptuple.delivery where channel_id = 2 or service_id = 1`;
    await owner`
      update uptuple.channel
      set suspended_at = clock_timestamp(), suspended_reason = 'HTTP 401', probe_at = clock_timestamp() + interval '5 minutes'
      where name = 'quiet'`;
    if (statistics === "of before they came") await owner`analyze uptuple.delivery, uptuple.event`;
    await owner`set session_replication_role = replica`;
    await owner`
      with many as (
        insert into uptuple.event (kind, service_id, incident_id, dedupe_key, occurred_at, data)
        select 'service.failed', 1, 1, 'test:' || number, clock_timestamp(), '{}' from generate_series(1, 12000) number
        returning id
      )
      insert into uptuple.delivery (event_number, channel_id, service_id, incident_id, state, finished_at)
      select id, case id % 3 when 2 then 2 else 1 end, case when id % 3 < 2 then 1 end, 1,
        (array['DELIVERED', 'WAITING', 'READY'])[id % 3 + 1], case when id % 3 = 0 then clock_timestamp() end
      from many`;
    await owner`reset session_replication_role`;
    if (statistics === "that are fresh") await owner`analyze uptuple.delivery, uptuple.event`;
    const buffers = async (call: string): Promise<number> => {
      const [row] = await owner.unsafe(`explain (analyze, buffers, format json) select * from uptuple.${call}`);
      const plan = row!["QUERY PLAN"][0].Plan;
      return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    };
    const affordable = async (call: string) => {
      const count = await buffers(call);
      assert.ok(count < 260, `${call} looks at ${count} pages`);
    };

    const [warm, back] = await claim(owner, 2);
    await answer(owner, warm!, { status: 200 });
    await release(owner, back!);
    await affordable("claim_alerts('courier', 1)");
    const [sending] = await owner`select id, claim_token from uptuple.delivery where state = 'SENDING'`;
    await affordable(`finish_alert(${sending.id}, '${sending.claim_token}', '{"status": 503}')`);
    const [given] = await claim(owner, 1);
    await affordable(`release_alerts('{${given!.delivery_id}}', '{${given!.claim_token}}')`);
  });
}
