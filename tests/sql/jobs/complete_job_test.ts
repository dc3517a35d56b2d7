import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  checkNextWindow,
  claimOne,
  complete,
  completeBatch,
  completion,
  jobRow,
  letTimePass,
  makeWindowDue,
  REFUSED,
  stateOf,
} from "../../support/services.ts";

Deno.test("a completed job is DONE, and its result has the verdict, the reason, the timings and the facts", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner, "runtime-1");

  const completed = await complete(owner, job, {
    status: 200,
    timings: { dns: 0.25, connect: 0.5, tls: 3.5, first_byte: 5, total: 9.25 },
    address: "127.0.0.1",
    family: 4,
    body: "never stored",
    headers: { "content-type": "text/html" },
    warnings: ["body_decode_error"],
  });

  assert.equal(completed, true);
  const done = await jobRow(owner, job.job_id);
  assert.deepEqual(
    [done.state, done.owner_token, done.accepted_token, done.finished_at instanceof Date],
    ["DONE", null, job.owner_token, true],
  );
  const [result] = await owner`select * from uptuple.result`;
  const { recorded_at, ...rest } = result;
  assert.ok(recorded_at instanceof Date);
  assert.deepEqual(rest, {
    scheduled_slot: job.scheduled_slot,
    service_id: job.service_id,
    job_id: job.job_id,
    applied_order: "1",
    revision: 1,
    latency_ms: 9.25,
    dns_ms: 0.25,
    connect_ms: 0.5,
    tls_ms: 3.5,
    first_byte_ms: 5,
    http_status: 200,
    region: "default",
    purpose: "FIRST",
    status: "UP",
    code: null,
    reason: "HTTP 200",
    worker: "runtime-1",
    detail: { address: "127.0.0.1", family: 4, warnings: ["body_decode_error"] },
  });
});

Deno.test("a target that is down completes its job with a DOWN, and the job is not retried", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  const job = await claimOne(owner);

  assert.equal(await complete(owner, job, REFUSED), true);

  const [result] = await owner`select status, code, reason, http_status from uptuple.result`;
  assert.deepEqual({ ...result }, {
    status: "DOWN",
    code: "connect.refused",
    reason: "connection refused",
    http_status: null,
  });
  assert.equal((await jobRow(owner, job.job_id)).state, "DONE");
  const [waiting] = await owner`select count(*)::integer from uptuple.job where state in ('READY', 'RUNNING')`;
  assert.equal(waiting.count, 0);
});

Deno.test("an expired owner cannot complete, its successor can, once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const dead = await claimOne(owner, "dead");
  await letTimePass(owner, 31);

  assert.equal(await complete(owner, dead, REFUSED), false, "its lease has ended");
  assert.equal((await jobRow(owner, dead.job_id)).state, "RUNNING");
  const heir = await claimOne(owner, "heir");
  assert.equal(await complete(owner, dead, REFUSED), false, "its token is no longer the owner's");
  assert.deepEqual(await completeBatch(owner, [completion(heir, ANSWERED)]), ["ACCEPTED"]);
  const late = { ...dead, scheduled_slot: heir.scheduled_slot };
  assert.deepEqual(await completeBatch(owner, [completion(late, REFUSED)]), ["REFUSED"]);

  const results = await owner`select status, worker from uptuple.result`;
  assert.deepEqual(results.map((row) => ({ ...row })), [{ status: "UP", worker: "heir" }]);
  assert.equal((await stateOf(owner, "inventory")).applied_count, "1");
  await assertNoViolations(owner);
});

Deno.test("a lost acknowledgement: the same completion again answers DUPLICATE and changes nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);
  assert.deepEqual(await completeBatch(owner, [completion(job, REFUSED)]), ["ACCEPTED"]);
  const before = [await stateOf(owner, "inventory"), await jobRow(owner, job.job_id)];

  assert.deepEqual(await completeBatch(owner, [completion(job, ANSWERED)]), ["DUPLICATE"]);
  assert.equal(await complete(owner, job, ANSWERED), true, "the singular form is true for a duplicate");

  assert.deepEqual([await stateOf(owner, "inventory"), await jobRow(owner, job.job_id)], before);
  const [results] = await owner`select count(*)::integer, min(status) as status from uptuple.result`;
  assert.deepEqual({ ...results }, { count: 1, status: "DOWN" });
});

Deno.test("a duplicate is still recognised after its lease would have ended", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);
  await complete(owner, job, ANSWERED);

  await letTimePass(owner, 120);

  const { scheduled_slot } = await jobRow(owner, job.job_id);
  assert.deepEqual(await completeBatch(owner, [{ ...completion(job, ANSWERED), scheduled_slot }]), ["DUPLICATE"]);
});

