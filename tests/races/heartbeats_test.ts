import assert from "node:assert/strict";
import { backendOf, neverWait, untilBlocked } from "../support/blocked.ts";
import { testDatabase } from "../support/database.ts";
import { addHeartbeat, beat, beatOf, checkHeartbeats, letPass, noticesOf, verdictsOf } from "../support/heartbeats.ts";

Deno.test("two reports at once are two reports, one after the other, and the second is no news", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  const first = await database.connect();
  const second = await database.connect();
  const backend = await backendOf(second);

  await first`begin`;
  await beat(first, "backup");
  const waiting = beat(second, "backup");
  await untilBlocked(owner, backend);
  await first`commit`;

  assert.equal(await waiting, "UP");
  assert.equal((await beatOf(owner, "backup")).calls, "2");
  assert.equal((await verdictsOf(owner, "backup")).length, 1);
});

Deno.test("two failures at once open one incident", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  const first = await database.connect();
  const second = await database.connect();
  const backend = await backendOf(second);

  await first`begin`;
  await beat(first, "backup", "fail");
  const waiting = beat(second, "backup", "fail");
  await untilBlocked(owner, backend);
  await first`commit`;

  assert.equal(await waiting, "DOWN");
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed"]);
});

Deno.test("a report while the overdue check has found it overdue waits, and recovers what the check has just told", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "66 minutes");
  const checker = await database.connect();
  const job = await database.connect();
  const backend = await backendOf(job);

  await checker`begin`;
  assert.equal(await checkHeartbeats(checker), 1);
  const waiting = beat(job, "backup");
  await untilBlocked(owner, backend);
  await checker`commit`;

  assert.equal(await waiting, "UP");
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed", "service.recovered"]);
});

Deno.test("the overdue check skips one that reports just now, and does not find it overdue afterwards", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "66 minutes");
  const job = await database.connect();
  const checker = await database.connect();
  await neverWait(checker);

  await job`begin`;
  await beat(job, "backup");
  assert.equal(await checkHeartbeats(checker), 0);
  await job`commit`;

  assert.equal(await checkHeartbeats(checker), 0);
  assert.deepEqual(await noticesOf(owner, "backup"), []);
});

Deno.test("two runtimes look at once: one does the work and the other is told that there is none", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "66 minutes");
  const first = await database.connect();
  const second = await database.connect();
  await neverWait(second);

  await first`begin`;
  assert.equal(await checkHeartbeats(first), 1);
  assert.equal(await checkHeartbeats(second), 0);
  await first`commit`;
  assert.equal(await checkHeartbeats(second), 0);
  assert.equal((await verdictsOf(owner, "backup")).length, 1);
});

Deno.test("a runtime that dies while it tells leaves nothing told, and the next one tells", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "66 minutes");
  const dying = await database.connect();
  await dying`begin`;
  assert.equal(await checkHeartbeats(dying), 1);
  await dying`rollback`;

  assert.deepEqual(await noticesOf(owner, "backup"), []);
  assert.equal(await checkHeartbeats(owner), 1);
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed"]);
});

Deno.test("a service is disabled while it reports: the report counts first, and nothing is due afterwards", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addHeartbeat(owner, "backup");
  const job = await database.connect();
  const operator = await database.connect();
  const backend = await backendOf(operator);

  await job`begin`;
  await beat(job, "backup", "fail");
  const disabling = operator<object[]>`select uptuple.disable_service('backup')`.execute();
  await untilBlocked(owner, backend);
  await job`commit`;
  await disabling;

  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed", "service.recovered"]);
  assert.equal((await beatOf(owner, "backup")).due_at, null);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.invariant_violations`], []);
});

Deno.test("many reports, failures and checks at once leave every promise kept", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = ["a", "b", "c"];
  for (const name of names) await addHeartbeat(owner, name);
  const connections = await Promise.all(Array.from({ length: 4 }, () => database.connect()));
  for (let round = 0; round < 4; round++) {
    for (const name of names) await letPass(owner, name, "66 minutes");
    await Promise.all(connections.map(async (connection, index) => {
      for (const name of index % 2 === 0 ? names : names.toReversed()) {
        if (index === 3) await checkHeartbeats(connection);
        else await beat(connection, name, (["start", "success", "fail"] as const)[(index + round) % 3]);
      }
    }));
    await checkHeartbeats(owner);
  }
  assert.deepEqual([...await owner<object[]>`select * from uptuple.invariant_violations`], []);
  for (const name of names) assert.ok((await verdictsOf(owner, name)).length >= 4);
});
