import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  answerAll,
  claim,
  claimOne,
  deliveries,
  fail,
  passTime,
  recover,
  violations,
} from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** One service that failed and recovered, and one that is down. */
async function history(owner: TestSql): Promise<void> {
  await addService(owner, "shop");
  await addService(owner, "cart");
  await fail(owner, "shop");
  await recover(owner, "shop");
  await fail(owner, "cart");
}

Deno.test("a new channel gets the FAILED of incidents that are open and nothing else; the rest is listed as superseded", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await history(owner);

  await addChannel(owner, "ops");

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED SUPERSEDED",
    "ops shop RECOVERED SUPERSEDED",
    "ops cart FAILED READY",
  ]);
  const [superseded] =
    await owner`select distinct note, finished_at is not null as finished from uptuple.delivery where state = 'SUPERSEDED'`;
  assert.deepEqual({ ...superseded }, { note: "there was no channel yet", finished: true });
  assert.equal((await claimOne(owner)).kind, "service.failed");
  await recover(owner, "cart");
  assert.equal((await deliveries(owner, "cart")).at(-1), "ops cart RECOVERED WAITING");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a second channel is told of open incidents too, and not of what the first one has had", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await history(owner);
  await answerAll(owner, { status: 200 });

  await addChannel(owner, "boss");

  assert.deepEqual((await deliveries(owner)).filter((line) => line.startsWith("boss")), ["boss cart FAILED READY"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a disabled channel sends nothing; what waits stays, what comes is superseded", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await history(owner);

  const [disabled] = await owner`select uptuple.disable_channel('ops') as done`;
  const [again] = await owner`select uptuple.disable_channel('ops') as done`;
  assert.deepEqual([disabled.done, again.done], [true, false]);
  assert.deepEqual(await claim(owner), []);
  await recover(owner, "cart");

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED READY",
    "ops shop RECOVERED WAITING",
    "ops cart FAILED READY",
    "ops cart RECOVERED SUPERSEDED",
  ]);
  const [note] = await owner`select note from uptuple.delivery where state = 'SUPERSEDED'`;
  assert.equal(note.note, "the channel was disabled");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice that was under way when its channel was disabled can be answered", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await history(owner);
  const [first, second] = await claim(owner);
  await owner`select uptuple.disable_channel('ops')`;

  assert.equal(await answer(owner, first!, { status: 200 }), "DELIVERED");
  assert.equal(await answer(owner, second!, { status: 503 }), "RETRY");
});

Deno.test("a channel that is enabled again gets the FAILED of incidents that are open and nothing else", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await history(owner);
  await owner`select uptuple.disable_channel('ops')`;
  await addService(owner, "desk");
  await fail(owner, "desk");
  await addService(owner, "till");
  await fail(owner, "till");
  await recover(owner, "till");

  const [enabled] = await owner`select uptuple.enable_channel('ops') as done`;
  const [again] = await owner`select uptuple.enable_channel('ops') as done`;

  assert.deepEqual([enabled.done, again.done], [true, false]);
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED SUPERSEDED",
    "ops shop RECOVERED SUPERSEDED",
    "ops cart FAILED READY",
    "ops desk FAILED READY",
    "ops till FAILED SUPERSEDED",
    "ops till RECOVERED SUPERSEDED",
  ]);
  assert.deepEqual((await answerAll(owner, { status: 200 })).map((each) => each.kind), [
    "service.failed",
    "service.failed",
  ]);
  await recover(owner, "desk");
  assert.equal((await deliveries(owner, "desk")).at(-1), "ops desk RECOVERED READY");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a recovery is not told to a channel that was off for both, and it is listed there", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await owner`select uptuple.disable_channel('ops')`;
  await addService(owner, "shop");
  await fail(owner, "shop");
  await recover(owner, "shop");

  await addChannel(owner, "boss");

  assert.deepEqual(await deliveries(owner), ["ops shop FAILED SUPERSEDED", "ops shop RECOVERED SUPERSEDED"]);
});

