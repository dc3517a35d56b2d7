import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../support/database.ts";
import { emptiedDatabase } from "../support/emptied_database.ts";
import { addCheckedService, checkNextWindow, REFUSED } from "../support/services.ts";

const ROLES = ["uptuple_worker", "uptuple_operator", "uptuple_viewer"];

/** What a function may set beside its search path: how it is planned, how long it waits for a lock, how it reads dates. */
const SETTINGS = /^(enable_\w+=off|jit=off|plan_cache_mode=force_generic_plan|lock_timeout=\w+|DateStyle=ISO, DMY)$/;

/** What runs scheduled tasks is meant to run as another role, the one whose grants are the list of what tasks may do. */
const RUNS_AS_TASK = "uptuple.run_as_task(text,jsonb)";

/** Tasks are rows that operators write themselves; a trigger checks what they write. */
const WRITTEN_BY_OPERATORS = "uptuple.task";

async function names(query: Promise<readonly { name: string }[]>): Promise<string[]> {
  return (await query).map((row) => row.name);
}

/** A database in which everything has been used once, so that partitions are there as well. */
async function usedDatabase() {
  const database = await emptiedDatabase();
  await addCheckedService(database.owner, "inventory", { failureThreshold: 1 });
  await checkNextWindow(database.owner, "inventory", REFUSED);
  return database;
}

Deno.test("every function has exactly the search path 'pg_catalog, pg_temp', or a body that was bound when it was created", async () => {
  await using database = await usedDatabase();

  const rows = await database.owner<{ name: string; settings: string[]; definer: boolean; bound: boolean }[]>`
    select oid::regprocedure::text as name, coalesce(proconfig, '{}') as settings, prosecdef as definer, prosqlbody is not null as bound
    from pg_proc where pronamespace = 'uptuple'::regnamespace order by 1`;

  assert.ok(rows.length > 80, `${rows.length} functions`);
  for (const { name, settings, definer, bound } of rows) {
    const path = settings.filter((setting) => setting.startsWith("search_path="));
    if (bound && !definer && settings.length === 0) continue;
    assert.deepEqual(path, ["search_path=pg_catalog, pg_temp"], name);
    for (const setting of settings) {
      if (!path.includes(setting)) assert.match(setting, SETTINGS, `${name} sets ${setting}`);
    }
  }
});

Deno.test("what is called for each result is inlined into the statement that stores it", async () => {
  await using database = await usedDatabase();
  const functions = await database.owner<{ name: string; types: string[] }[]>`
    select proname as name, array(select format_type(type, null) from unnest(proargtypes) with ordinality given (type, place) order by place) as types
    from pg_proc
    where pronamespace = 'uptuple'::regnamespace and proname = any ('{evaluate_observation,observed_detail,observed_ms}')
    order by 1`;
  assert.equal(functions.length, 3);

  for (const { name, types } of functions) {
    const values = types.map((type, place) => `null::${type} as a${place}`).join(", ");
    const call = `uptuple.${name}(${types.map((_, place) => `given.a${place}`).join(", ")})`;
    const plan = await database.owner.unsafe<{ "QUERY PLAN": string }[]>(
      `explain (verbose, costs off) select ${call} from (select ${values} offset 0) given`,
    );
    assert.ok(!plan.some((line) => line["QUERY PLAN"].includes(`uptuple.${name}(`)), name);
  }
});

Deno.test("nobody may execute a function by being anybody", async () => {
  await using database = await usedDatabase();

  const open = await names(database.owner<{ name: string }[]>`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = 'uptuple'::regnamespace
      and (proacl is null or exists (select from aclexplode(proacl) where grantee = 0))
    order by 1`);

  assert.deepEqual(open, []);
});

