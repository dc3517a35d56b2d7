import assert from "node:assert/strict";
import { testDatabase } from "../support/database.ts";
import { backendOf, untilBlocked } from "../support/blocked.ts";
import { addService, ANSWERED, assertNoViolations, claimOne, completeBatch, completion } from "../support/services.ts";

Deno.test("complete against extend: a completion that waits for the extension of its own lease is accepted", async () => {
  await using database = await testDatabase();
  await addService(database.owner, "inventory");
  const job = await claimOne(database.owner);
  const one = await database.connect();
  const other = await database.connect();
  const otherPid = await backendOf(other);

  await one`begin`;
  await one`select uptuple.extend_job(${job.job_id}, ${job.owner_token})`;
  const completing = completeBatch(other, [completion(job, ANSWERED)]);
  await untilBlocked(database.owner, otherPid, completing);
  await one`commit`;

  assert.deepEqual(await completing, ["ACCEPTED"]);
  await assertNoViolations(database.owner);
});

Deno.test("complete against extend: the end of the old lease does not count where an extension was under way", async () => {
  await using database = await testDatabase();
  await addService(database.owner, "inventory");
  const job = await claimOne(database.owner);
  const one = await database.connect();
  const other = await database.connect();
  const otherPid = await backendOf(other);

  // The lease is extended in an open transaction; what others see of it has ended by now.
  await database.owner`update uptuple.job set due_at = clock_timestamp() + interval '1 s' where id = ${job.job_id}`;
  await one`begin`;
  await one`select uptuple.extend_job(${job.job_id}, ${job.owner_token})`;
  await database.owner`
    select pg_sleep_until(due_at) from uptuple.job where id = ${job.job_id}`;
  const completing = completeBatch(other, [completion(job, ANSWERED)]);
  await untilBlocked(database.owner, otherPid, completing);
  await one`commit`;

  assert.deepEqual(await completing, ["ACCEPTED"]);
  await assertNoViolations(database.owner);
});