Deno.test("what a dead sender left behind in a disabled channel is superseded when that is enabled; what is under way is not", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addService(owner, "shop");
  await addService(owner, "cart");
  await fail(owner, "shop");
  await claimOne(owner);
  await passTime(owner, "30 seconds");
  await fail(owner, "cart");
  const [, underWay] = await claim(owner);
  await owner`update uptuple.delivery set due_at = clock_timestamp() where service_id = 1`;
  await owner`select uptuple.disable_channel('ops')`;
  await recover(owner, "shop");
  await recover(owner, "cart");

  await owner`select uptuple.enable_channel('ops')`;

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED SUPERSEDED",
    "ops cart FAILED SENDING",
    "ops shop RECOVERED SUPERSEDED",
    "ops cart RECOVERED SUPERSEDED",
  ]);
  assert.equal(await answer(owner, underWay!, { status: 200 }), "DELIVERED");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("enabling a channel ends its suspension and its pause", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addService(owner, "shop");
  await fail(owner, "shop");
  await answer(owner, await claimOne(owner), { status: 410 });
  await owner`update uptuple.channel set paused_until = clock_timestamp() + interval '1 hour', transient_failures = 4`;
  await owner`select uptuple.disable_channel('ops')`;

  await owner`select uptuple.enable_channel('ops')`;

  const [channel] = await owner`select state, transient_failures from uptuple.channels_health`;
  assert.deepEqual({ ...channel }, { state: "OPEN", transient_failures: 0 });
  assert.equal((await claimOne(owner)).kind, "service.failed");
});

Deno.test("a removed channel frees its name, keeps what it got, and what it did not get is discarded with that reason", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const id = await addChannel(owner, "ops");
  await history(owner);
  const [first, second] = await claim(owner);
  await answer(owner, first!, { status: 200 });

  const [removed] = await owner`select uptuple.remove_channel('ops') as id`;

  assert.equal(removed.id, id);
  assert.equal(await answer(owner, second!, { status: 200 }), "REFUSED");
  const settled = await owner`select state, note from uptuple.delivery order by id`;
  assert.deepEqual([...settled], [
    { state: "DELIVERED", note: null },
    { state: "DISCARDED", note: "the channel was removed" },
    { state: "DISCARDED", note: "the channel was removed" },
  ]);
  await assert.rejects(owner`select uptuple.requeue_alert(${second!.delivery_id})`, {
    code: "UT002",
    message: `the channel of delivery ${second!.delivery_id} was removed`,
  });
  assert.deepEqual([...await owner`select * from uptuple.channels_health`], []);

  assert.notEqual(await addChannel(owner, "ops"), id);
  assert.deepEqual((await deliveries(owner)).at(-1), "ops cart FAILED READY");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel that is changed keeps what is left out, is tried again at once, and its notices go to the new URL", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_channel('ops', 'https://old.example/x', headers => '{"X-Team": "ops"}', max_attempts => 7, timeout => '1 second')`;
  await addService(owner, "shop");
  await fail(owner, "shop");
  await answer(owner, await claimOne(owner), { status: 404 });

  await owner`select uptuple.update_channel('ops', url => 'https://new.example/y', new_name => 'team')`;

  const [channel] = await owner`
    select name, url, headers, max_attempts, timeout_ms, connect_timeout_ms, ordering, suspended_at from uptuple.channel`;
  assert.deepEqual({ ...channel }, {
    name: "team",
    url: "https://new.example/y",
    headers: { "X-Team": "ops" },
    max_attempts: 7,
    timeout_ms: 1000,
    connect_timeout_ms: 1000,
    ordering: "incident",
    suspended_at: null,
  });
  const { request } = await claimOne(owner);
  assert.equal(request.url, "https://new.example/y");
});

