import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  checkNextWindow,
  claim,
  claimOne,
  complete,
  enqueue,
  letTimePass,
  makeWindowDue,
  REFUSED,
} from "../../support/services.ts";

Deno.test("removing is soft: the service is gone from sight, its history stays", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await addCheckedService(owner, "inventory");
  await checkNextWindow(owner, "inventory", ANSWERED);

  const [removed] = await owner`select uptuple.remove_service('inventory') as id`;

  assert.equal(removed.id, id);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.status`], []);
  const [history] = await owner`
    select (select count(*)::integer from uptuple.result) as results,
      (select count(*)::integer from uptuple.service where removed_at is not null and not enabled) as services`;
  assert.deepEqual({ ...history }, { results: 2, services: 1 });
  await letTimePass(owner, 60);
  assert.equal(await enqueue(owner), 0);
});

Deno.test("removing cancels the jobs that wait", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  await owner`select uptuple.remove_service('inventory')`;

  const [job] = await owner`select state, error, finished_at is not null as finished from uptuple.job`;
  assert.deepEqual({ ...job }, { state: "CANCELED", error: "the service was removed", finished: true });
  assert.deepEqual(await claim(owner), []);
});

Deno.test("a late result of a removed service is stored and harms nothing, not even a new one of its name", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const old = await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  await makeWindowDue(owner, "inventory");
  const running = await claimOne(owner);
  await owner`select uptuple.remove_service('inventory')`;
  await addCheckedService(owner, "inventory");

  assert.equal(await complete(owner, running, REFUSED), true);

  const [late] = await owner`select service_id, status, applied_order from uptuple.result where purpose = 'GRID'`;
  assert.deepEqual({ ...late }, { service_id: old, status: "DOWN", applied_order: null });
  const [shown] = await owner`select status from uptuple.status`;
  assert.equal(shown.status, "UP");
  assert.deepEqual([...await owner<object[]>`select * from uptuple.incident`], []);
  await assertNoViolations(owner);
});

Deno.test("a running job of a removed service that breaks is not tried again for ever", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  const running = await claimOne(owner);
  await owner`select uptuple.remove_service('inventory')`;

  for (let attempt = 1, job = running; attempt <= 3; attempt++) {
    await owner`select uptuple.retry_job(${job.job_id}, ${job.owner_token}, 'stalled')`;
    await letTimePass(owner, 10);
    job = (await claim(owner))[0] ?? job;
  }

  const [job] = await owner`select state from uptuple.job where purpose = 'GRID'`;
  assert.equal(job.state, "FAILED");
});

Deno.test("removing closes an open incident as withdrawn", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  await checkNextWindow(owner, "inventory", REFUSED);

  await owner`select uptuple.remove_service('inventory')`;

  const [incident] = await owner`select closed_by from uptuple.incident`;
  assert.equal(incident.closed_by, "withdrawn");
  await assertNoViolations(owner);
});

Deno.test("a service is removed once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await owner`select uptuple.remove_service('inventory')`;

  await assert.rejects(owner`select uptuple.remove_service('inventory')`, {
    code: "UT001",
    message: "there is no service named 'inventory'",
  });
});
