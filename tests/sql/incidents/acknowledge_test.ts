import assert from "node:assert/strict";
import {
  addChannel,
  answerAll,
  claimOne,
  deliveries,
  events,
  fail,
  recover,
  tellDue,
  violations,
} from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService, letTimePass } from "../../support/services.ts";

/** Lets so many minutes pass and has written what is due then. Returns how many notices that were. */
async function after(owner: TestSql, minutes: number): Promise<number> {
  await letTimePass(owner, minutes * 60);
  return await tellDue(owner);
}

Deno.test("a channel is reminded every so often while it is down, with the count and how long it has been down", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await operator`select uptuple.set_reminders('ops', '10 minutes')`;
  const incident = await fail(owner, "shop");
  await answerAll(owner, { status: 200 });

  assert.deepEqual([await tellDue(owner), await after(owner, 9), await tellDue(owner)], [0, 0, 0]);
  assert.deepEqual([await after(owner, 1), await tellDue(owner)], [1, 0]);
  const first = await claimOne(owner);
  const { data } = JSON.parse(first.request.body);
  assert.deepEqual(
    [first.channel, first.kind, data.incident_id, data.reminder, data.severity, Math.floor(data.down_seconds / 60)],
    ["ops", "service.reminder", Number(incident), 1, "critical", 10],
  );
  await owner`select uptuple.finish_alert(${first.delivery_id}, ${first.claim_token}, '{"status": 200}')`;
  assert.deepEqual([await after(owner, 10), await after(owner, 5)], [1, 0]);
  await recover(owner, "shop");
  await answerAll(owner, { status: 200 });
  assert.equal(await after(owner, 60), 0);

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "boss shop FAILED DELIVERED",
    "ops shop REMINDER DELIVERED",
    "ops shop REMINDER DELIVERED",
    "ops shop RECOVERED DELIVERED",
    "boss shop RECOVERED DELIVERED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("after hours in which nobody looked there is one reminder and not one for each that was missed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await owner`select uptuple.set_reminders('ops', '10 minutes')`;
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  await tellDue(owner);

  assert.deepEqual([await after(owner, 300), await tellDue(owner), await after(owner, 9)], [1, 0, 0]);
});

Deno.test("no reminder joins those that a channel has not taken yet", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await owner`select uptuple.set_reminders('ops', '10 minutes')`;
  await fail(owner, "shop");

  assert.deepEqual([await after(owner, 20), await after(owner, 20)], [0, 0]);
  await answerAll(owner, { status: 200 });
  assert.deepEqual([await after(owner, 1), await after(owner, 20), await after(owner, 20)], [1, 0, 0]);
  assert.deepEqual(await deliveries(owner), ["ops shop FAILED DELIVERED", "ops shop REMINDER READY"]);
});

Deno.test("reminders that are switched on, changed or switched off count for incidents that are open", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });
  assert.equal(await after(owner, 60), 0);

  await owner`select uptuple.set_reminders('ops', '30 minutes')`;
  assert.equal(await tellDue(owner), 1);
  await answerAll(owner, { status: 200 });
  await owner`select uptuple.set_reminders('ops', '5 minutes')`;
  assert.deepEqual([await after(owner, 4), await after(owner, 1)], [0, 1]);
  await answerAll(owner, { status: 200 });
  await owner`select uptuple.set_reminders('ops', null)`;
  assert.equal(await after(owner, 60), 0);
  await assert.rejects(async () => await owner`select uptuple.set_reminders('ops', '10 s')`, { code: "22023" });
});

Deno.test("an acknowledgement says who to those who were told, and ends reminders and escalation", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addService(owner, "shop");
  for (const name of ["ops", "boss", "other"]) await addChannel(owner, name);
  await owner`select uptuple.set_reminders('ops', '10 minutes'), uptuple.escalate('boss', '15 minutes'), uptuple.route('other', tags => '{x}')`;
  const incident = await fail(owner, "shop");
  await answerAll(owner, { status: 200 });

  const [acknowledged] = await operator`
    select uptuple.acknowledge('shop', "by" => 'ada', note => 'disk is full') as first,
      uptuple.acknowledge(incident_id => ${incident}) as second`;
  assert.deepEqual({ ...acknowledged }, { first: true, second: false });
  const notice = await claimOne(owner);
  const { data } = JSON.parse(notice.request.body);
  assert.deepEqual(
    [notice.channel, notice.kind, data.incident_id, data.severity, data.acknowledged_by, data.note],
    ["ops", "incident.acknowledged", Number(incident), "info", "ada", "disk is full"],
  );
  assert.equal(await after(owner, 600), 0);
  const [row] = await operator`select acknowledged_by, acknowledged_note, state from uptuple.incidents`;
  assert.deepEqual({ ...row }, { acknowledged_by: "ada", acknowledged_note: "disk is full", state: "OPEN" });

  await owner`select uptuple.finish_alert(${notice.delivery_id}, ${notice.claim_token}, '{"status": 200}')`;
  await recover(owner, "shop");
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "ops shop ACKNOWLEDGED DELIVERED",
    "ops shop RECOVERED READY",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("an acknowledgement is by the login unless a name is given", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  await addService(owner, "shop");
  await fail(owner, "shop");

  const [login] = await operator`select session_user::text as name`;
  await operator`select uptuple.acknowledge('shop')`;
  const [row] = await operator`select acknowledged_by from uptuple.incidents`;
  assert.equal(row.acknowledged_by, login.name);
});

