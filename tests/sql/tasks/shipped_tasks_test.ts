import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";

Deno.test("every task that ships is enabled, and runs to its end as the role that may run nothing else", async () => {
  await using database = await testDatabase();
  const worker = await database.connect("uptuple_worker");
  await worker`select uptuple.ensure_builtin_tasks()`;
  const shipped = await database.owner<{ name: string; enabled: boolean }[]>`
    select name, enabled from uptuple.tasks where source = 'builtin' order by name`;

  for (const task of shipped) {
    assert.ok(task?.enabled, task?.name);
    await database.owner`select uptuple.run_task_now(${task?.name ?? ""})`;
    const [run] = await worker`select run_id, token, task from uptuple.claim_task('w')`;
    assert.equal(run.task, task?.name);
    await worker`select * from uptuple.execute_task(${run.run_id}, ${run.token})`;
    await worker`select uptuple.finish_task(${run.run_id}, ${run.token}, null, null)`;
  }

  const failed = await database.owner<object[]>`
    select task, state, error from uptuple.task_runs where state <> 'SUCCEEDED'`;
  assert.deepEqual([...failed], []);
  assert.ok(shipped.length >= 4);
});

Deno.test("the shipped sweep ends what a dead worker left, and the shipped upkeep makes the partitions of the week", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.ensure_builtin_tasks()`;
  await owner`select uptuple.add_service('inventory', 'http://127.0.0.1:9/')`;
  await owner`select uptuple.claim_job('dead')`;
  await owner`update uptuple.job set attempts = 3, due_at = clock_timestamp() - interval '1 s'`;

  for (const task of ["uptuple.sweep", "uptuple.ensure_partitions"]) {
    await owner`select uptuple.run_task_now(${task})`;
    const [run] = await owner`select run_id, token from uptuple.claim_task('w')`;
    await owner`select * from uptuple.execute_task(${run.run_id}, ${run.token})`;
    await owner`select uptuple.finish_task(${run.run_id}, ${run.token}, null, null)`;
  }

  const [job] = await owner`select state from uptuple.job`;
  assert.equal(job.state, "FAILED");
  const [partitions] = await owner`
    select count(*)::integer as n from pg_inherits where inhparent in ('uptuple.job'::regclass, 'uptuple.result'::regclass)`;
  assert.equal(partitions.n, 2 * 9);
});
