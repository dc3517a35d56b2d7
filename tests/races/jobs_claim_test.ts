import assert from "node:assert/strict";
import { neverWait } from "../support/blocked.ts";
import { emptiedDatabase } from "../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  assertNoViolations,
  claim,
  claimOne,
  letTimePass,
  makeWindowDue,
} from "../support/services.ts";

Deno.test("claim against claim: two connections never claim the same job, and the second does not wait for the first", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (let n = 0; n < 4; n++) await addService(owner, `service ${n}`);
  const first = await database.connect();
  const second = await database.connect();

  await neverWait(second);
  await first`begin`;
  const taken = await claim(first, 2);
  const rest = await claim(second, 10);
  await first`commit`;

  assert.equal(taken.length, 2);
  assert.equal(rest.length, 2);
  const ids = [...taken, ...rest].map((job) => job.job_id);
  assert.equal(new Set(ids).size, 4);
});

Deno.test("a claim that was rolled back gives its jobs to the next one, and its attempt does not count", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const killed = await database.connect();
  await killed`begin`;
  await claim(killed);

  await killed`rollback`;

  assert.equal((await claimOne(owner)).attempt, 1);
});

Deno.test("eight connections that claim at once share the jobs out, each job to one of them", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(name => 'service ' || n, url => 'http://127.0.0.1/') from generate_series(1, 60) n`;
  const workers = await Promise.all(Array.from({ length: 8 }, () => database.connect()));

  const claimed = await Promise.all(workers.map(async (worker, number) => {
    const own = [];
    for (let some = await claim(worker, 3, "default", `w${number}`); some.length > 0;) {
      own.push(...some);
      some = await claim(worker, 3, "default", `w${number}`);
    }
    return own;
  }));

  const all = claimed.flat();
  assert.equal(all.length, 60);
  assert.equal(new Set(all.map((job) => job.job_id)).size, 60);
  assert.equal(new Set(all.map((job) => job.owner_token)).size, 60);
  await assertNoViolations(owner);
});

Deno.test("claim against rescue: two heirs of a dead owner, and one of them gets the job", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await claimOne(owner);
  await letTimePass(owner, 31);
  const first = await database.connect();
  const second = await database.connect();

  await neverWait(second);
  await first`begin`;
  const [heir] = await claim(first);
  assert.deepEqual(await claim(second), []);
  await first`commit`;

  assert.equal(heir?.attempt, 2);
  assert.deepEqual(await claim(second), []);
});

Deno.test("end_jobs does not wait for a job that somebody holds, and ends it when he has let it go", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  await letTimePass(owner, 31);
  const holder = await database.connect();
  const sweeper = await database.connect();
  const endJobs = async () => (await sweeper`select uptuple.end_jobs() as ended`)[0].ended;

  await neverWait(sweeper);
  await holder`begin`;
  await holder`select from uptuple.job where purpose = 'GRID' for no key update`;
  assert.equal(await endJobs(), 0);
  await holder`rollback`;

  assert.equal(await endJobs(), 1);
});

Deno.test("end_jobs against claim: rows that are being ended are skipped by a claim and stay ended", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  await letTimePass(owner, 31);
  const sweeper = await database.connect();
  const claimer = await database.connect();

  await neverWait(claimer);
  await sweeper`begin`;
  const [ended] = await sweeper`select uptuple.end_jobs() as count`;
  assert.deepEqual(await claim(claimer, 10), []);
  await sweeper`commit`;

  assert.equal(ended.count, 1);
  assert.deepEqual(await claim(claimer, 10), []);
  const [job] = await owner`select state from uptuple.job where purpose = 'GRID'`;
  assert.equal(job.state, "MISSED");
});