Deno.test("a completion that was cut off before its commit left nothing behind, and is accepted when it comes again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);
  const cut = await database.connect();
  const [backend] = await cut`select pg_backend_pid() as pid`;
  await cut`begin`;
  assert.equal(await complete(cut, job, ANSWERED), true);

  await owner`select pg_terminate_backend(${backend.pid}, 10000)`;

  assert.equal((await jobRow(owner, job.job_id)).state, "RUNNING");
  assert.deepEqual([...await owner<object[]>`select * from uptuple.result`], []);
  assert.deepEqual(await completeBatch(owner, [completion(job, ANSWERED)]), ["ACCEPTED"]);
});

Deno.test("a job that nobody claimed, one that is not there, and one without a token are refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const [waiting] = await owner`select id, scheduled_slot from uptuple.job`;

  const token = crypto.randomUUID();
  assert.deepEqual(
    await completeBatch(owner, [
      { job_id: waiting.id, scheduled_slot: waiting.scheduled_slot, owner_token: token, observation: ANSWERED },
      { job_id: "999999", owner_token: token, observation: ANSWERED },
      { job_id: waiting.id, observation: ANSWERED },
    ]),
    ["REFUSED", "REFUSED", "REFUSED"],
  );

  assert.equal((await jobRow(owner, waiting.id)).state, "READY");
  assert.deepEqual([...await owner<object[]>`select * from uptuple.result`], []);
});

Deno.test("when the server cannot write the result, the job is not DONE, and the same token completes it later", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);
  // As a full disk would.
  await owner`
    create function pg_temp.refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'no space left on device' using errcode = 'disk_full';
    end $$`;
  await owner`create trigger refuse before insert on uptuple.result for each row execute function pg_temp.refuse()`;

  await assert.rejects(complete(owner, job, ANSWERED), { code: "53100" });

  const row = await jobRow(owner, job.job_id);
  assert.deepEqual([row.state, row.owner_token, row.attempts], ["RUNNING", job.owner_token, 1]);
  assert.equal((await stateOf(owner, "inventory")).applied_count, "0");
  await owner`drop trigger refuse on uptuple.result`;
  assert.equal(await complete(owner, job, ANSWERED), true);
});

Deno.test("when the incident cannot be written, neither are the result and the state, and the job is tried again", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { failureThreshold: 1 });
  const job = await claimOne(owner);
  await owner`alter table uptuple.incident add constraint refused check (code <> 'connect.refused')`;

  assert.deepEqual(await completeBatch(owner, [completion(job, REFUSED)]), ["BROKEN"]);

  const row = await jobRow(owner, job.job_id);
  assert.deepEqual([row.state, row.owner_token, row.attempts], ["READY", null, 1]);
  assert.match(String(row.error), /^the observation could not be stored: .*"refused"/);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.result`], []);
  assert.deepEqual(await stateOf(owner, "inventory"), {
    status: "UNKNOWN",
    failure_streak: 0,
    success_streak: 0,
    last_slot: null,
    applied_count: "0",
    incident_id: null,
  });
});

Deno.test("complete_job answers false when the observation could not be stored", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  const job = await claimOne(owner);

  assert.equal(await complete(owner, job, { nonsense: true }), false);

  assert.equal((await jobRow(owner, job.job_id)).state, "READY");
});

Deno.test("a job is judged by its own revision and counted by the present thresholds", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 3 });
  await makeWindowDue(owner, "inventory");
  const job = await claimOne(owner);
  await owner`select uptuple.update_service('inventory', expected_statuses => '404', failure_threshold => 1)`;

  assert.equal(await complete(owner, job, { status: 404, timings: { total: 1 } }), true);

  const [result] = await owner`select status, reason, revision from uptuple.result where purpose = 'GRID'`;
  assert.deepEqual({ ...result }, { status: "DOWN", reason: "HTTP 404, expected 200-299", revision: 1 });
  assert.equal((await stateOf(owner, "inventory")).status, "DOWN", "the threshold is one by now");

  await checkNextWindow(owner, "inventory", { status: 404, timings: { total: 1 } });
  assert.equal((await stateOf(owner, "inventory")).status, "UP");
});

Deno.test("completions that are no array are an error with the cure; an empty array is nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  for (const wrong of [{ job_id: 1 }, "text", 7, null]) {
    await assert.rejects(owner`select * from uptuple.complete_jobs(${owner.json(wrong)})`, {
      code: "22023",
      message: "completions must be a JSON array",
    });
  }
  await assert.rejects(owner`select * from uptuple.complete_jobs(null)`, { code: "22023" });
  assert.deepEqual(await completeBatch(owner, []), []);
});
