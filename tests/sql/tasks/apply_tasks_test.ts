import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { claim, createDemoFunctions } from "./demo_functions.ts";

interface Refusal {
  code: string;
  message: string;
  detail: string;
  hint: string;
}

const nightly = { name: "nightly", kind: "CRON", cron: "30 3 * * *", function: "demo.note" };

function file(version: unknown, tasks: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { version, groups: [{ name: "reports", tasks }], ...more };
}

async function apply(sql: TestSql, document: unknown): Promise<Record<string, unknown>> {
  const [row] = await sql`select * from uptuple.apply_tasks(${document as never})`;
  return { ...row };
}

async function refusal(sql: TestSql, document: unknown): Promise<Refusal> {
  try {
    await apply(sql, document);
  } catch (error) {
    return error as Refusal;
  }
  throw new assert.AssertionError({ message: `accepted: ${JSON.stringify(document)}` });
}

const nothing = { added: [], changed: [], removed: [], shadowed: [] };

Deno.test("a file's tasks are added, changed and removed, and the answer says which", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  const worker = await database.connect("uptuple_worker");
  const weekly = { ...nightly, name: "weekly", cron: "@weekly" };

  assert.deepEqual(await apply(worker, file(1, [nightly, weekly])), {
    outcome: "APPLIED",
    version: "1",
    ...nothing,
    added: ["nightly", "weekly"],
  });
  const yearly = { ...nightly, name: "yearly" };
  assert.deepEqual(await apply(worker, file(2, [nightly, { ...yearly, cron: "@yearly" }])), {
    outcome: "APPLIED",
    version: "2",
    ...nothing,
    added: ["yearly"],
    removed: ["weekly"],
  });
  assert.deepEqual(await apply(worker, file(3, [{ ...nightly, cron: "@daily" }, { ...yearly, cron: "@yearly" }])), {
    outcome: "APPLIED",
    version: "3",
    ...nothing,
    changed: ["nightly"],
  });
  const rows = await worker<
    Record<string, unknown>[]
  >`select name, group_name, source, schedule from uptuple.tasks order by name`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { name: "nightly", group_name: "reports", source: "file", schedule: "@daily" },
    { name: "yearly", group_name: "reports", source: "file", schedule: "@yearly" },
  ]);
});

Deno.test("the same file again changes nothing, whatever the order of its members", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await apply(owner, file(1, [nightly]));
  await owner`create table before as select xmin::text as version, * from uptuple.task`;
  const { function: call, ...rest } = nightly;
  const reordered = { groups: [{ tasks: [{ function: call, ...rest }], name: "reports" }], version: 1 };
  assert.deepEqual(await apply(owner, reordered), { outcome: "UNCHANGED", version: "1", ...nothing });
  assert.deepEqual(await apply(owner, file(2, [nightly])), { outcome: "APPLIED", version: "2", ...nothing });
  const [same] =
    await owner`select count(*)::integer as rows from (select xmin::text as version, * from uptuple.task intersect table before) same`;
  assert.equal(same.rows, 1);
});

Deno.test("a lower version is ignored, and the same with other content is refused", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await apply(owner, file(5, [nightly]));
  assert.deepEqual(await apply(owner, file(4, [])), { outcome: "IGNORED", version: "4", ...nothing });
  const { code, message, hint } = await refusal(owner, file(5, []));
  assert.equal(code, "UT002");
  assert.match(message, /^the tasks file has version 5, as the one applied at .* has, and says something else$/);
  assert.match(hint, /another deployment has another file/);
  const [tasks] = await owner`select count(*)::integer as count from uptuple.tasks`;
  assert.equal(tasks.count, 1);
});

Deno.test("a row of the database wins over the file's entry of its name, and is not touched", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await owner`insert into uptuple.task (name, kind, cron, function) values ('nightly', 'CRON', '@hourly', 'demo.note')`;
  const applied = await apply(owner, file(1, [nightly]));
  assert.deepEqual([applied.added, applied.shadowed], [["nightly"], ["nightly"]]);
  const [row] = await owner`select source, schedule from uptuple.tasks`;
  assert.deepEqual({ ...row }, { source: "database", schedule: "@hourly" });
  await owner`select uptuple.remove_task('nightly')`;
  const [below] = await owner`select source, schedule from uptuple.tasks`;
  assert.deepEqual({ ...below }, { source: "file", schedule: "30 3 * * *" });
});

