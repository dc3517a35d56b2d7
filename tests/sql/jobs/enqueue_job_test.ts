import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addCheckedService, claim, letTimePass, openWindow } from "../../support/services.ts";

/** A service with windows of a minute that has been watched for ten, and the window that has just begun. */
async function serviceWithWindow(owner: TestSql): Promise<number> {
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await letTimePass(owner, 600);
  return Number(await openWindow(owner, "inventory"));
}

Deno.test("the job of a window can be made by hand, and a second call gets the same one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);

  const [made] = await owner`select uptuple.enqueue_job('inventory', ${slot}) as id`;
  const [again] = await owner`select uptuple.enqueue_job('inventory', ${slot}) as id`;

  assert.equal(again.id, made.id);
  const rows = await owner`select state, purpose from uptuple.job where scheduled_slot = ${slot}`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ state: "READY", purpose: "GRID" }]);
});

Deno.test("the first submission's revision stands: a window submitted again after an edit keeps it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);
  await owner`select uptuple.enqueue_job('inventory', ${slot})`;

  await owner`select uptuple.update_service('inventory', url => 'http://127.0.0.1/other')`;
  await owner`select uptuple.enqueue_job('inventory', ${slot})`;

  const [job] = await owner`select revision from uptuple.job where scheduled_slot = ${slot}`;
  assert.equal(job.revision, 1);
});

Deno.test("a slot that is older than one interval is refused, and the newest window is named", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);

  await assert.rejects(owner`select uptuple.enqueue_job('inventory', ${slot - 120})`, {
    code: "UT002",
    message: `scheduled_slot ${slot - 120} is older than one interval (60 s)`,
    hint: `The newest window that has started is ${slot}.`,
  });
});

Deno.test("a slot further than one interval ahead is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);

  await assert.rejects(owner`select uptuple.enqueue_job('inventory', ${slot + 180})`, {
    code: "UT002",
    message: `scheduled_slot ${slot + 180} is more than one interval (60 s) ahead`,
  });
});

Deno.test("a slot off the grid is refused, and the window it lies in is named", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);

  await assert.rejects(owner`select uptuple.enqueue_job('inventory', ${slot + 7})`, {
    code: "UT002",
    message: `scheduled_slot ${slot + 7} is not the start of a window of 'inventory'`,
    hint: `The window it lies in starts at ${slot}.`,
  });
});

Deno.test("a slot before the service's grid began is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);
  await owner`update uptuple.service set first_slot = ${slot + 60}`;

  await assert.rejects(owner`select uptuple.enqueue_job('inventory', ${slot})`, {
    code: "UT002",
    message: `scheduled_slot ${slot} is before the first window of 'inventory'`,
    hint: `The first window of its present grid starts at ${slot + 60}.`,
  });
});

Deno.test("no job is made by hand for a disabled service, nor for one that is not there", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);
  await owner`select uptuple.disable_service('inventory')`;

  await assert.rejects(owner`select uptuple.enqueue_job('inventory', ${slot})`, { code: "UT002" });
  await assert.rejects(owner`select uptuple.enqueue_job('nobody', ${slot})`, { code: "UT001" });
  assert.deepEqual(await claim(owner), []);
});

Deno.test("a window that has begun is noted for the roll-ups, since its hour may have been counted without it; one ahead is not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const slot = await serviceWithWindow(owner);

  await owner`select uptuple.enqueue_job('inventory', ${slot + 60})`;
  assert.deepEqual([...await owner<object[]>`select * from uptuple.unfinished_hour`], []);
  await owner`select uptuple.enqueue_job('inventory', ${slot})`;

  const [noted] = await owner`select extract(epoch from hour)::float8 as hour, region from uptuple.unfinished_hour`;
  assert.deepEqual({ ...noted }, { hour: slot - slot % 3600, region: "default" });
});
