import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addCheckedService, addService, enqueue, letTimePass, makeWindowDue } from "../../support/services.ts";

Deno.test("a window's job is due at the window's start plus the service's phase, and carries its interval and revision", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });

  const slot = await makeWindowDue(owner, "inventory");

  const [job] = await owner`
    select job.purpose, job.state, job.attempts, job.region, job.revision, job.interval_seconds,
      mod(job.scheduled_slot, 60)::integer as phase, service.phase_seconds,
      round(extract(epoch from job.due_at) * 1000 - job.scheduled_slot * 1000)::integer as due_after_ms, service.phase_ms
    from uptuple.job
    join uptuple.service on service.id = job.service_id
    where job.scheduled_slot = ${slot}`;
  assert.equal(job.phase, job.phase_seconds);
  assert.equal(job.due_after_ms, job.phase_ms);
  const { purpose, state, attempts, region, revision, interval_seconds } = job;
  assert.deepEqual(
    { purpose, state, attempts, region, revision, interval_seconds },
    { purpose: "GRID", state: "READY", attempts: 0, region: "default", revision: 1, interval_seconds: 60 },
  );
});

Deno.test("each window of an interval has its job, one interval after the other", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "20 seconds" });

  const slots = [];
  for (let window = 0; window < 4; window++) slots.push(await makeWindowDue(owner, "inventory"));

  const rows = await owner`
    select scheduled_slot - lag(scheduled_slot) over (order by scheduled_slot) as after_seconds
    from uptuple.job where purpose = 'GRID' order by scheduled_slot`;
  assert.deepEqual(rows.map((row) => row?.after_seconds), [null, "20", "20", "20"]);
});

Deno.test("windows are made up to three seconds ahead and no further", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "fast", { every: "1 second" });
  await owner`update uptuple.service set first_slot = 0`;
  const now = async () =>
    (await owner`select floor(extract(epoch from clock_timestamp()))::integer as second`)[0].second;

  const before = await now();
  await enqueue(owner);
  const after = await now();

  const [newest] = await owner`
    select max(scheduled_slot)::integer as slot, enqueued_until::integer from uptuple.job, uptuple.enqueue_cursor group by enqueued_until`;
  assert.ok(newest.slot >= before + 3 && newest.slot <= after + 3, `${newest.slot - before} s ahead`);
  assert.equal(newest.enqueued_until, newest.slot);
});

Deno.test("services with one interval start at different seconds of it, and at different milliseconds", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(name => 'service ' || n, url => 'http://127.0.0.1/', every => '5 minutes')
    from generate_series(1, 60) n`;

  const [spread] = await owner`
    select count(distinct phase_seconds)::integer as seconds, count(distinct phase_ms)::integer as ms,
      bool_and(phase_seconds between 0 and 299 and phase_ms between 0 and 999) as in_range,
      bool_and(mod(first_slot, interval_seconds) = phase_seconds) as on_grid
    from uptuple.service`;
  assert.ok(spread.seconds > 45, `${spread.seconds} different seconds for 60 services`);
  assert.ok(spread.ms > 45, `${spread.ms} different milliseconds for 60 services`);
  assert.equal(spread.in_range, true);
  assert.equal(spread.on_grid, true);
});

Deno.test("the phase of a service stays the same when it is stopped and started again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 hour" });
  const phase = async () => ({ ...(await owner`select phase_seconds, phase_ms from uptuple.service`)[0] });
  const before = await phase();

  await owner`select uptuple.disable_service('inventory')`;
  await owner`select uptuple.enable_service('inventory')`;

  assert.deepEqual(await phase(), before);
});

Deno.test("no window starts before the service's first one, however far back the grid would reach", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  await owner`update uptuple.enqueue_cursor set enqueued_until = enqueued_until - 2 * 86400`;

  assert.equal(await enqueue(owner), 0);

  const [rows] = await owner`select array_agg(purpose) as purposes from uptuple.job`;
  assert.deepEqual(rows.purposes, ["FIRST"]);
});

Deno.test("time when nobody enqueued is not replayed: each service gets its present window and no more", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await makeWindowDue(owner, "inventory");

  await letTimePass(owner, 5 * 3600);
  await enqueue(owner);

  const [present] = await owner`
    select count(*)::integer as jobs,
      bool_and(scheduled_slot > extract(epoch from clock_timestamp()) - 60) as is_present
    from uptuple.job
    join uptuple.service on service.id = job.service_id
    where service.name = 'inventory' and job.scheduled_slot > extract(epoch from clock_timestamp()) - 4 * 3600`;
  assert.ok(present.jobs === 1 || present.jobs === 2, `${present.jobs} windows were made after five hours of silence`);
  assert.equal(present.is_present, true);
});

Deno.test("disabled services get no windows", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "10 seconds" });
  await owner`select uptuple.disable_service('inventory')`;
  await letTimePass(owner, 60);

  assert.equal(await enqueue(owner), 0);
});