Deno.test("file, group and task each switch off what is in them", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const enabled = async (document: unknown) => {
    await apply(owner, document);
    const [row] = await owner`select enabled from uptuple.tasks`;
    return row.enabled;
  };
  const group = { name: "g", tasks: [nightly] };
  assert.equal(await enabled({ version: 1, enabled: true, groups: [{ ...group, enabled: true }] }), true);
  assert.equal(await enabled({ version: 2, enabled: false, groups: [group] }), false);
  assert.equal(await enabled({ version: 3, groups: [{ ...group, enabled: false }] }), false);
  assert.equal(await enabled({ version: 4, groups: [{ ...group, tasks: [{ ...nightly, enabled: false }] }] }), false);
  assert.equal(await enabled({ version: 5, groups: [group] }), true);
});

Deno.test("durations are milliseconds or ISO 8601", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const durations: [written: unknown, ms: string][] = [
    [90_000, "90000"],
    ["PT1M30S", "90000"],
    ["PT1.5S", "1500"],
    ["P1DT12H", "129600000"],
    ["P2W", "1209600000"],
  ];
  for (const [index, [written, ms]] of durations.entries()) {
    await apply(
      owner,
      file(index + 1, [{ name: "t", kind: "FIXED_RATE", interval_ms: written, function: "demo.note" }]),
    );
    const [row] = await owner`select interval_ms from uptuple.task`;
    assert.equal(row.interval_ms, ms, String(written));
  }
});

Deno.test("every member of an entry arrives in its column", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const entry = {
    name: "all",
    kind: "FIXED_RATE",
    interval_ms: "PT10M",
    initial_delay_ms: 5000,
    time_zone: "europe/riga",
    function: "demo.note",
    arguments: { line: "x" },
    enabled: false,
    description: "what for",
    lock_name: "shared",
    lock_at_most_ms: "PT5M",
    lock_at_least_ms: "PT1M",
    statement_timeout_ms: "PT2M",
    miss_policy: "all",
    miss_within_ms: "PT1H",
    miss_limit: 7,
  };
  await apply(owner, file(1, [entry]));
  const [row] = await owner`select * from uptuple.task`;
  const { id: _, created_at: _at, created_by: _by, changed_at: _c, changed_by: _d, removed_at: _r, ...columns } = row;
  assert.deepEqual(columns, {
    ...entry,
    source: "file",
    group_name: "reports",
    cron: null,
    interval_ms: "600000",
    initial_delay_ms: "5000",
    time_zone: "Europe/Riga",
    lock_at_most_ms: "300000",
    lock_at_least_ms: "60000",
    statement_timeout_ms: "120000",
    miss_within_ms: "3600000",
  });
});

Deno.test("a broken file is refused whole: entry and fault are named, all faults are listed, and the old tasks go on", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  await apply(owner, file(1, [nightly]));

  const { code, message, detail, hint } = await refusal(
    owner,
    file(2, [
      { ...nightly, name: "fine" },
      { ...nightly, cron: "0 24 * * *" },
      { ...nightly, name: "secret", function: "demo.secret" },
      { ...nightly, name: "typo", intervall: 1 },
    ]),
  );
  assert.equal(code, "22023");
  const first = 'groups[0].tasks[1] "nightly": cron field hour: "24" is not one of its values; allowed are 0-23';
  assert.equal(message, `the tasks file is refused, and the old tasks go on: ${first}`);
  assert.deepEqual(detail.split("\n"), [
    first,
    'groups[0].tasks[2] "secret": tasks may not call demo.secret()',
    'groups[0].tasks[3] "typo": the task has no member "intervall"',
  ]);
  assert.match(hint, /a step such as \*\/2/);
  const rows = await owner<Record<string, unknown>[]>`select name, schedule from uptuple.tasks`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [{ name: "nightly", schedule: "30 3 * * *" }]);
  assert.equal((await apply(owner, file(2, [nightly]))).outcome, "APPLIED", "the refused version was not remembered");
});