Deno.test("functions that run as their owner, and all tables and views, belong to uptuple_owner, which is no superuser and cannot log in", async () => {
  await using database = await usedDatabase();
  const { owner } = database;

  const strangers = await names(owner<{ name: string }[]>`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = 'uptuple'::regnamespace and proowner <> 'uptuple_owner'::regrole
      and (oid, proowner) is distinct from (${RUNS_AS_TASK}::regprocedure, 'uptuple_task'::regrole)
    union all
    select oid::regclass::text from pg_class
    where relnamespace = 'uptuple'::regnamespace and relowner <> 'uptuple_owner'::regrole`);
  assert.deepEqual(strangers, []);
  const [role] =
    await owner`select rolsuper, rolcanlogin, rolcreaterole, rolcreatedb, rolbypassrls from pg_roles where rolname = 'uptuple_owner'`;
  assert.deepEqual({ ...role }, {
    rolsuper: false,
    rolcanlogin: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolbypassrls: false,
  });
});

Deno.test("no role has any privilege on a table or sequence but operators on tasks, and on views only that of reading", async () => {
  await using database = await usedDatabase();
  const { owner } = database;

  const grants = await owner<{ relation: string; kind: string; grantee: string; privilege: string }[]>`
    select relation.oid::regclass::text as relation, relation.relkind as kind,
      case acl.grantee when 0 then 'public' else acl.grantee::regrole::text end as grantee, acl.privilege_type as privilege
    from pg_class relation, aclexplode(relation.relacl) acl
    where relation.relnamespace = 'uptuple'::regnamespace and acl.grantee <> relation.relowner
    union all
    select attrelid::regclass::text || '.' || attname, 'column', acl.grantee::regrole::text, acl.privilege_type
    from pg_attribute, aclexplode(attacl) acl
    where attrelid in (select oid from pg_class where relnamespace = 'uptuple'::regnamespace)`;

  const allowed = ({ relation, kind, grantee, privilege }: (typeof grants)[number]): boolean =>
    kind === "v" && privilege === "SELECT" && [...ROLES, "uptuple_task"].includes(grantee) ||
    relation === WRITTEN_BY_OPERATORS && grantee === "uptuple_operator" && privilege !== "DELETE";
  const forbidden = grants.filter((grant) => !allowed(grant));
  assert.deepEqual(forbidden.map((grant) => ({ ...grant })), []);
  assert.ok(grants.length > 20, "views are granted");
});

Deno.test("no role may create anything in the schema, and all of them may use it", async () => {
  await using database = await usedDatabase();

  for (const role of [...ROLES, "uptuple_task"]) {
    const [may] = await database.owner`
      select has_schema_privilege(${role}, 'uptuple', 'CREATE') as create, has_schema_privilege(${role}, 'uptuple', 'USAGE') as use`;
    assert.deepEqual({ ...may }, { create: false, use: true }, role);
  }
  const [anybody] = await database.owner`
    select count(*)::integer from pg_namespace, aclexplode(nspacl) where nspname = 'uptuple' and grantee = 0`;
  assert.equal(anybody.count, 0);
});

Deno.test("everything has a comment", async () => {
  await using database = await usedDatabase();
  const { owner } = database;

  const silent = await names(owner<{ name: string }[]>`
    select oid::regprocedure::text as name from pg_proc
    where pronamespace = 'uptuple'::regnamespace and obj_description(oid, 'pg_proc') is null
    union all
    select oid::regclass::text from pg_class
    where relnamespace = 'uptuple'::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition
      and obj_description(oid, 'pg_class') is null
    union all
    select nspname from pg_namespace where nspname = 'uptuple' and obj_description(oid, 'pg_namespace') is null
    order by 1`);

  assert.deepEqual(silent, []);
});

Deno.test("a viewer can read views and change nothing", async () => {
  await using database = await usedDatabase();
  const viewer = await database.connect("uptuple_viewer");

  assert.equal((await viewer<object[]>`select * from uptuple.status`).length, 1);
  assert.deepEqual([...await viewer<object[]>`select * from uptuple.invariant_violations`], []);
  for (
    const refused of [
      "select * from uptuple.service",
      "select * from uptuple.service_revision",
      "delete from uptuple.status",
      "select uptuple.add_service(name => 'a', url => 'http://127.0.0.1/')",
      "select * from uptuple.claim_jobs('viewer')",
      "select uptuple.record_health('inventory', 'DOWN')",
      "select uptuple.find_service('inventory')",
      "create table uptuple.own ()",
    ]
  ) {
    await assert.rejects(
      viewer.unsafe(refused),
      (error: { code: string }) => ["42501", "55000"].includes(error.code),
      refused,
    );
  }
});

