import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addCheckedService, addService, claimOne, letTimePass, makeWindowDue } from "../../support/services.ts";

Deno.test("a sweep ends jobs whose last lease ended and windows that nobody claimed, and says how many", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "missed");
  await makeWindowDue(owner, "missed");
  await addService(owner, "lost", { every: "1 day" });
  await owner`update uptuple.job set attempts = 3, state = 'RUNNING', owner_token = gen_random_uuid() where service_id = 2`;
  await letTimePass(owner, 31);

  const [swept] = await owner`select * from uptuple.sweep()`;

  assert.equal(swept.jobs_ended, 2);
  const jobs = await owner<
    { state: string }[]
  >`select state from uptuple.job where purpose = 'GRID' or service_id = 2 order by id`;
  assert.deepEqual(jobs.map((job) => job.state), ["MISSED", "FAILED"]);
  assert.equal((await owner`select jobs_ended from uptuple.sweep()`)[0].jobs_ended, 0);
});

Deno.test("a sweep leaves alone what is waiting, running or to be tried again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["waiting", "running", "broken"]) await addService(owner, name, { every: "1 day" });
  await owner`update uptuple.job set due_at = due_at + interval '1 hour' where service_id <> 2`;
  await claimOne(owner);
  await owner`update uptuple.job set attempts = 1 where service_id = 3`;
  const rows = async () => [...await owner<object[]>`select * from uptuple.job order by id`];
  const before = await rows();

  await owner`select uptuple.sweep()`;

  assert.deepEqual(await rows(), before);
});

Deno.test("runtimes that have not been heard of for a day are forgotten", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.report_worker('old', 'default', '{probe}', 1)`;
  await letTimePass(owner, 86_401);
  await owner`select uptuple.report_worker('new', 'default', '{probe}', 1)`;

  const [swept] = await owner`select workers_forgotten from uptuple.sweep()`;

  assert.equal(swept.workers_forgotten, 1);
  const workers = await owner<{ worker: string }[]>`select worker from uptuple.workers`;
  assert.deepEqual(workers.map((row) => row.worker), ["new"]);
});
