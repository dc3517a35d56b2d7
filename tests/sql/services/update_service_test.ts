import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  ANSWERED,
  assertNoViolations,
  checkNextWindow,
  claim,
  claimOne,
  complete,
  letTimePass,
  makeWindowDue,
  REFUSED,
  stateOf,
} from "../../support/services.ts";

async function revisions(sql: TestSql): Promise<Record<string, unknown>[]> {
  return (await sql<Record<string, unknown>[]>`
    select revision, target, config, timeout_ms from uptuple.service_revision order by revision`).map((row) => ({
    ...row,
  }));
}

Deno.test("a change of what is sent or expected makes a new revision; the old one stays as it was", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { url: "http://127.0.0.1/old" });
  const [old] = await revisions(owner);

  const [answer] = await owner`
    select uptuple.update_service(
      'inventory', url => 'http://127.0.0.1/new', method => 'HEAD', headers => '{"X-A": "1"}', expected_statuses => '204',
      follow_redirects => 1, timeout => '2 seconds', insecure => true
    ) as revision`;

  assert.equal(answer.revision, 2);
  assert.deepEqual(await revisions(owner), [old, {
    revision: 2,
    target: "http://127.0.0.1/new",
    config: {
      method: "HEAD",
      headers: { "X-A": "1" },
      expected_statuses: "{[204,205)}",
      follow_redirects: 1,
      insecure: true,
    },
    timeout_ms: 2000,
  }]);
});

Deno.test("what is left out stays, whatever it is", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(
      name => 'inventory', url => 'https://127.0.0.1/', every => '2 minutes', timeout => '3 seconds', method => 'POST', headers => '{"X-A": "1"}',
      body => 'ping', expected_statuses => '200-204, 301', failure_threshold => 5, recovery_threshold => 2, confirm_every => '7 seconds',
      follow_redirects => 3, insecure => true, group_name => 'shop', tags => '{a,b}'
    )`;
  const rows = async () => [await revisions(owner), { ...(await owner`select * from uptuple.service`)[0] }];
  const [revisionsBefore, serviceBefore] = await rows();

  const [answer] = await owner`select uptuple.update_service('inventory') as revision`;

  const [revisionsAfter, serviceAfter] = await rows();
  assert.equal(answer.revision, 1);
  assert.deepEqual(revisionsAfter, revisionsBefore);
  const { updated_at: _before, ...before } = serviceBefore as Record<string, unknown>;
  const { updated_at: _after, ...after } = serviceAfter as Record<string, unknown>;
  assert.deepEqual(after, before);
});

Deno.test("a change of name, group, tags or thresholds makes no revision", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  const [answer] = await owner`
    select uptuple.update_service(
      'inventory', new_name => 'stock', group_name => 'shop', tags => '{a}', failure_threshold => 2, recovery_threshold => 2,
      confirm_every => '5 seconds'
    ) as revision`;

  assert.equal(answer.revision, 1);
  const [service] = await owner`
    select name, group_name, tags, failure_threshold, recovery_threshold, confirm_seconds, revision from uptuple.service`;
  assert.deepEqual({ ...service }, {
    name: "stock",
    group_name: "shop",
    tags: ["a"],
    failure_threshold: 2,
    recovery_threshold: 2,
    confirm_seconds: 5,
    revision: 1,
  });
});

Deno.test("an empty body or group takes it away, empty tags and headers empty them", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.add_service(
      name => 'inventory', url => 'http://127.0.0.1/', method => 'POST', body => 'ping', headers => '{"X-A": "1"}', group_name => 'shop', tags => '{a}'
    )`;

  await owner`select uptuple.update_service('inventory', body => '', headers => '{}', group_name => '', tags => '{}')`;

  const [service] = await owner`
    select group_name, tags, config from uptuple.service join uptuple.service_revision using (revision)`;
  assert.deepEqual({ ...service }, {
    group_name: null,
    tags: [],
    config: { method: "POST", headers: {}, expected_statuses: "{[200,300)}", follow_redirects: 0 },
  });
});

Deno.test("an edit touches no job that exists", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory");
  await makeWindowDue(owner, "inventory");
  const jobs = async () => [...await owner<object[]>`select * from uptuple.job order by id`];
  const before = await jobs();

  await owner`select uptuple.update_service('inventory', url => 'http://127.0.0.1/new', every => '1 hour')`;

  assert.deepEqual(await jobs(), before);
});

Deno.test("a new interval starts a new grid after the change and above the newest slot there is", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  await makeWindowDue(owner, "inventory");
  await owner`update uptuple.job set scheduled_slot = scheduled_slot + 40 where purpose = 'GRID'`;

  await owner`select uptuple.update_service('inventory', every => '7 seconds')`;

  const [grid] = await owner`
    select interval_seconds, mod(first_slot, 7)::integer = phase_seconds as on_grid,
      first_slot > (select max(scheduled_slot) from uptuple.job) as above_newest,
      first_slot <= (select max(scheduled_slot) from uptuple.job) + 7 as next_one
    from uptuple.service`;
  assert.deepEqual({ ...grid }, { interval_seconds: 7, on_grid: true, above_newest: true, next_one: true });
});