Deno.test("a worker can do a runtime's work and nothing of an operator's", async () => {
  await using database = await usedDatabase();
  const worker = await database.connect("uptuple_worker");

  await worker`select uptuple.enqueue_jobs()`;
  await worker`select * from uptuple.claim_jobs('worker', 10)`;
  await worker`select * from uptuple.complete_jobs('[]')`;
  await worker`select * from uptuple.retry_jobs('[]')`;
  await worker`select * from uptuple.extend_jobs('[]')`;
  await worker`select uptuple.release_jobs('{}', '{}')`;
  await worker`select uptuple.next_job_due(), uptuple.overdue('1 second'), uptuple.unwell()`;
  await worker`select * from uptuple.sweep()`;
  await worker`select uptuple.tell_due()`;
  await worker`select uptuple.ensure_partitions(), uptuple.drop_old_partitions()`;
  await worker`select uptuple.report_worker('worker', 'default', '{probe}', 1), uptuple.retire_worker('worker')`;
  for (
    const refused of [
      "select uptuple.add_service(name => 'a', url => 'http://127.0.0.1/')",
      "select uptuple.update_service('inventory', url => 'http://127.0.0.1/')",
      "select uptuple.remove_service('inventory')",
      "select uptuple.disable_service('inventory')",
      "select uptuple.cancel_jobs(service => 'inventory')",
      "select uptuple.check_now('inventory')",
      "select uptuple.trust_worker('worker')",
      "select uptuple.acknowledge('inventory')",
      "select uptuple.route('ops')",
      "select * from uptuple.complete_batch('[]')",
      "select * from uptuple.record_results('{}')",
      "update uptuple.job set state = 'DONE'",
      "select * from uptuple.job",
      "select nextval('uptuple.job_id')",
    ]
  ) {
    await assert.rejects(worker.unsafe(refused), { code: "42501" }, refused);
  }
});

Deno.test("an operator can drive the whole life of a service and of a job by hand, without touching a table", async () => {
  await using database = await emptiedDatabase();
  const operator = await database.connect("uptuple_operator");

  await operator`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1/')`;
  const [job] = await operator`select * from uptuple.claim_job('by hand')`;
  const [completed] =
    await operator`select uptuple.complete_job(${job.job_id}, ${job.owner_token}, '{"status": 200}') as done`;
  assert.equal(completed.done, true);
  const [recorded] = await operator`select applied, state from uptuple.record_health('inventory', 'UP')`;
  assert.deepEqual({ ...recorded }, { applied: true, state: "UP" });
  await operator`select uptuple.update_service('inventory', every => '1 minute')`;
  await operator`select uptuple.disable_service('inventory'), uptuple.enable_service('inventory')`;
  await operator`select uptuple.enqueue_jobs(), uptuple.check_now('inventory')`;
  await operator`select uptuple.cancel_jobs(service => 'inventory')`;
  await operator`select uptuple.remove_service('inventory')`;
  for (
    const refused of [
      "select * from uptuple.job",
      "delete from uptuple.service",
      "update uptuple.service_state set status = 'UP'",
    ]
  ) {
    await assert.rejects(operator.unsafe(refused), { code: "42501" }, refused);
  }
});

/** Types that the functions use in declarations and casts, and that a caller can have under the same name in pg_temp. */
const SHADOWED_TYPES = [
  "uuid",
  "text",
  "jsonb",
  "int8",
  "int4",
  "int2",
  "bool",
  "float4",
  "float8",
  "numeric",
  "interval",
  "timestamptz",
  "inet",
  "int4range",
  "int4multirange",
  "tstzrange",
  "regclass",
  "regnamespace",
  "name",
];

