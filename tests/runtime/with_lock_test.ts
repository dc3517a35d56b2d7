import assert from "node:assert/strict";
import { connect } from "../../src/database/connect.ts";
import { LockLostError, withLock } from "../../src/locks/with_lock.ts";
import { testDatabase } from "../support/database.ts";
import { until } from "../support/wait.ts";

/** Resolves when the signal aborts, with ms since the given time. */
function aborted(signal: AbortSignal, since: number): Promise<number> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(performance.now() - since);
    signal.addEventListener("abort", () => resolve(performance.now() - since));
  });
}

Deno.test("work runs under its lock, which is free again afterwards", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  try {
    const outcome = await withLock({ database, name: "nightly", owner: "here", atMostMs: 60_000 }, async () => {
      const [held] = await test.owner`select locked_by, state from uptuple.locks where name = 'nightly'`;
      return { ...held };
    });
    assert.deepEqual(outcome, { acquired: true, value: { locked_by: "here", state: "HELD" } });
    assert.deepEqual([...await test.owner<object[]>`select * from uptuple.locks`], []);
  } finally {
    await database.close();
  }
});

Deno.test("work does not run while another instance holds the lock", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  try {
    await test.owner`select uptuple.acquire_lock('nightly', '1 minute')`;
    const outcome = await withLock({ database, name: "nightly", owner: "here", atMostMs: 60_000 }, () => {
      throw new Error("must not run");
    });
    assert.deepEqual(outcome, { acquired: false });
  } finally {
    await database.close();
  }
});

Deno.test("what the work throws is thrown, and the lock is given back, kept for at_least", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  try {
    const options = { database, name: "nightly", owner: "here", atMostMs: 60_000, atLeastMs: 30_000 };
    await assert.rejects(withLock(options, () => Promise.reject(new Error("broken work"))), /broken work/);
    const [kept] = await test.owner`select state from uptuple.locks`;
    assert.equal(kept.state, "KEPT");
  } finally {
    await database.close();
  }
});

Deno.test("a lock is extended at half its time while the work goes on", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  try {
    const begun = performance.now();
    const outcome = await withLock({ database, name: "long", owner: "here", atMostMs: 2000 }, async (signal) => {
      await until("two extensions are made", async () => {
        const [lock] = await test.owner`select lock_until - locked_at > interval '3.8 s' as extended from uptuple.lock`;
        return lock.extended;
      });
      return signal.aborted;
    });
    assert.deepEqual(outcome, { acquired: true, value: false });
    assert.ok(performance.now() - begun < 4000, "the second extension came when a second half was over");
  } finally {
    await database.close();
  }
});

Deno.test("work is aborted when an extension is refused, and its value is not passed off as good", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  try {
    const options = { database, name: "stolen", owner: "here", atMostMs: 1500 };
    const running = withLock(options, async (signal) => {
      await test.owner`update uptuple.lock set token = gen_random_uuid(), locked_by = 'a thief'`;
      await aborted(signal, performance.now());
      assert.ok(signal.reason instanceof LockLostError);
      return "done all the same";
    });
    await assert.rejects(running, (error) => {
      assert.ok(error instanceof LockLostError);
      assert.equal(error.message, "The lock stolen was lost: another instance may hold it now.");
      return true;
    });
    const [lock] = await test.owner`select locked_by from uptuple.locks`;
    assert.equal(lock.locked_by, "a thief");
  } finally {
    await database.close();
  }
});

Deno.test("work is aborted before its lock can be lost, when the database does not answer", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  const begun = performance.now();
  let abortedAfter = NaN;
  const running = withLock({ database, name: "cut off", owner: "here", atMostMs: 1500 }, async (signal) => {
    await database.close();
    abortedAfter = await aborted(signal, begun);
  });
  await assert.rejects(running, /The lock cut off was lost: it could not be extended within 1500 ms/);
  assert.ok(abortedAfter >= 1200 && abortedAfter < 1500, `aborted after ${abortedAfter} ms`);
});

Deno.test("a lock may be longer than a timer can be set to", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  try {
    const sixtyDaysMs = 60 * 86_400_000;
    const outcome = await withLock({ database, name: "long", owner: "here", atMostMs: sixtyDaysMs }, async (signal) => {
      const [held] = await test.owner`select at_most_for = '60 days' as long from uptuple.locks`;
      return { ...held, aborted: signal.aborted };
    });
    assert.deepEqual(outcome, { acquired: true, value: { long: true, aborted: false } });
  } finally {
    await database.close();
  }
});

Deno.test("work is aborted from outside, and its lock is given back", async () => {
  await using test = await testDatabase();
  const database = connect({ url: test.url });
  try {
    const outside = new AbortController();
    const options = { database, name: "nightly", owner: "here", atMostMs: 60_000, signal: outside.signal };
    const outcome = await withLock(options, async (signal) => {
      outside.abort();
      await aborted(signal, performance.now());
      return "stopped";
    });
    assert.deepEqual(outcome, { acquired: true, value: "stopped" });
    assert.deepEqual([...await test.owner<object[]>`select * from uptuple.locks`], []);
  } finally {
    await database.close();
  }
});
