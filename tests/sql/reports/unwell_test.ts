import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addService, claimOne, letTimePass } from "../../support/services.ts";

async function unwell(sql: TestSql): Promise<string | null> {
  const [answer] = await sql`select uptuple.unwell() as reason`;
  return answer.reason;
}

async function report(sql: TestSql, completed: number): Promise<void> {
  await sql`select uptuple.report_worker('runtime-1', 'default', '{probe,deliver}', 1, ${completed})`;
}

Deno.test("the monitor vouches for itself while checks are completed, and no longer than two minutes after the last", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  assert.equal(await unwell(owner), "no check was completed within two minutes");

  await report(owner, 0);
  assert.equal(await unwell(owner), "no check was completed within two minutes", "to be alive is not enough");
  await report(owner, 5);
  assert.equal(await unwell(owner), null);
  await report(owner, 0);
  assert.equal(await unwell(owner), null);

  await letTimePass(owner, 121);
  await report(owner, 0);
  assert.equal(await unwell(owner), "no check was completed within two minutes");
});

Deno.test("a completion that lies in the future, since a clock was set back, is none", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await report(owner, 5);

  await letTimePass(owner, -3600);

  assert.equal(await unwell(owner), "no check was completed within two minutes");
});

Deno.test("the monitor does not vouch for itself while a job has been due for more than thirty seconds", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  await letTimePass(owner, 40);
  await report(owner, 5);
  assert.equal(await unwell(owner), "a job has been due for more than 30 seconds");

  await claimOne(owner);
  assert.equal(await unwell(owner), null);
});

Deno.test("a runtime is ALIVE while it reports, LOST after 45 seconds without, and STOPPED if it said so", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const state = async () => (await owner`select state from uptuple.workers`)[0].state;
  await report(owner, 0);
  assert.equal(await state(), "ALIVE");

  await letTimePass(owner, 46);
  assert.equal(await state(), "LOST");
  await owner`select uptuple.retire_worker('runtime-1')`;
  assert.equal(await state(), "STOPPED");
  await report(owner, 0);
  assert.equal(await state(), "ALIVE", "it was started again under its old name");
});