/**
 * Fills the caller's pg_temp with traps: domains named as types, tables named as ours and as catalogs, functions and operators
 * named as those that our functions call. Each trap writes down who sprang it.
 */
async function layTraps(attacker: TestSql): Promise<void> {
  await attacker`create temp table sprung (trap text, run_as text)`;
  await attacker`grant all on sprung to public`;
  await attacker`
    create function pg_temp.spring(trap text) returns boolean language plpgsql as $$
    begin
      execute format('insert into %I.sprung values (%L, %L)', (select nspname from pg_catalog.pg_namespace where oid = pg_catalog.pg_my_temp_schema()), trap, current_user);
      return true;
    end $$`;
  await attacker`grant execute on function pg_temp.spring(text) to public`;
  for (const type of SHADOWED_TYPES) {
    await attacker.unsafe(
      `create domain pg_temp."${type}" as pg_catalog.${type} check (pg_temp.spring('type ${type}'))`,
    );
  }
  for (const name of ["clock_timestamp()", "gen_random_uuid()", "now()"]) {
    await attacker.unsafe(`
      create function pg_temp.${name} returns pg_catalog.${
      name.startsWith("gen") ? "uuid" : "timestamptz"
    } language plpgsql as $$
      begin
        perform pg_temp.spring('function ${name}');
        return pg_catalog.${name};
      end $$`);
  }
  await attacker`
    create function pg_temp.jsonb_array_elements(value pg_catalog.jsonb) returns setof pg_catalog.jsonb language plpgsql as $$
    begin
      perform pg_temp.spring('function jsonb_array_elements');
      return query select * from pg_catalog.jsonb_array_elements(value);
    end $$`;
  await attacker`
    create function pg_temp.same(one pg_catalog.text, other pg_catalog.text) returns pg_catalog.bool language plpgsql as $$
    begin
      return pg_temp.spring('operator =');
    end $$`;
  await attacker`create operator pg_temp.= (leftarg = pg_catalog.text, rightarg = pg_catalog.text, function = pg_temp.same)`;
  for (
    const table of [
      "job",
      "service",
      "service_state",
      "result",
      "enqueue_cursor",
      "region",
      "worker",
      "pg_class",
      "pg_namespace",
      "pg_inherits",
    ]
  ) {
    await attacker.unsafe(
      `create temp table "${table}" (id pg_catalog.int8 default 1 check (pg_temp.spring('table ${table}')))`,
    );
  }
}

async function sprungAs(attacker: TestSql, role: string): Promise<string[]> {
  return await names(
    attacker<{ name: string }[]>`select distinct trap as name from sprung where run_as = ${role} order by 1`,
  );
}

