import assert from "node:assert/strict";
import { connect } from "../../src/database/connect.ts";
import { callHeartbeat } from "../../src/heartbeat.ts";
import { testDatabase } from "../support/database.ts";

/** Counts the calls of a watcher's watcher. */
function watcher(): AsyncDisposable & { url: string; calls: () => number } {
  let calls = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    calls += 1;
    return new Response("OK");
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/ping`,
    calls: () => calls,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("the heartbeat is called while checks are completed, and held back as soon as anything is wrong", async () => {
  await using database = await testDatabase();
  await using outside = watcher();
  const sql = database.owner;
  const inside = connect({ url: database.url });
  const beat = async () => {
    const before = outside.calls();
    await callHeartbeat(outside.url, inside);
    return outside.calls() - before;
  };

  assert.equal(await beat(), 0, "nothing was completed yet");
  await sql`select uptuple.report_worker('w', 'default', '{probe}', 1, 5)`;
  assert.equal(await beat(), 1);

  await sql`select uptuple.add_service('inventory', 'http://127.0.0.1:9/')`;
  await sql`update uptuple.job set due_at = clock_timestamp() - interval '31 s'`;
  assert.equal(await beat(), 0, "a job is overdue");
  await sql`select uptuple.cancel_jobs('inventory')`;
  assert.equal(await beat(), 1);

  await sql`select uptuple.add_channel('ops', 'http://127.0.0.1:9/')`;
  await sql`update uptuple.channel set suspended_at = now(), suspended_reason = 'HTTP 401', probe_at = now()`;
  assert.equal(await beat(), 0, "a channel is suspended");
  await sql`select uptuple.update_channel('ops')`;
  assert.equal(await beat(), 1);

  for (let down = 0; down < 3; down++) await sql`select uptuple.record_health('inventory', 'DOWN')`;
  const [notice] = await sql`select delivery_id, claim_token from uptuple.claim_alert('w')`;
  await sql`select uptuple.finish_alert(${notice.delivery_id}, ${notice.claim_token}, '{"status": 400}')`;
  assert.equal(await beat(), 0, "a notice is dead");
  await sql`select uptuple.discard_alert(${notice.delivery_id}, 'known')`;
  assert.equal(await beat(), 1);

  await sql`update uptuple.worker set completed_at = clock_timestamp() - interval '3 minutes'`;
  assert.equal(await beat(), 0, "nothing was completed lately");
  await inside.close();
});
