import assert from "node:assert/strict";
import { addChannel, answerAll, deliveries, record, tellDue, violations } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService, letTimePass } from "../../support/services.ts";

/** Services that are up, told to the channel `ops`. */
async function addUp(owner: TestSql, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, each) => `service ${each + 1}`);
  for (const name of names) {
    await addService(owner, name);
    await record(owner, name, "UP");
  }
  await addChannel(owner, "ops");
  return names;
}

/** Lets so many seconds pass in which somebody looked all the time, and looks. Returns how many notices were written. */
async function watchFor(owner: TestSql, seconds: number): Promise<number> {
  await letTimePass(owner, seconds);
  await owner`update uptuple.service set updated_at = updated_at - make_interval(secs => ${seconds})`;
  await owner`
    update uptuple.silence_watch
    set looked_at = clock_timestamp() - interval '31 seconds', watching_since = watching_since - make_interval(secs => ${seconds})`;
  return await tellDue(owner);
}

/** What the notices that wait to be sent say. */
async function said(owner: TestSql): Promise<Record<string, unknown>[]> {
  return (await answerAll(owner, { status: 200 })).map((notice) => JSON.parse(notice.request.body).data);
}

Deno.test("a service without a verdict for three intervals, at least two minutes, is told as unknown once, and as known when it has one", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addUp(owner, 1);

  assert.deepEqual([await watchFor(owner, 119), await watchFor(owner, 10), await watchFor(owner, 600)], [0, 1, 0]);
  const [unknown] = await said(owner);
  assert.deepEqual([unknown?.kind, unknown?.service, unknown?.severity], ["service.unknown", "service 1", "warning"]);
  await record(owner, "service 1", "INCONCLUSIVE");
  assert.equal(await watchFor(owner, 1), 0);
  await record(owner, "service 1", "DOWN");
  assert.deepEqual([await watchFor(owner, 1), await watchFor(owner, 30)], [1, 0]);
  const [known] = await said(owner);
  assert.deepEqual([known?.kind, known?.service], ["service.known", "service 1"]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("more than five at a time are one notice, that names twenty and counts all; and one when they are back", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addUp(owner, 25);
  await addChannel(owner, "few");
  await addChannel(owner, "none");
  await owner`select uptuple.route('few', services => '{service 3}'), uptuple.route('none', tags => '{none}')`;

  assert.equal(await watchFor(owner, 130), 1);
  assert.deepEqual(await deliveries(owner), ["ops UNKNOWN READY", "few UNKNOWN READY"]);
  const [unknown] = await said(owner);
  assert.deepEqual([unknown?.count, (unknown?.services as string[]).length], [25, 20]);

  for (const name of names.slice(0, 10)) await record(owner, name, "UP");
  assert.equal(await watchFor(owner, 1), 0);
  for (const name of names.slice(10, 24)) await record(owner, name, "UP");
  assert.equal(await watchFor(owner, 1), 1);
  const [known] = await said(owner);
  assert.deepEqual([known?.kind, known?.still_unknown], ["service.known", ["service 25"]]);
  await record(owner, "service 25", "UP");
  assert.equal(await watchFor(owner, 1), 1);
  assert.deepEqual((await said(owner)).map((data) => `${data.kind} ${data.service}`), [
    "service.known service 25",
    "service.known service 25",
  ]);
  assert.deepEqual((await deliveries(owner)).map((line) => line.split(" ")[0]), [
    "ops",
    "few",
    "ops",
    "few",
    "ops",
    "few",
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("what ends before it could be told is not told", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addUp(owner, 6);
  await watchFor(owner, 130);
  for (const name of names) await record(owner, name, "UP");
  await watchFor(owner, 1);

  assert.deepEqual(await deliveries(owner), ["ops UNKNOWN SUPERSEDED"]);
});

Deno.test("after a time in which nobody looked nothing is told, unless verdicts stay away from then on", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addUp(owner, 1);
  await letTimePass(owner, 6000);
  await owner`update uptuple.silence_watch set looked_at = looked_at - interval '6000 s', watching_since = watching_since - interval '6000 s'`;
  await owner`update uptuple.service set updated_at = updated_at - interval '6000 s'`;

  assert.equal(await tellDue(owner), 0);
  assert.deepEqual([await watchFor(owner, 100), await watchFor(owner, 30)], [0, 1]);
});

Deno.test("a disabled service is not unknown, and one that is disabled while it is unknown is not told as known", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addUp(owner, 2);
  await owner`select uptuple.disable_service('service 1')`;
  assert.equal(await watchFor(owner, 130), 1);
  await owner`select uptuple.disable_service('service 2')`;

  assert.equal(await watchFor(owner, 1), 0);
  await owner`select uptuple.enable_service('service 2')`;
  assert.equal(await watchFor(owner, 60), 0);
  assert.deepEqual(await deliveries(owner), ["ops service 2 UNKNOWN READY"].map((line) => line.replace(" 2 ", " 2 ")));
});

Deno.test("two runtimes look at once: one does, and neither waits", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addUp(owner, 1);
  const one = await database.connect();
  await one`begin`;
  assert.equal(await watchFor(one, 130), 1);
  assert.equal(await tellDue(await database.connect()), 0);
  await one`commit`;
  assert.deepEqual(await deliveries(owner), ["ops service 1 UNKNOWN READY"]);
});

Deno.test("a silence that has ended only for most is told although nobody was told of it yet, and then who is still silent", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addUp(owner, 6);
  await watchFor(owner, 130);
  for (const name of names.slice(0, 4)) await record(owner, name, "UP");
  await watchFor(owner, 1);
  assert.deepEqual(await deliveries(owner), ["ops UNKNOWN READY", "ops KNOWN READY"]);
  const [, known] = await said(owner);
  assert.deepEqual([known?.count, known?.still_unknown, known?.reason], [
    4,
    names.slice(4),
    "there are verdicts again, but not yet of service 5, service 6",
  ]);
});

Deno.test("whoever was there for no notice of a silence is not told of its late end either", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = await addUp(owner, 6);
  await owner`select uptuple.disable_channel('ops')`;
  await watchFor(owner, 130);
  await owner`select uptuple.enable_channel('ops')`;
  for (const name of names.slice(0, 4)) await record(owner, name, "UP");
  await watchFor(owner, 1);
  for (const name of names.slice(4)) await record(owner, name, "UP");
  await watchFor(owner, 1);

  assert.deepEqual(await deliveries(owner), ["ops UNKNOWN SUPERSEDED"]);
});
