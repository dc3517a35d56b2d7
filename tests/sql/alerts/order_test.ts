import assert from "node:assert/strict";
import {
  addChannel,
  answer,
  answerAll,
  claim,
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

/** Lets the receiver refuse the one notice that is ready for good. Returns its delivery. */
async function kill(sql: TestSql): Promise<string> {
  const claimed = await claimOne(sql);
  assert.equal(await answer(sql, claimed, { status: 422 }), "DEAD");
  return claimed.delivery_id;
}

Deno.test("a RECOVERED waits until its FAILED is delivered, however long that is retried", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await recover(owner, "shop");

  const failed = await claimOne(owner);
  assert.deepEqual(await claim(owner), []);
  await answer(owner, failed, { status: 503 });
  assert.deepEqual(await claim(owner), []);
  await passTime(owner, "5 seconds");
  const again = await claimOne(owner);
  assert.equal(again.event_id, failed.event_id);
  await answer(owner, again, { status: 200 });

  assert.equal((await claimOne(owner)).kind, "service.recovered");
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop RECOVERED SENDING"]);
});

Deno.test("three alerts of a flapping service are delivered in their order, one after another", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await recover(owner, "shop");
  await fail(owner, "shop");

  const sent = await answerAll(owner, { status: 202 });

  assert.deepEqual(sent.map((notice) => notice.kind), ["service.failed", "service.recovered", "service.failed"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("other services and other channels are never held", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "cart");
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await fail(owner, "shop");
  await recover(owner, "shop");
  await fail(owner, "cart");

  const claimed = await claim(owner);

  assert.deepEqual(
    claimed.map((notice) => `${notice.channel} ${JSON.parse(notice.request.body).data.service} ${notice.kind}`).sort(),
    ["boss cart service.failed", "boss shop service.failed", "ops cart service.failed", "ops shop service.failed"],
  );
  for (const notice of claimed.filter((each) => each.channel === "ops")) await answer(owner, notice, { status: 422 });
  for (const notice of claimed.filter((each) => each.channel === "boss")) await answer(owner, notice, { status: 200 });
  assert.deepEqual(await deliveries(owner, "shop"), [
    "ops shop FAILED DEAD",
    "boss shop FAILED DELIVERED",
    "ops shop RECOVERED HELD",
    "boss shop RECOVERED READY",
  ]);
});

Deno.test("a dead FAILED holds back the RECOVERED of its incident and nothing else", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await kill(owner);
  await recover(owner, "shop");
  await fail(owner, "shop");
  await recover(owner, "shop");

  const sent = await answerAll(owner, { status: 200 });

  assert.deepEqual(sent.map((notice) => notice.kind), ["service.failed", "service.recovered"]);
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DEAD",
    "ops shop RECOVERED HELD",
    "ops shop FAILED DELIVERED",
    "ops shop RECOVERED DELIVERED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice that dies holds back a RECOVERED that was waiting behind it, and lets a later incident go on", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await recover(owner, "shop");
  await fail(owner, "shop");

  await kill(owner);

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DEAD",
    "ops shop RECOVERED HELD",
    "ops shop FAILED READY",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a dead RECOVERED holds back nothing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await answer(owner, await claimOne(owner), { status: 200 });
  await recover(owner, "shop");
  await kill(owner);

  await fail(owner, "shop");

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "ops shop RECOVERED DEAD",
    "ops shop FAILED READY",
  ]);
});

Deno.test("in a strict channel a dead notice holds back everything later of that service, and no other service", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "cart");
  await addChannel(owner, "ops", { ordering: "strict" });
  await fail(owner, "shop");
  const dead = await kill(owner);
  await recover(owner, "shop");
  await fail(owner, "shop");
  await fail(owner, "cart");

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DEAD",
    "ops shop RECOVERED HELD",
    "ops shop FAILED HELD",
    "ops cart FAILED READY",
  ]);

  await owner`select uptuple.discard_alert(${dead}, 'everybody knows')`;
  assert.deepEqual(await deliveries(owner, "shop"), [
    "ops shop FAILED DISCARDED",
    "ops shop RECOVERED READY",
    "ops shop FAILED WAITING",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a channel that becomes strict holds back at once, and lets go at once when it is no longer", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await kill(owner);
  await recover(owner, "shop");
  await fail(owner, "shop");

  await owner`select uptuple.update_channel('ops', ordering => 'strict')`;
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DEAD",
    "ops shop RECOVERED HELD",
    "ops shop FAILED HELD",
  ]);
  assert.deepEqual(await violations(owner), []);

  await owner`select uptuple.update_channel('ops', ordering => 'incident')`;
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DEAD",
    "ops shop RECOVERED HELD",
    "ops shop FAILED READY",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a requeued notice goes before the later ones of its service that are unsent", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const dead = await kill(owner);
  await recover(owner, "shop");
  await fail(owner, "shop");

  await owner`select uptuple.requeue_alert(${dead})`;

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED READY",
    "ops shop RECOVERED WAITING",
    "ops shop FAILED WAITING",
  ]);
  const sent = await answerAll(owner, { status: 200 });
  assert.deepEqual(sent.map((notice) => notice.kind), ["service.failed", "service.recovered", "service.failed"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a notice that steps behind a requeued one keeps its own back-off", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const dead = await kill(owner);
  await recover(owner, "shop");
  await fail(owner, "shop");
  const later = await claimOne(owner);

  await owner`select uptuple.requeue_alert(${dead})`;
  await answer(owner, later, { status: 503, retry_after: "600" });
  await owner`select uptuple.discard_alert(id, 'known') from uptuple.delivery where state in ('READY', 'WAITING') and id <> ${later.delivery_id}`;

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DISCARDED",
    "ops shop RECOVERED DISCARDED",
    "ops shop FAILED READY",
  ]);
  const seconds = await dueIn(owner, later.delivery_id);
  assert.ok(seconds > 590 && seconds <= 600, `due in ${seconds} s`);
});

Deno.test("a notice that is given back steps behind an older one that was requeued meanwhile", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const dead = await kill(owner);
  await recover(owner, "shop");
  await fail(owner, "shop");
  const later = await claimOne(owner);

  await owner`select uptuple.requeue_alert(${dead})`;
  await owner`select uptuple.release_alerts(${[later.delivery_id]}, ${[later.claim_token]})`;

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED READY",
    "ops shop RECOVERED WAITING",
    "ops shop FAILED WAITING",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a RECOVERED whose sender died is not sent again before its FAILED that was requeued meanwhile", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  const dead = await kill(owner);
  await recover(owner, "shop");
  await owner`select uptuple.discard_alert(${dead}, 'known')`;
  await claimOne(owner);
  await owner`select uptuple.requeue_alert(${dead})`;
  await passTime(owner, "30 seconds");

  const failed = await claimOne(owner);
  assert.equal(failed.kind, "service.failed");
  await answer(owner, failed, { status: 200 });
  const recovered = await claimOne(owner);
  assert.deepEqual([recovered.kind, recovered.attempt], ["service.recovered", 2]);
});
