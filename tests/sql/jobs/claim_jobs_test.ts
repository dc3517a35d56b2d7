import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  claim,
  claimOne,
  complete,
  jobRow,
  letTimePass,
  makeWindowDue,
} from "../../support/services.ts";

Deno.test("a claim gives the job, its slot, a token, and what to probe", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(
      name => 'inventory', url => 'http://127.0.0.1:8081/health', method => 'POST', headers => '{"Accept": "text/plain"}',
      body => 'ping', expected_statuses => '200-299, 401', follow_redirects => 2, timeout => '3 seconds'
    )`;

  const job = await claimOne(owner, "runtime-1");

  assert.match(job.owner_token, /^[0-9a-f-]{36}$/);
  const { job_id: _id, owner_token: _token, scheduled_slot: _slot, late_ms, ...rest } = job;
  assert.ok(late_ms >= 0 && late_ms < 30_000, `${late_ms} ms late`);
  assert.deepEqual(rest, {
    service_id: "1",
    service: "inventory",
    revision: 1,
    purpose: "FIRST",
    kind: "http",
    target: "http://127.0.0.1:8081/health",
    config: {
      method: "POST",
      headers: { Accept: "text/plain" },
      body: "ping",
      expected_statuses: "{[200,300),[401,402)}",
      follow_redirects: 2,
    },
    timeout_ms: 3000,
    attempt: 1,
    lease_ms: 30000,
    took_over: false,
  });
  const row = await jobRow(owner, job.job_id);
  assert.deepEqual(
    [row.state, row.worker, row.attempts, row.owner_token, row.scheduled_slot],
    ["RUNNING", "runtime-1", 1, job.owner_token, job.scheduled_slot],
  );
});

Deno.test("a lease lasts thirty seconds by the database's clock", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  const [before] = await owner`select clock_timestamp() as at`;
  const job = await claimOne(owner);
  const [after] = await owner`select clock_timestamp() as at`;

  const leaseEnd = ((await jobRow(owner, job.job_id)).due_at as Date).getTime();
  assert.ok(leaseEnd >= before.at.getTime() + 30_000 && leaseEnd <= after.at.getTime() + 30_000);
});

Deno.test("a claim says how late it is, and whether it takes over from a lease that ended", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await owner`update uptuple.job set due_at = due_at - interval '2 s'`;
  const first = await claimOne(owner);
  assert.ok(first.late_ms >= 2000 && first.late_ms < 32_000, `${first.late_ms}`);
  await owner`update uptuple.job set due_at = clock_timestamp() - interval '5 s'`;

  const second = await claimOne(owner);

  assert.equal(second.took_over, true);
  assert.ok(second.late_ms >= 5000 && second.late_ms < 35_000, `${second.late_ms}`);
});

Deno.test("jobs are claimed in the order in which they became due", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const name of ["late", "early", "middle"]) await addService(owner, name);
  await owner`
    update uptuple.job set due_at = clock_timestamp() - case service.name
      when 'early' then interval '3 s' when 'middle' then interval '2 s' else interval '1 s' end
    from uptuple.service where service.id = job.service_id`;

  const order = [];
  for (let turn = 0; turn < 3; turn++) order.push((await claim(owner))[0]?.service);

  assert.deepEqual(order, ["early", "middle", "late"]);
});

Deno.test("a claim takes no more than it asks for, and each job has a token of its own", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (let n = 0; n < 5; n++) await addService(owner, `service ${n}`);

  const first = await claim(owner, 3);
  const second = await claim(owner, 3);
  const third = await claim(owner, 3);

  assert.deepEqual([first.length, second.length, third.length], [3, 2, 0]);
  assert.equal(new Set([...first, ...second].map((job) => job.owner_token)).size, 5);
  assert.equal(new Set([...first, ...second].map((job) => job.job_id)).size, 5);
});

Deno.test("a job that is not due yet is not claimed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await owner`update uptuple.job set due_at = clock_timestamp() + interval '10 s'`;

  assert.deepEqual(await claim(owner), []);

  await letTimePass(owner, 10);
  assert.equal((await claim(owner)).length, 1);
});

Deno.test("a claim takes the jobs of its own region only", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "here", { region: "default" });
  await addService(owner, "there", { region: "eu-west" });

  assert.deepEqual((await claim(owner, 10, "eu-west")).map((job) => job.service), ["there"]);
  assert.deepEqual(await claim(owner, 10, "nowhere"), []);
  assert.deepEqual((await claim(owner, 10)).map((job) => job.service), ["here"]);
});

Deno.test("a job carries the configuration of its own revision after an edit", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { url: "http://127.0.0.1/old" });
  await owner`select uptuple.update_service('inventory', url => 'http://127.0.0.1/new')`;

  const old = await claimOne(owner);
  assert.deepEqual([old.revision, old.target], [1, "http://127.0.0.1/old"]);
  await complete(owner, old, ANSWERED);

  await makeWindowDue(owner, "inventory");
  const fresh = await claimOne(owner);
  assert.deepEqual([fresh.revision, fresh.target], [2, "http://127.0.0.1/new"]);
});

Deno.test("a lease that runs is nobody else's; one that ended is claimed again with a fresh token and one attempt more", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const dead = await claimOne(owner, "dead");

  assert.deepEqual(await claim(owner), []);
  await letTimePass(owner, 31);
  const heir = await claimOne(owner, "heir");

  assert.equal(heir.job_id, dead.job_id);
  assert.notEqual(heir.owner_token, dead.owner_token);
  assert.equal(heir.attempt, 2);
  assert.equal((await jobRow(owner, heir.job_id)).worker, "heir");
});

Deno.test("a job whose third lease ended is not claimed again and becomes FAILED", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  for (const attempt of [1, 2, 3]) {
    const job = await claimOne(owner);
    assert.equal(job.attempt, attempt);
    await letTimePass(owner, 31);
  }

  assert.deepEqual(await claim(owner), []);
  await owner`select uptuple.end_jobs()`;

  const [job] =
    await owner`select state, attempts, owner_token, error, finished_at is not null as finished from uptuple.job`;
  assert.deepEqual({ ...job }, {
    state: "FAILED",
    attempts: 3,
    owner_token: null,
    error: "the last lease ended without an answer",
    finished: true,
  });
  await assertNoViolations(owner);
});

Deno.test("claim_job gives one row, or none", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "one");
  await addService(owner, "two");

  assert.equal((await owner<object[]>`select * from uptuple.claim_job('tester')`).length, 1);
  assert.equal((await owner<object[]>`select * from uptuple.claim_job('tester')`).length, 1);
  assert.equal((await owner<object[]>`select * from uptuple.claim_job('tester')`).length, 0);
});

Deno.test("a claim without a worker's name, or for no job at all, is an error that names the argument", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await assert.rejects(owner`select * from uptuple.claim_jobs('')`, { code: "22023", message: /^worker is ''/ });
  await assert.rejects(owner`select * from uptuple.claim_jobs(null)`, { code: "22023", message: /^worker is null/ });
  for (const count of [0, -1, 1001, null]) {
    await assert.rejects(owner`select * from uptuple.claim_jobs('tester', ${count as number})`, {
      code: "22023",
      message: `max_jobs is ${count}, and must be between 1 and 1000`,
      hint: "Claim no more than there are free slots.",
    });
  }
});

Deno.test("a window is claimed while an earlier one of its service still runs", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  const slow = await claimOne(owner);
  await owner`update uptuple.job set due_at = due_at + interval '30 s' where state = 'RUNNING'`;

  await makeWindowDue(owner, "inventory");
  const next = await claimOne(owner);

  assert.notEqual(next.job_id, slow.job_id);
  assert.deepEqual(
    [(await jobRow(owner, slow.job_id)).state, (await jobRow(owner, next.job_id)).state],
    ["RUNNING", "RUNNING"],
  );
});
