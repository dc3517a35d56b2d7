import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  ANSWERED,
  assertNoViolations,
  claimOne,
  complete,
  letTimePass,
  makeWindowDue,
} from "../../support/services.ts";

Deno.test("two verdicts for a window and a job that runs without a token cannot even be written", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");

  await assert.rejects(owner`insert into uptuple.result select * from uptuple.result`, { code: "23505" });
  await assert.rejects(
    owner`
      insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
      select scheduled_slot, service_id, due_at, revision, interval_seconds, region from uptuple.job`,
    { code: "23505" },
  );
  await assert.rejects(owner`update uptuple.job set state = 'RUNNING'`, { code: "23514" });
  await assert.rejects(owner`update uptuple.job set owner_token = gen_random_uuid()`, { code: "23514" });
});

Deno.test("promises are kept over a runtime that dies at each step of a job", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await makeWindowDue(owner, "inventory");
  for (let attempt = 1; attempt <= 2; attempt++) {
    await claimOne(owner);
    await assertNoViolations(owner);
    await letTimePass(owner, 31);
    await assertNoViolations(owner);
  }
  assert.equal(await complete(owner, await claimOne(owner), ANSWERED), true);
  await assertNoViolations(owner);
});
