import assert from "node:assert/strict";
import { testDatabase } from "../support/database.ts";
import { startWorker } from "../support/runtime.ts";
import { until } from "../support/wait.ts";
import { switchableTarget } from "../support/watched.ts";

Deno.test("a check that is under way when the program is stopped is given back with its attempt, and is no verdict", async () => {
  await using database = await testDatabase();
  await using target = switchableTarget();
  target.hang();
  await database.owner`select uptuple.add_service(name => 'inventory', url => ${target.url}, timeout => '9 seconds')`;
  await using program = startWorker(database.url);
  await program.ready;
  await until("the check is under way", async () => {
    const rows = await database.owner<object[]>`select from uptuple.job where state = 'RUNNING'`;
    return rows.length === 1;
  });

  const asked = performance.now();
  assert.equal(await program.end("SIGTERM"), 0);
  assert.ok(performance.now() - asked < 5000);

  const [job] = await database.owner`select state, attempts, worker from uptuple.job where purpose = 'FIRST'`;
  assert.deepEqual({ ...job }, { state: "READY", attempts: 0, worker: null });
  assert.deepEqual([...await database.owner<object[]>`select from uptuple.result`], []);
  const [worker] = await database.owner`select state from uptuple.workers`;
  assert.equal(worker.state, "STOPPED");
});
