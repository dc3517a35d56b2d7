import assert from "node:assert/strict";
import { addChannel, answer, claim, claimOne, deliveries, fail, passTime, violations } from "../support/alerts.ts";
import { backendOf, untilBlocked } from "../support/blocked.ts";
import { testDatabase } from "../support/database.ts";
import { addService } from "../support/services.ts";

Deno.test("two claims of one channel: the second waits, and takes what the first has left within four", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  for (const service of ["a", "b", "c", "d", "e", "f"]) {
    await addService(owner, service);
    await fail(owner, service);
  }
  const first = await database.connect();
  const second = await database.connect();
  const secondBackend = await backendOf(second);

  await first`begin`;
  const early = await claim(first, 3);
  const claiming = claim(second, 3);
  await untilBlocked(owner, secondBackend);
  await first`commit`;
  const late = await claiming;

  assert.deepEqual([early.length, late.length], [3, 1]);
  assert.equal(new Set([...early, ...late].map((each) => each.delivery_id)).size, 4);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("two claims of a suspended channel: one probe", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  for (const service of ["a", "b"]) {
    await addService(owner, service);
    await fail(owner, service);
  }
  await answer(owner, (await claim(owner, 1))[0]!, { status: 401 });
  await passTime(owner, "5 minutes");
  const first = await database.connect();
  const second = await database.connect();
  const secondBackend = await backendOf(second);

  await first`begin`;
  assert.equal((await claim(first)).length, 1);
  const claiming = claim(second);
  await untilBlocked(owner, secondBackend);
  await first`commit`;

  assert.deepEqual(await claiming, []);
});

Deno.test("a claim rolls back: the notice is as ready as before, with no attempt spent", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const hasty = await database.connect();

  await hasty`begin`;
  await claimOne(hasty);
  await hasty`rollback`;

  assert.equal((await claimOne(owner)).attempt, 1);
});

Deno.test("a late owner answers while its successor claims: refused, and the successor's answer counts", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const late = await claimOne(owner);
  await passTime(owner, "30 seconds");
  const successor = await database.connect();
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);

  await successor`begin`;
  const heir = await claimOne(successor);
  const answering = answer(courier, late, { status: 200 });
  await untilBlocked(owner, courierBackend);
  await successor`commit`;

  assert.equal(await answering, "REFUSED");
  assert.equal(await answer(successor, heir, { status: 503 }), "RETRY");
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED READY"]);
});

Deno.test("an answer waits for a lock until its lease has ended: refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const claimed = await claimOne(owner);
  const courier = await database.connect();
  const courierBackend = await backendOf(courier);
  const gate = await database.connect();

  await gate`begin`;
  await gate`update uptuple.delivery set due_at = clock_timestamp()`;
  const answering = answer(courier, claimed, { status: 200 });
  await untilBlocked(owner, courierBackend);
  await gate`commit`;

  assert.equal(await answering, "REFUSED");
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED SENDING"]);
});

Deno.test("many couriers claim, answer and give back at once: each notice is delivered once, in the order of its lane", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await owner`
    do $$ begin
      for number in 1..10 loop
        perform uptuple.add_service(name => 's' || number, url => 'http://127.0.0.1:8081/', failure_threshold => 1);
        for round in 1..3 loop
          perform uptuple.record_health('s' || number, 'DOWN');
          perform uptuple.record_health('s' || number, 'UP');
        end loop;
      end loop;
    end $$`;
  const received: { channel: string; service: string; event: string }[] = [];

  await Promise.all(Array.from({ length: 4 }, async (_, courier) => {
    const sql = await database.connect();
    for (let turn = 0;; turn++) {
      const claimed = await claim(sql, 3);
      if (claimed.length === 0) {
        const [{ unsent }] = await sql`select count(*)::int as unsent from uptuple.deliveries_backlog`;
        if (unsent === 0) return;
      }
      for (const each of claimed) {
        if ((turn + courier) % 5 === 0) {
          await sql`select uptuple.release_alerts(${[each.delivery_id]}, ${[each.claim_token]})`;
          continue;
        }
        received.push({
          channel: each.channel,
          service: JSON.parse(each.request.body).data.service,
          event: each.event_id,
        });
        assert.equal(await answer(sql, each, { status: 200 }), "DELIVERED");
      }
    }
  }));

  const expected = await owner`
    select channel.name as channel, event.data ->> 'service' as service, event.event_id as event
    from uptuple.event, uptuple.channel order by event.id`;
  for (const lane of new Set(expected.map((row) => `${row.channel} ${row.service}`))) {
    const inLane = (row: { channel: string; service: string }) => `${row.channel} ${row.service}` === lane;
    assert.deepEqual(
      received.filter(inLane).map((row) => row.event),
      expected.filter((row) => inLane(row as unknown as { channel: string; service: string })).map((row) => row.event),
    );
  }
  assert.equal(received.length, 120);
  assert.deepEqual(await violations(owner), []);
});