Deno.test("what a caller has in pg_temp does not run as the owner, whichever function he calls", async () => {
  await using database = await emptiedDatabase();
  const attacker = await database.connect("uptuple_operator");
  const worker = await database.connect("uptuple_worker");
  await layTraps(attacker);
  await layTraps(worker);

  await attacker`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:8081/x', headers => '{"X-A": "1"}', tags => '{a}')`;
  await attacker`select uptuple.update_service('inventory', every => '1 minute', failure_threshold => 1)`;
  await attacker`select uptuple.enqueue_jobs()`;
  const [job] = await attacker`select * from uptuple.claim_jobs('attacker', 1)`;
  await attacker`select uptuple.extend_job(${job.job_id}, ${job.owner_token})`;
  await attacker`select uptuple.release_jobs(array[${job.job_id}]::pg_catalog.int8[], array[${job.owner_token}]::pg_catalog.uuid[])`;
  const [again] = await attacker`select * from uptuple.claim_job('attacker')`;
  await attacker`select uptuple.retry_job(${again.job_id}, ${again.owner_token}, 'stalled')`;
  await attacker`select * from uptuple.complete_jobs('[{"job_id": 1, "owner_token": "no uuid"}, 7]')`;
  await attacker`select uptuple.complete_job(${again.job_id}, ${again.owner_token}, '{"status": 200, "timings": {"total": 1}}')`;
  await attacker`select * from uptuple.record_health('inventory', 'DOWN', 'by hand', 1.5)`;
  await attacker`select uptuple.check_now('inventory')`;
  await attacker`select uptuple.cancel_jobs(service => 'inventory')`;
  await attacker`select * from uptuple.uptime('inventory')`;
  await attacker`select * from uptuple.windows('inventory')`;
  await attacker`select * from uptuple.percentiles('inventory'), uptuple.daily('inventory', 3), uptuple.downtime('inventory')`;
  await attacker`select * from uptuple.daily_uptimes(3), uptuple.uptimes()`;
  await attacker`select uptuple.roll_up(), uptuple.rebuild_roll_ups(), uptuple.set_retention('jobs', '3 days')`;
  await attacker`select * from uptuple.apply_retention()`;
  await attacker`select uptuple.evaluate_observation('{"expected_statuses": "{[200,300)}"}', '{"status": 200}')`;
  await attacker`
    select uptuple.add_service(
      name => 'asserted', url => 'https://мтр24.рф/', options => '{"ip_family": 4}',
      assertions => '[{"json": "$.a", "<": 3}, {"body": {"matches": "a{2}"}}, {"any": [{"header": "a", "exists": true}, {"certificate_days": {">": 1}}]}]'
    )`;
  await attacker`select uptuple.add_service(name => 'named', url => 'dns:example.com', options => '{"answers": ["10.0.0.1"], "resolver": "1.1.1.1"}')`;
  await attacker`select uptuple.add_service(name => 'beating', url => 'heartbeat:', options => '{"cron": "0 3 * * *", "grace": "5 minutes"}')`;
  await attacker`
    select * from uptuple.test_assertions('{"service": "asserted"}', '{"status": 200, "body": "{}", "certificate": {"not_after": "2030-01-01"}}')`;
  await attacker`select * from uptuple.explain_check(service => 'inventory')`;
  await attacker`select * from uptuple.what_if('inventory', '{"expected_statuses": "500", "assertions": [{"latency_ms": {"<": 5}}]}')`;
  await attacker`select * from uptuple.sweep()`;
  await attacker`select uptuple.ensure_partitions(), uptuple.drop_old_partitions(), uptuple.next_job_due(), uptuple.unwell()`;
  const canary = worker.json([{ host: "a", observation: { error: { code: "dns" } } }]);
  await worker`select uptuple.report_worker('attacker', 'default', '{probe}', 1, 0, 9, ${canary})`;
  await worker`select * from uptuple.claim_jobs('attacker', 10)`;
  await attacker`select uptuple.trust_worker('attacker')`;
  await worker`select uptuple.retire_worker('attacker')`;
  await worker`select uptuple.enqueue_jobs(), uptuple.overdue('1 second')`;
  await worker`select * from uptuple.claim_jobs('attacker', 10)`;
  await attacker`select uptuple.disable_service('inventory'), uptuple.enable_service('inventory')`;
  await attacker`select uptuple.remove_service('inventory')`;
  await attacker`select * from uptuple.status, uptuple.coverage, uptuple.jobs_backlog`;

  assert.deepEqual(await sprungAs(attacker, "uptuple_owner"), []);
  assert.deepEqual(await sprungAs(worker, "uptuple_owner"), []);
});

Deno.test("the same traps catch a function with an empty search path, which is why ours have another", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`
    create function uptuple.careless(value pg_catalog.text) returns pg_catalog.text
    language plpgsql security definer set search_path = '' as $$
    begin
      return value::uuid;
    end $$`;
  await owner`alter function uptuple.careless(text) owner to uptuple_owner`;
  await owner`grant execute on function uptuple.careless(text) to uptuple_operator`;
  const attacker = await database.connect("uptuple_operator");
  await layTraps(attacker);

  await attacker`select uptuple.careless('00000000-0000-0000-0000-000000000000')`;

  assert.deepEqual(await sprungAs(attacker, "uptuple_owner"), ["type uuid"]);
});