Deno.test("an acknowledgement that is taken back lets reminders and escalation begin anew, and can be given again", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await addChannel(owner, "boss");
  await owner`select uptuple.set_reminders('ops', '10 minutes'), uptuple.escalate('boss', '15 minutes')`;
  await fail(owner, "shop");
  await owner`select uptuple.acknowledge('shop')`;
  await answerAll(owner, { status: 200 });
  assert.equal(await after(owner, 60), 0);

  const [taken] = await owner`select uptuple.unacknowledge('shop') as first, uptuple.unacknowledge('shop') as second`;
  assert.deepEqual({ ...taken }, { first: true, second: false });
  assert.deepEqual([await tellDue(owner), await after(owner, 9), await after(owner, 1)], [0, 0, 1]);
  await answerAll(owner, { status: 200 });
  assert.equal(await after(owner, 5), 1);
  await owner`select uptuple.acknowledge('shop')`;
  assert.deepEqual((await deliveries(owner)).slice(-4), [
    "ops shop REMINDER DELIVERED",
    "boss shop ESCALATED READY",
    "ops shop ACKNOWLEDGED READY",
    "boss shop ACKNOWLEDGED WAITING",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("what is over, and what never was, cannot be acknowledged", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const incident = await fail(owner, "shop");
  await recover(owner, "shop");
  for (
    const [call, code, message] of [
      ["acknowledge('shop')", "UT002", "'shop' has no open incident"],
      [`acknowledge(incident_id => ${incident})`, "UT002", `incident ${incident} is over`],
      ["acknowledge('none')", "UT001", "there is no service named 'none'"],
      ["acknowledge(incident_id => 99)", "UT001", "there is no incident 99"],
      ["acknowledge()", "22023", "give either service or incident_id"],
      ["unacknowledge('shop')", "UT002", "'shop' has no open incident"],
    ] as const
  ) {
    await assert.rejects(owner.unsafe(`select uptuple.${call}`), { code, message }, call);
  }
  assert.equal((await events(owner)).length, 2);
});

Deno.test("a failure that nobody acknowledges is escalated once, and that channel gets reminders and the recovery as well", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "cart");
  for (const name of ["ops", "boss", "sales"]) await addChannel(owner, name);
  await owner`select uptuple.escalate('boss', '15 minutes'), uptuple.escalate('sales', '30 minutes', services => '{cart}')`;
  await owner`select uptuple.set_reminders('boss', '20 minutes')`;
  await fail(owner, "shop");
  await answerAll(owner, { status: 200 });

  assert.deepEqual([await tellDue(owner), await after(owner, 14), await after(owner, 1), await tellDue(owner)], [
    0,
    0,
    1,
    0,
  ]);
  const escalated = await claimOne(owner);
  assert.deepEqual([escalated.channel, escalated.kind], ["boss", "service.escalated"]);
  await owner`select uptuple.finish_alert(${escalated.delivery_id}, ${escalated.claim_token}, '{"status": 200}')`;
  assert.deepEqual([await after(owner, 19), await after(owner, 1)], [0, 1]);
  await recover(owner, "shop");
  await answerAll(owner, { status: 200 });
  assert.equal(await after(owner, 60), 0);

  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED DELIVERED",
    "boss shop ESCALATED DELIVERED",
    "boss shop REMINDER DELIVERED",
    "ops shop RECOVERED DELIVERED",
    "boss shop RECOVERED DELIVERED",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("an escalation that is made while something is down counts from its failure", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  assert.equal(await after(owner, 20), 0);
  await owner`select uptuple.disable_channel('ops')`;
  await addChannel(owner, "boss");
  await owner`select uptuple.escalate('boss', '15 minutes')`;

  assert.equal(await tellDue(owner), 1);
  assert.deepEqual(await deliveries(owner), [
    "ops shop FAILED READY",
    "boss shop FAILED READY",
    "boss shop ESCALATED WAITING",
  ]);
});

Deno.test("a service that is disabled while it is down is not escalated any more", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "boss");
  await owner`select uptuple.escalate('boss', '15 minutes')`;
  await fail(owner, "shop");
  await owner`select uptuple.disable_service('shop')`;

  assert.equal(await after(owner, 60), 0);
  assert.deepEqual(await deliveries(owner), []);
  assert.deepEqual(await violations(owner), []);
});