Deno.test("each fault of a file is named", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const refused = "the tasks file is refused, and the old tasks go on: ";
  const entry = 'groups[0].tasks[0] "nightly": ';
  const faults: [document: unknown, message: string][] = [
    [[], "the tasks file is [], and must be an object"],
    [file(1, [], { tasks: [] }), 'the tasks file has no member "tasks"'],
    [{ groups: [] }, "the tasks file has version null, and must have a whole number from 1"],
    [file(0, []), "the tasks file has version 0, and must have a whole number from 1"],
    [file("1", []), 'version is "1", and must be a whole number'],
    [file(1.5, []), "version is 1.5, and must be a whole number"],
    [{ version: 1 }, "groups is absent, and must be a list"],
    [{ version: 1, groups: {} }, "groups is {}, and must be a list"],
    [file(1, [], { enabled: "yes" }), 'enabled is "yes", and must be true or false'],
    [{ version: 1, groups: [1] }, `${refused}groups[0]: the group is 1, and must be an object`],
    [
      { version: 1, groups: [{ tasks: [] }] },
      `${refused}groups[0]: name is null, and must be 1 to 200 characters without control characters or blanks at its ends`,
    ],
    [{ version: 1, groups: [{ name: "g" }] }, `${refused}groups[0]: tasks is absent, and must be a list`],
    [{ version: 1, groups: [{ name: "g", tasks: [], x: 1 }] }, `${refused}groups[0]: the group has no member "x"`],
    [file(1, [null]), `${refused}groups[0].tasks[0]: the task is null, and must be an object`],
    [
      file(1, [nightly, nightly]),
      `${refused}groups[0].tasks[1] "nightly": there is another task of that name in the file`,
    ],
    [file(1, [{ ...nightly, cron: 5 }]), `${refused}${entry}cron is 5, and must be a string`],
    [file(1, [{ ...nightly, enabled: 1 }]), `${refused}${entry}enabled is 1, and must be true or false`],
    [
      file(1, [{ ...nightly, miss_limit: "7" }]),
      `${refused}${entry}miss_limit is "7", and must be a whole number of up to nine digits`,
    ],
    [
      file(1, [{ ...nightly, miss_limit: 3e9 }]),
      `${refused}${entry}miss_limit is 3000000000, and must be a whole number of up to nine digits`,
    ],
    [
      file(1, [{ ...nightly, lock_at_most_ms: "P1M" }]),
      `${refused}${entry}lock_at_most_ms is "P1M", and must be a whole number of ms, or an ISO 8601 duration such as "PT5M" or "P1DT12H" (no months, no years)`,
    ],
    [
      file(1, [{ ...nightly, lock_at_most_ms: -1 }]),
      `${refused}${entry}lock_at_most_ms is -1, and must be a whole number of ms, or an ISO 8601 duration such as "PT5M" or "P1DT12H" (no months, no years)`,
    ],
    [file(1, [{ ...nightly, time_zone: "UTC+2" }]), `${refused}${entry}time_zone "UTC+2" is not a zone's name`],
    [file(1, [{ ...nightly, function: "demo.gone" }]), `${refused}${entry}there is no function demo.gone`],
  ];
  for (const [document, message] of faults) assert.equal((await refusal(owner, document)).message, message);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.task`], []);
});

Deno.test("a null is a member that was left out", async () => {
  await using database = await testDatabase();
  await createDemoFunctions(database.owner);
  await apply(database.owner, file(1, [{ ...nightly, time_zone: null, miss_policy: null, arguments: null }]));
  const [row] = await database.owner`select time_zone, miss_policy, arguments from uptuple.task`;
  assert.deepEqual({ ...row }, { time_zone: "UTC", miss_policy: "once", arguments: {} });
});

Deno.test("a run that is going on when the file is reloaded goes on, also if its task is removed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const task = {
    name: "t",
    kind: "FIXED_RATE",
    interval_ms: 60_000,
    function: "demo.note",
    arguments: { line: "old" },
  };
  await apply(owner, file(1, [task]));
  const run = await claim(owner);
  assert.ok(run);
  await apply(owner, file(2, [{ ...task, interval_ms: 120_000, arguments: { line: "new" } }]));
  await apply(owner, file(3, []));

  const [executed] = await owner`select value from uptuple.execute_task(${run.run_id}, ${run.token})`;
  const [finished] = await owner`select uptuple.finish_task(${run.run_id}, ${run.token}) as taken`;
  assert.deepEqual([executed.value, finished.taken], ["old", true]);
  const [row] = await owner`select state from uptuple.task_runs`;
  assert.equal(row.state, "SUCCEEDED");
});

Deno.test("a reload leaves the reckoning of what it does not change", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await createDemoFunctions(owner);
  const task = {
    name: "t",
    kind: "FIXED_RATE",
    interval_ms: 3_600_000,
    initial_delay_ms: 60_000,
    function: "demo.note",
  };
  await apply(owner, file(1, [task]));
  await claim(owner);
  const [before] = await owner`select * from uptuple.task_mark`;
  await apply(owner, file(2, [{ ...task, description: "now described" }]));
  await claim(owner);
  const [after] = await owner`select * from uptuple.task_mark`;
  assert.deepEqual({ ...after }, { ...before });
});