Deno.test("a channel that could not be sent to is refused, with the argument and the cure, and nothing is written", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  const before = [...await owner`select * from uptuple.channel`];
  const refusals: Record<string, RegExp> = {
    "name => null": /^name is null/,
    "name => ''": /^name is ''/,
    "name => E'a\\tb'": /^name is E?'a/,
    "name => repeat('x', 201)": /^name is 'x+'/,
    "url => null": /^url is missing/,
    "url => 'ftp://host/'": /^url 'ftp:\/\/host\/' does not start with http/,
    "url => 'https://'": /^url 'https:\/\/' has no host/,
    "url => 'https://host:99999/'": /has the port 99999/,
    "headers => null": /^headers must be a JSON object/,
    "headers => '[]'": /^headers must be a JSON object/,
    [`headers => '{"a b": "c"}'`]: /^headers has the name 'a b'/,
    [`headers => '{"X": "a\\r\\nb: c"}'`]: /^headers has a value for 'X'/,
    [`headers => '{"X": 1}'`]: /^headers has a value for 'X'/,
    [`headers => '{"content-LENGTH": "1"}'`]: /^headers must not set 'content-LENGTH'/,
    [`headers => '{"idempotency-key": "1"}'`]: /^headers must not set 'idempotency-key'/,
    [`headers => '{"Webhook-Id": "1"}'`]: /^headers must not set 'Webhook-Id'/,
    [`headers => '{"webhook-timestamp": "1"}'`]: /^headers must not set 'webhook-timestamp'/,
    [`headers => '{"webhook-signature": "v1,x"}'`]: /^headers must not set 'webhook-signature'/,
    "signing_secrets => null": /^signing_secrets is null/,
    "signing_secrets => '{whsec_secret}'": /^signing_secrets must name secrets of the environment/,
    "signing_secrets => array[null]": /^signing_secrets must name secrets of the environment/,
    "signing_secrets => array_fill('${UPTUPLE_SECRET_A}'::text, '{3}')": /^signing_secrets has 3 keys/,
    "ordering => 'loose'": /^ordering is 'loose'/,
    "ordering => null": /^ordering is null/,
    "max_attempts => 0": /^max_attempts is 0/,
    "max_attempts => 21": /^max_attempts is 21/,
    "timeout => '99 ms'": /^timeout is 00:00:00.099/,
    "timeout => '21 s'": /^timeout is 00:00:21/,
    "timeout => null": /^timeout is null/,
  };

  for (const [argument, message] of Object.entries(refusals)) {
    await t.step(argument, async () => {
      const given = ["name => 'new'", "url => 'https://host/'"].filter((each) =>
        each.split(" ")[0] !== argument.split(" ")[0]
      );
      await assert.rejects(
        owner.unsafe(`select uptuple.add_channel(${[...given, argument].join(", ")})`),
        (error: Error & { code: string; hint?: string }) => {
          assert.equal(error.code, "22023");
          assert.match(error.message, message);
          assert.ok(error.hint);
          return true;
        },
      );
      if (argument.endsWith("null") || argument.startsWith("name")) return;
      await assert.rejects(owner.unsafe(`select uptuple.update_channel('ops', ${argument})`), {
        code: "22023",
        message,
      });
    });
  }
  assert.deepEqual([...await owner`select * from uptuple.channel`], before);
});

Deno.test("a name that is taken is refused, and one that is unknown too", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");

  const taken = { code: "23505", message: "there is already a channel named 'ops'" };
  await assert.rejects(addChannel(owner, "ops"), taken);
  await assert.rejects(owner`select uptuple.update_channel('boss', new_name => 'ops')`, taken);
  for (
    const call of ["enable_channel('sms')", "disable_channel('sms')", "remove_channel('sms')", "update_channel('sms')"]
  ) {
    await assert.rejects(owner.unsafe(`select uptuple.${call}`), {
      code: "UT001",
      message: "there is no channel named 'sms'",
      hint: "select name from uptuple.channels_health lists the channels.",
    });
  }
});

Deno.test("only an operator manages channels", async () => {
  await using database = await testDatabase();
  const worker = await database.connect("uptuple_worker");
  const operator = await database.connect("uptuple_operator");

  await assert.rejects(addChannel(worker, "ops"), { code: "42501" });
  await addChannel(operator, "ops");
  for (const call of ["disable_channel", "enable_channel", "update_channel", "remove_channel"]) {
    await assert.rejects(worker.unsafe(`select uptuple.${call}('ops')`), { code: "42501" });
    await operator.unsafe(`select uptuple.${call}('ops')`);
  }
});

Deno.test("enable_channel opens a channel that is suspended or paused, and answers false for one that is open", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.add_channel('ops', 'http://127.0.0.1:9/')`;
  const enable = async () => (await owner`select uptuple.enable_channel('ops') as enabled`)[0].enabled;
  const state = async () => (await owner`select state from uptuple.channels_health`)[0].state;

  assert.equal(await enable(), false);
  await owner`update uptuple.channel set suspended_at = now(), suspended_reason = 'HTTP 401', probe_at = now()`;
  assert.equal(await state(), "SUSPENDED");
  assert.equal(await enable(), true);
  assert.equal(await state(), "OPEN");
  await owner`update uptuple.channel set paused_until = now() + interval '1 hour'`;
  assert.equal(await state(), "PAUSED");
  assert.equal(await enable(), true);
  assert.equal(await state(), "OPEN");
});