Deno.test("slots stay ordered and each window stays single while the interval changes again and again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { every: "1 minute" });
  const order: string[] = [];
  for (const every of ["10 seconds", "17 seconds", "1 minute", "5 seconds", "30 seconds"]) {
    await owner`select uptuple.update_service('inventory', every => ${every})`;
    const job = await checkNextWindow(owner, "inventory", ANSWERED);
    order.push(job.job_id);
  }

  const rows = await owner<{ job_id: string; purpose: string; applied_order: string }[]>`
    select job_id, purpose, applied_order from uptuple.result order by scheduled_slot`;
  assert.deepEqual(rows.map((row) => row.applied_order), ["1", "2", "3", "4", "5", "6"]);
  assert.deepEqual(rows.slice(1).map((row) => row.job_id), order);
  await assertNoViolations(owner);
});

Deno.test("a change of anything but the interval leaves the grid alone", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 hour" });
  const grid = async () => [
    { ...(await owner`select first_slot, phase_seconds, phase_ms from uptuple.service`)[0] },
    { ...(await owner`select * from uptuple.service_active`)[0] },
  ];
  const before = await grid();

  await owner`select uptuple.update_service('inventory', url => 'http://127.0.0.1/new', every => '1 hour')`;

  assert.deepEqual(await grid(), before);
});

Deno.test("a timeout that was not asked for shrinks with the interval; one that was asked for is refused", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");

  await owner`select uptuple.update_service('inventory', every => '2 seconds')`;
  assert.deepEqual((await revisions(owner)).map((revision) => revision.timeout_ms), [10000, 2000]);

  await assert.rejects(owner`select uptuple.update_service('inventory', every => '1 second', timeout => '2 seconds')`, {
    code: "22023",
  });
});

Deno.test("the interval of a disabled service can be changed, and counts when it is enabled", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  await owner`select uptuple.disable_service('inventory')`;

  await owner`select uptuple.update_service('inventory', every => '10 seconds')`;
  const [stopped] = await owner`select count(*)::integer from uptuple.service_active where upper_inf(during)`;
  assert.equal(stopped.count, 0);
  await owner`select uptuple.enable_service('inventory')`;

  const [grid] = await owner`
    select interval_seconds, mod(first_slot, 10)::integer = phase_seconds as on_grid from uptuple.service`;
  assert.deepEqual({ ...grid }, { interval_seconds: 10, on_grid: true });
});

Deno.test("a lower threshold counts from the next result on", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { failureThreshold: 5 });
  await checkNextWindow(owner, "inventory", REFUSED);
  await checkNextWindow(owner, "inventory", REFUSED);
  await owner`select uptuple.update_service('inventory', failure_threshold => 2)`;
  assert.equal((await stateOf(owner, "inventory")).status, "UP");

  await checkNextWindow(owner, "inventory", REFUSED);

  assert.equal((await stateOf(owner, "inventory")).status, "DOWN");
  await assertNoViolations(owner);
});

Deno.test("a name that is taken is refused, one's own name is not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "a");
  await addService(owner, "b");

  await assert.rejects(owner`select uptuple.update_service('a', new_name => 'b')`, {
    code: "23505",
    message: "there is already a service named 'b'",
    hint: "Choose another new_name.",
  });
  await owner`select uptuple.update_service('a', new_name => 'a')`;
  await owner`select uptuple.remove_service('b')`;
  await owner`select uptuple.update_service('a', new_name => 'b')`;

  const shown = await owner<{ service: string }[]>`select service from uptuple.status`;
  assert.deepEqual(shown.map((row) => row.service), ["b"]);
});

Deno.test("a service that is not there, or was removed, cannot be changed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory");
  await owner`select uptuple.remove_service('inventory')`;

  for (const name of ["inventory", "nobody", null]) {
    await assert.rejects(owner`select uptuple.update_service(${name as string}, every => '1 minute')`, {
      code: "UT001",
      message: `there is no service named ${name === null ? "null" : `'${name}'`}`,
      hint: "select service from uptuple.status lists the services.",
    });
  }
});

Deno.test("jobs of two revisions of one service run side by side, each with its own", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "inventory", { url: "http://127.0.0.1/old" });
  await makeWindowDue(owner, "inventory");
  const old = await claimOne(owner);
  await owner`select uptuple.update_service('inventory', expected_statuses => '404')`;
  await letTimePass(owner, 1);
  await owner`select uptuple.check_now('inventory')`;
  const [fresh] = await claim(owner, 1);
  assert.ok(fresh);

  await complete(owner, fresh, { status: 404, timings: { total: 1 } });
  await complete(owner, old, { status: 404, timings: { total: 1 } });

  const rows = await owner<{ revision: number; status: string }[]>`
    select revision, status from uptuple.result where purpose <> 'FIRST' order by revision`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ revision: 1, status: "DOWN" }, { revision: 2, status: "UP" }]);
});

Deno.test("confirm_every of 0 gives back its default", async () => {
  await using database = await emptiedDatabase();
  await addService(database.owner, "inventory", { confirmEvery: "7 seconds" });

  await database.owner`select uptuple.update_service('inventory', confirm_every => '0')`;

  const [row] = await database.owner`select confirm_seconds from uptuple.service`;
  assert.equal(row.confirm_seconds, null);
});
