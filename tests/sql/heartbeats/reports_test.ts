import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addHeartbeat, beat, checkHeartbeats, letPass } from "../../support/heartbeats.ts";

/** Two good reports, two missed ones, one that may not have been heard, and one more good report. */
async function live(sql: TestSql): Promise<void> {
  await addHeartbeat(sql, "backup");
  await beat(sql, "backup");
  await letPass(sql, "backup", "1 hour");
  await beat(sql, "backup");
  for (let missed = 0; missed < 2; missed++) {
    await letPass(sql, "backup", "66 minutes");
    await checkHeartbeats(sql);
  }
  await letPass(sql, "backup", "66 minutes");
  await sql`update uptuple.heartbeat_cursor set checked_at = clock_timestamp() - interval '1 hour'`;
  await checkHeartbeats(sql);
  await letPass(sql, "backup", "10 minutes");
  await beat(sql, "backup");
  await letPass(sql, "backup", "2 seconds");
}

Deno.test("each verdict of a heartbeat is a window: uptime is of those, and what may not have been heard lowers the coverage", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await live(owner);

  const [total] = await owner`select * from uptuple.uptime('backup')`;
  assert.deepEqual({ ...total }, { expected: "6", up: "3", down: "2", uptime: "0.600000", coverage: "0.833333" });
  const [row] = await owner`select expected, up, down, gaps from uptuple.coverage where service = 'backup'`;
  assert.deepEqual({ ...row }, { expected: "6", up: "3", down: "2", gaps: "1" });
  const windows = await owner<{ verdict: string | null; gap: string | null }[]>`
    select verdict, gap from uptuple.windows('backup')`;
  assert.deepEqual(windows.map(({ verdict, gap }) => verdict ?? gap), [
    "UP",
    "UP",
    "DOWN",
    "DOWN",
    "INCONCLUSIVE",
    "UP",
  ]);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.invariant_violations`], []);
});

Deno.test("the roll-ups of a heartbeat say what its results say", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await live(owner);
  await letPass(owner, "backup", "1 day");
  const sum = async () => {
    const [total] = await owner`select * from uptuple.uptime('backup', now() - interval '3 days', now())`;
    return { ...total };
  };
  const before = await sum();
  await owner`
    update uptuple.roll_up_mark
    set rolled_from = extract(epoch from date_trunc('day', now() - interval '3 days', 'UTC')),
        rolled_until = extract(epoch from date_trunc('day', now() - interval '3 days', 'UTC'))`;
  for (let turn = 0; turn < 100; turn++) {
    const [done] = await owner`select uptuple.roll_up() as rolled`;
    if (Number(done.rolled) === 0) break;
  }
  const [hours] = await owner`select sum(expected)::integer as n from uptuple.service_hour`;
  assert.equal(hours.n, 6);
  assert.deepEqual(await sum(), before);
  assert.equal(before.expected, "6");
});
