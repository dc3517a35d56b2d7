import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addCheckedService, addService, claimOne, letTimePass, makeWindowDue } from "../../support/services.ts";

async function nextDue(sql: TestSql, region = "default"): Promise<number | null> {
  const [answer] = await sql`select uptuple.next_job_due(${region}) as ms`;
  return answer.ms;
}

Deno.test("when no job is known, there is no time to wait for", async () => {
  await using database = await emptiedDatabase();

  assert.equal(await nextDue(database.owner), null);
});

Deno.test("a job that is due is due in no time, in its own region", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { region: "eu-west" });

  assert.equal(await nextDue(owner, "eu-west"), 0);
  assert.equal(await nextDue(owner, "default"), null);
});

Deno.test("a job ahead, or a lease that runs, is due when its time comes", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await owner`update uptuple.job set due_at = clock_timestamp() + interval '3 s'`;
  const ahead = await nextDue(owner) as number;
  assert.ok(ahead > 1000 && ahead <= 3000, `${ahead} ms`);

  await letTimePass(owner, 3);
  await claimOne(owner);
  const leased = await nextDue(owner) as number;
  assert.ok(leased > 25_000 && leased <= 30_000, `${leased} ms`);
});

Deno.test("a runtime is not kept awake by jobs that may no longer be claimed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  await letTimePass(owner, 31);
  assert.equal(await nextDue(owner), null, "a window whose successor is due");

  await owner`update uptuple.job set attempts = 3, state = 'RUNNING', owner_token = gen_random_uuid() where purpose = 'GRID'`;
  assert.equal(await nextDue(owner), null, "a job whose last lease ended");
});
