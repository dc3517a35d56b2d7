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
  stateOf,
} from "../../support/services.ts";

Deno.test("disabling stops new jobs; submitted ones finish on their revision and move nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  await makeWindowDue(owner, "inventory");

  const [disabled] = await owner`select uptuple.disable_service('inventory') as done`;

  assert.equal(disabled.done, true);
  const job = await claimOne(owner);
  assert.equal(await complete(owner, job, REFUSED), true);
  const [result] = await owner`select status, applied_order from uptuple.result where purpose = 'GRID'`;
  assert.deepEqual({ ...result }, { status: "DOWN", applied_order: null });
  const { status, failure_streak, incident_id } = await stateOf(owner, "inventory");
  assert.deepEqual([status, failure_streak, incident_id], ["UNKNOWN", 0, null]);
  await letTimePass(owner, 60);
  assert.equal(await enqueue(owner), 0);
  await assertNoViolations(owner);
});

Deno.test("a disabled service is shown as PAUSED, and disabling it again answers false", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");

  await owner`select uptuple.disable_service('inventory')`;
  const [again] = await owner`select uptuple.disable_service('inventory') as done`;

  assert.equal(again.done, false);
  const [shown] = await owner`select status from uptuple.status`;
  assert.equal(shown.status, "PAUSED");
});

Deno.test("disabling closes an open incident as withdrawn", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 1 });
  await checkNextWindow(owner, "inventory", REFUSED);
  assert.equal((await stateOf(owner, "inventory")).status, "DOWN");

  await owner`select uptuple.disable_service('inventory')`;

  const [incident] = await owner`select closed_by, closed_at is not null as closed from uptuple.incident`;
  assert.deepEqual({ ...incident }, { closed_by: "withdrawn", closed: true });
  assert.equal((await stateOf(owner, "inventory")).status, "UNKNOWN");
  await assertNoViolations(owner);
});

Deno.test("enabling checks at once, starts as UNKNOWN with no streak, and goes on in the grid", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 3 });
  await checkNextWindow(owner, "inventory", REFUSED);
  await checkNextWindow(owner, "inventory", REFUSED);
  await owner`select uptuple.disable_service('inventory')`;
  await letTimePass(owner, 10);

  const [enabled] = await owner`select uptuple.enable_service('inventory') as done`;
  const [again] = await owner`select uptuple.enable_service('inventory') as done`;

  assert.deepEqual([enabled.done, again.done], [true, false]);
  const first = await claimOne(owner);
  assert.equal(first.purpose, "FIRST");
  await complete(owner, first, REFUSED);
  const { status, failure_streak } = await stateOf(owner, "inventory");
  assert.deepEqual([status, failure_streak], ["UNKNOWN", 1]);
  const window = await checkNextWindow(owner, "inventory", ANSWERED);
  assert.equal(window.purpose, "GRID");
  await assertNoViolations(owner);
});

Deno.test("time while it was disabled is not expected to have windows", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "10 seconds" });
  await letTimePass(owner, 100);
  await owner`select uptuple.disable_service('inventory')`;
  const expected = async () => (await owner`select count(*)::integer from uptuple.windows('inventory')`)[0].count;
  const before = await expected();
  assert.ok(before >= 8 && before <= 12, `${before} windows in a hundred seconds`);

  await letTimePass(owner, 1000);
  assert.equal(await expected(), before);
  await owner`select uptuple.enable_service('inventory')`;
  await letTimePass(owner, 100);

  const after = await expected();
  assert.ok(after >= before + 8 && after <= before + 12, `${after} windows`);
});

Deno.test("a grid that never reached its first window leaves no record of activity", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });

  await owner`select uptuple.disable_service('inventory')`;

  assert.deepEqual([...await owner<object[]>`select * from uptuple.service_active`], []);
});

Deno.test("only what is there can be disabled or enabled", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await assert.rejects(owner`select uptuple.disable_service('nobody')`, { code: "UT001" });
  await assert.rejects(owner`select uptuple.enable_service('nobody')`, { code: "UT001" });
});

Deno.test("a service can be disabled before anything has been checked", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  await owner`select uptuple.disable_service('inventory')`;

  assert.equal((await claim(owner)).length, 1, "its first check was submitted, and finishes");
});
