import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addService, assertNoViolations, claim, claimOne, enqueue } from "../../support/services.ts";

Deno.test("a service needs a name and a URL; the rest has defaults", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  const [added] = await owner`
    select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:8081/api/v1/health') as id`;

  const [service] = await owner`
    select name, group_name, tags, regions, revision, enabled, interval_seconds, failure_threshold, recovery_threshold,
      confirm_seconds, removed_at
    from uptuple.service where id = ${added.id}`;
  assert.deepEqual({ ...service }, {
    name: "inventory",
    group_name: null,
    tags: [],
    regions: ["default"],
    revision: 1,
    enabled: true,
    interval_seconds: 30,
    failure_threshold: 3,
    recovery_threshold: 1,
    confirm_seconds: null,
    removed_at: null,
  });
  const [revision] = await owner`select kind, target, config, timeout_ms from uptuple.service_revision`;
  assert.deepEqual({ ...revision }, {
    kind: "http",
    target: "http://127.0.0.1:8081/api/v1/health",
    config: { method: "GET", headers: {}, expected_statuses: "{[200,300)}", follow_redirects: 0 },
    timeout_ms: 10000,
  });
});

Deno.test("the first check of a new service is due at once, outside its grid", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });

  const job = await claimOne(owner);

  assert.equal(job.purpose, "FIRST");
  const [service] = await owner`select first_slot from uptuple.service`;
  assert.ok(Number(job.scheduled_slot) < Number(service.first_slot));
});

Deno.test("a new service is UNKNOWN until its first verdict", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  const [shown] =
    await owner`select service, status, checked_status, failure_streak, every::text, url from uptuple.status`;

  assert.deepEqual({ ...shown }, {
    service: "inventory",
    status: "UNKNOWN",
    checked_status: null,
    failure_streak: 0,
    every: "00:00:30",
    url: "http://127.0.0.1:8081/health",
  });
});

Deno.test("a service can be added without being watched yet", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1/', enabled => false)`;

  assert.deepEqual(await claim(owner), []);
  assert.equal(await enqueue(owner), 0);
  const [shown] = await owner`select status from uptuple.status`;
  assert.equal(shown.status, "PAUSED");
  await owner`select uptuple.enable_service('inventory')`;
  assert.equal((await claimOne(owner)).purpose, "FIRST");
});

Deno.test("enabled left null is as if it were left out", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1/', every => '1 hour', enabled => null)`;

  const [service] = await owner`
    select enabled, mod(first_slot, 3600)::integer = phase_seconds as on_grid, first_slot > extract(epoch from clock_timestamp()) as ahead,
      (select count(*)::integer from uptuple.service_active) as active
    from uptuple.service`;
  assert.deepEqual({ ...service }, { enabled: true, on_grid: true, ahead: true, active: 1 });
  assert.equal((await claimOne(owner)).purpose, "FIRST");
});

Deno.test("a name is given once", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  await assert.rejects(addService(owner, "inventory"), {
    code: "23505",
    message: "there is already a service named 'inventory'",
    hint: "Choose another name, or change this one with update_service.",
  });

  const [services] = await owner`select count(*)::integer from uptuple.service`;
  assert.equal(services.count, 1);
});

Deno.test("the name of a removed service is free, and its history stays with the old one", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const old = await addService(owner, "inventory");
  await owner`select uptuple.remove_service('inventory')`;

  const fresh = await addService(owner, "inventory");

  assert.notEqual(fresh, old);
  const shown = await owner<object[]>`select from uptuple.status where service = 'inventory'`;
  assert.equal(shown.length, 1);
  await assertNoViolations(owner);
});

Deno.test("a second region is refused until quorum rules exist", async () => {
  await using database = await emptiedDatabase();

  await assert.rejects(
    database.owner`select uptuple.add_service(name => 'a', url => 'http://127.0.0.1/', regions => '{eu-west,us-east}')`,
    { code: "22023", message: "regions is {eu-west,us-east}, and must name exactly one region" },
  );
});

Deno.test("a service that is refused leaves nothing behind", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await assert.rejects(
    owner`select uptuple.add_service(name => 'a', url => 'http://127.0.0.1/', every => '1 hour', failure_threshold => 0)`,
    { code: "22023" },
  );

  const [rows] = await owner`
    select (select count(*) from uptuple.service) + (select count(*) from uptuple.service_revision) + (select count(*) from uptuple.job) as count`;
  assert.equal(rows.count, "0");
});

Deno.test("names are compared as they are written, in any script", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  for (
    const name of ["inventory", "Inventory", "Lager über Straße", "在庫 🏭", 'it\'s "quoted" \\ $1', "a; drop table x"]
  ) {
    await addService(owner, name);
    const [found] = await owner`select count(*)::integer from uptuple.status where service = ${name}`;
    assert.equal(found.count, 1, name);
  }
});
