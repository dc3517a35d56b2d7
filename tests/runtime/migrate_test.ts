import assert from "node:assert/strict";
import { openClient, type Sql } from "../../src/database/client.ts";
import { connect } from "../../src/database/connect.ts";
import { migrate, MigrationError, verifySchema } from "../../src/database/migrate.ts";
import { withDatabase, withLogin } from "../../src/database/url.ts";
import { testDatabase } from "../support/database.ts";
import { describeSchema } from "../support/schema.ts";
import { ownServer } from "../support/server.ts";
import { sqlDirectory } from "../support/sql_directory.ts";
import { until } from "../support/wait.ts";

const TABLE = "create table uptuple.note (id bigint generated always as identity primary key, body text not null);";
const FUNCTION = `
create or replace function uptuple.note_length(note text) returns integer language sql immutable
return length(note);
comment on function uptuple.note_length(text) is 'How long a note is.';
revoke execute on function uptuple.note_length(text) from public;
grant execute on function uptuple.note_length(text) to uptuple_worker, uptuple_viewer;`;
const VIEW = `
create or replace view uptuple.notes as select id, uptuple.note_length(body) as length from uptuple.note;
grant select on uptuple.notes to uptuple_viewer;`;
const FILES = {
  "migrations/0001_note.sql": TABLE,
  "functions/notes/note_length.sql": FUNCTION,
  "views/notes.sql": VIEW,
};

Deno.test("a fresh database gets everything, and a second run finds nothing to do", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);

  const first = await migrate(database.url, { sqlDirectory: sql.path });
  const before = await rowVersions(database.owner);
  const second = await migrate(database.url, { sqlDirectory: sql.path });

  assert.equal(first.outcome, "migrated");
  assert.deepEqual(first.applied, ["migrations/0001_note.sql"]);
  assert.deepEqual(first.defined, ["functions/notes/note_length.sql", "views/notes.sql"]);
  assert.equal(first.owner, "uptuple_owner");
  assert.deepEqual(first.missingRoles, []);
  assert.deepEqual([second.outcome, second.applied, second.defined], ["current", [], []]);
  assert.deepEqual(await rowVersions(database.owner), before);
  await database.owner`insert into uptuple.note (body) values ('four')`;
  assert.deepEqual([...await database.owner`select length from uptuple.notes`], [{ length: 4 }]);
});

Deno.test("everything belongs to uptuple_owner, which is no superuser, but what tasks run as", async () => {
  await using database = await testDatabase();

  const rows = await database.owner`
    select relname as name from pg_class
    where relnamespace = 'uptuple'::regnamespace and pg_get_userbyid(relowner) <> 'uptuple_owner'
    union all
    select proname from pg_proc
    where pronamespace = 'uptuple'::regnamespace
      and pg_get_userbyid(proowner) not in ('uptuple_owner', 'uptuple_task')`;
  const [owner] = await database.owner`select rolsuper, rolcanlogin from pg_roles where rolname = 'uptuple_owner'`;

  assert.deepEqual([...rows], []);
  assert.deepEqual(owner, { rolsuper: false, rolcanlogin: false });
});

Deno.test("the program's own SQL migrates an empty database, and then has nothing to do", async () => {
  await using database = await testDatabase({ migrated: false });

  assert.equal((await migrate(database.url)).outcome, "migrated");
  assert.equal((await migrate(database.url)).outcome, "current");
});

Deno.test("an upgrade from any earlier migration gives the same schema as a fresh install", async () => {
  await using fresh = await testDatabase();
  await using upgraded = await testDatabase({ migrated: false });
  await using early = await sqlDirectory({
    "migrations/0001_services.sql": await Deno.readTextFile(
      new URL("../../sql/migrations/0001_services.sql", import.meta.url),
    ),
    "functions/old/forgotten.sql": "create function uptuple.forgotten() returns void language sql as 'select';",
  });

  await migrate(upgraded.url, { sqlDirectory: early.path });
  await migrate(upgraded.url);

  assert.deepEqual(await describeSchema(upgraded.owner), await describeSchema(fresh.owner));
});

Deno.test("an upgrade puts the rules of each service beside its state, as they are", async () => {
  await using database = await testDatabase({ migrated: false });
  const early: Record<string, string> = {};
  const migrations = new URL("../../sql/migrations/", import.meta.url);
  for await (const { name } of Deno.readDir(migrations)) {
    if (name < "0023") early[`migrations/${name}`] = await Deno.readTextFile(new URL(name, migrations));
  }
  await using sql = await sqlDirectory(early);
  await migrate(database.url, { sqlDirectory: sql.path });
  await database.owner`
    insert into uptuple.service (
      name, interval_seconds, phase_seconds, phase_ms, first_slot, failure_threshold, recovery_threshold, enabled, damping
    )
    values ('usual', 30, 0, 0, 0, 3, 1, true, true), ('other', 30, 0, 0, 0, 7, 2, false, false)`;
  await database
    .owner`insert into uptuple.service_state (service_id, region) select id, 'default' from uptuple.service`;

  await migrate(database.url);

  const states = await database.owner`
    select enabled, failure_threshold, recovery_threshold, damping from uptuple.service_state order by service_id`;
  assert.deepEqual([...states], [
    { enabled: true, failure_threshold: 3, recovery_threshold: 1, damping: true },
    { enabled: false, failure_threshold: 7, recovery_threshold: 2, damping: false },
  ]);
});

Deno.test("a migration that was changed after it was applied is refused, and nothing else is done", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);
  await migrate(database.url, { sqlDirectory: sql.path });
  await sql.put("migrations/0001_note.sql", `${TABLE} -- harmless`);
  await sql.put("migrations/0002_more.sql", "create table uptuple.more ();");

  await assert.rejects(migrate(database.url, { sqlDirectory: sql.path }), {
    name: "MigrationError",
    message: /^migrations\/0001_note.sql was changed after it was applied to this database: put it back/,
  });

  assert.equal(await exists(database.owner, "uptuple.more"), false);
});

Deno.test("line ends do not change a migration", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({ ...FILES, "migrations/0001_note.sql": `${TABLE}\n-- end\n` });
  await migrate(database.url, { sqlDirectory: sql.path });
  await sql.put("migrations/0001_note.sql", `${TABLE}\r\n-- end\r\n`);

  assert.equal((await migrate(database.url, { sqlDirectory: sql.path })).outcome, "current");
});

Deno.test("a migration that fails leaves nothing of itself, keeps those before it, and names its line", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({
    "migrations/0001_note.sql": TABLE,
    "migrations/0002_broken.sql": "create table uptuple.half ();\n-- 😀\ncreate table uptuple.other (a nonsense);\n",
  });

  await assert.rejects(migrate(database.url, { sqlDirectory: sql.path }), {
    name: "MigrationError",
    message: /^sql\/migrations\/0002_broken.sql:3: type "nonsense" does not exist/,
  });

  assert.equal(await exists(database.owner, "uptuple.half"), false);
  assert.equal(await exists(database.owner, "uptuple.note"), true);
  await sql.put("migrations/0002_broken.sql", "create table uptuple.half ();");
  assert.deepEqual((await migrate(database.url, { sqlDirectory: sql.path })).applied, ["migrations/0002_broken.sql"]);
});

Deno.test("an error that has no position in the SQL still names its file", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({
    "migrations/0001_note.sql": TABLE,
    "migrations/0002_raise.sql": "do $$ begin raise exception 'no' using hint = 'say yes'; end $$;",
  });

  await assert.rejects(migrate(database.url, { sqlDirectory: sql.path }), {
    message: /^sql\/migrations\/0002_raise.sql: no\n {2}hint: say yes/,
  });
});

Deno.test("an added default argument leaves no overload behind", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);
  await migrate(database.url, { sqlDirectory: sql.path });
  await sql.put(
    "functions/notes/note_length.sql",
    FUNCTION.replace("note_length(note text)", "note_length(note text, extra integer default 1)")
      .replaceAll("note_length(text)", "note_length(text, integer)").replace("length(note)", "length(note) + extra"),
  );

  const report = await migrate(database.url, { sqlDirectory: sql.path });

  assert.deepEqual(report.defined, ["functions/notes/note_length.sql", "views/notes.sql"]);
  assert.deepEqual(report.dropped, []);
  const rows = await database.owner`select oid::regprocedure::text as name from pg_proc where proname = 'note_length'`;
  assert.deepEqual([...rows], [{ name: "uptuple.note_length(text,integer)" }]);
  await database.owner`insert into uptuple.note (body) values ('four')`;
  const viewer = await database.connect("uptuple_viewer");
  assert.deepEqual([...await viewer`select length from uptuple.notes`], [{ length: 5 }]);
});

Deno.test("a new body keeps the function that it is in, and what depends on it", async () => {
  await using database = await testDatabase({ migrated: false });
  const withBody = (body: string) => FUNCTION.replace("return length(note);", () => `as $$ select ${body} $$;`);
  await using sql = await sqlDirectory({ ...FILES, "functions/notes/note_length.sql": withBody("1") });
  await migrate(database.url, { sqlDirectory: sql.path });
  const identity = () =>
    database.owner`select 'uptuple.note_length'::regproc::oid as f, 'uptuple.notes'::regclass::oid as v`;
  const before = [...await identity()];
  await sql.put("functions/notes/note_length.sql", withBody("2").replace("How long", "Just how long"));

  const report = await migrate(database.url, { sqlDirectory: sql.path });

  assert.deepEqual(report.defined, ["functions/notes/note_length.sql"]);
  assert.deepEqual([...await identity()], before);
  const [now] = await database.owner`
    select uptuple.note_length('') as length, obj_description('uptuple.note_length'::regproc) as comment`;
  assert.deepEqual(now, { length: 2, comment: "Just how long a note is." });
});

Deno.test("a grant that the file no longer makes is gone", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);
  await migrate(database.url, { sqlDirectory: sql.path });
  await sql.put("functions/notes/note_length.sql", FUNCTION.replace("to uptuple_worker, ", "to "));

  await migrate(database.url, { sqlDirectory: sql.path });

  const [row] = await database.owner`
    select has_function_privilege('uptuple_worker', 'uptuple.note_length(text)', 'execute') as worker,
      has_function_privilege('uptuple_viewer', 'uptuple.note_length(text)', 'execute') as viewer`;
  assert.deepEqual(row, { worker: false, viewer: true });
});

Deno.test("calls go through while the function that they call is replaced again and again", async () => {
  await using database = await testDatabase({ migrated: false });
  const answering = (number: number) =>
    `create or replace function uptuple.answer() returns integer language plpgsql as $$ begin return ${number}; end $$;`;
  await using sql = await sqlDirectory({ "functions/notes/answer.sql": answering(0) });
  await migrate(database.url, { sqlDirectory: sql.path });
  const caller = await database.connect();
  const seen = new Set<number>();
  let replacing = true;
  const calling = (async () => {
    while (replacing) seen.add((await caller`select uptuple.answer() as answer`)[0].answer);
  })();

  for (let number = 1; number <= 10; number++) {
    await sql.put("functions/notes/answer.sql", answering(number));
    await migrate(database.url, { sqlDirectory: sql.path });
  }
  await until("the last is seen", () => seen.has(10));
  replacing = false;

  await calling;
  assert.ok(seen.size > 1);
});

Deno.test("a function that vanished is dropped", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({
    ...FILES,
    "functions/notes/gone.sql": FUNCTION.replaceAll("note_length", "gone"),
  });
  await migrate(database.url, { sqlDirectory: sql.path });
  await sql.put("functions/notes/gone.sql", null);

  const report = await migrate(database.url, { sqlDirectory: sql.path });

  assert.deepEqual([report.defined, report.dropped], [[], ["function uptuple.gone(text)"]]);
  assert.deepEqual([...await database.owner`select from pg_proc where proname = 'gone'`], []);
});

Deno.test("what did not change is not touched", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({
    ...FILES,
    "functions/notes/other.sql": FUNCTION.replaceAll("note_length", "other"),
  });
  await migrate(database.url, { sqlDirectory: sql.path });
  const [before] = await database.owner`select oid, xmin from pg_proc where proname = 'note_length'`;
  await sql.put("functions/notes/other.sql", FUNCTION.replaceAll("note_length", "other").replace("How", "Just how"));

  const report = await migrate(database.url, { sqlDirectory: sql.path });

  assert.deepEqual(report.defined, ["functions/notes/other.sql"]);
  assert.deepEqual((await database.owner`select oid, xmin from pg_proc where proname = 'note_length'`)[0], before);
});

Deno.test("definitions are created after what they need, whatever their names", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({
    "migrations/0001_note.sql": TABLE,
    "views/a_summary.sql": "create or replace view uptuple.a_summary as select count(*) from uptuple.b_notes;",
    "views/b_notes.sql": "create or replace view uptuple.b_notes as select id from uptuple.note;",
    "functions/notes/a_rows.sql":
      "create or replace function uptuple.a_rows() returns setof uptuple.a_summary language sql as $$ select uptuple.later() $$;",
    "functions/notes/later.sql":
      "create or replace function uptuple.later() returns bigint language sql as 'select 7';",
  });

  const report = await migrate(database.url, { sqlDirectory: sql.path });

  assert.deepEqual(report.defined, [
    "views/b_notes.sql",
    "views/a_summary.sql",
    "functions/notes/a_rows.sql",
    "functions/notes/later.sql",
  ]);
  await sql.put("views/b_notes.sql", "create or replace view uptuple.b_notes as select id, body from uptuple.note;");
  assert.deepEqual((await migrate(database.url, { sqlDirectory: sql.path })).defined, [
    "views/b_notes.sql",
    "views/a_summary.sql",
    "functions/notes/a_rows.sql",
  ]);
});

Deno.test("a view that a migration had to drop comes back", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);
  await migrate(database.url, { sqlDirectory: sql.path });
  await sql.put(
    "migrations/0002_wider.sql",
    "drop view uptuple.notes; alter table uptuple.note alter column id type numeric using id, alter column id drop identity;",
  );

  await assert.rejects(migrate(database.url, { sqlDirectory: sql.path }));
  await sql.put(
    "migrations/0002_wider.sql",
    "drop view uptuple.notes; alter table uptuple.note alter column body type varchar;",
  );
  const report = await migrate(database.url, { sqlDirectory: sql.path });

  assert.deepEqual(report.defined, ["views/notes.sql"]);
  assert.equal(await exists(database.owner, "uptuple.notes"), true);
});

Deno.test("a user's view on a function of ours survives a new body, and is named where it is in the way", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);
  await migrate(database.url, { sqlDirectory: sql.path });
  await database.owner`create view public.mine as select uptuple.note_length('four') as length`;

  await sql.put("functions/notes/note_length.sql", FUNCTION.replace("length(note)", "length(note) * 10"));
  await migrate(database.url, { sqlDirectory: sql.path });
  assert.deepEqual([...await database.owner`select length from public.mine`], [{ length: 40 }]);

  await sql.put("functions/notes/note_length.sql", null);
  await sql.put("views/notes.sql", null);
  await assert.rejects(migrate(database.url, { sqlDirectory: sql.path }), {
    name: "MigrationError",
    message:
      "function uptuple.note_length(text) is no longer part of Uptuple, but view mine depends on it: drop that first.",
  });
  assert.deepEqual([...await database.owner`select length from public.mine`], [{ length: 40 }]);

  await database.owner`drop view public.mine`;
  const report = await migrate(database.url, { sqlDirectory: sql.path });
  assert.deepEqual(report.dropped, ["view uptuple.notes", "function uptuple.note_length(text)"]);
});

Deno.test("a file that defines nothing is an error", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({ "functions/notes/empty.sql": "-- nothing yet\n" });

  await assert.rejects(migrate(database.url, { sqlDirectory: sql.path }), {
    message: /^sql\/functions\/notes\/empty.sql: creates no function and no view in schema uptuple/,
  });
});

Deno.test("many migrators at once do the work once", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory({
    ...FILES,
    "migrations/0002_seed.sql": "insert into uptuple.note (body) values ('seed');",
  });

  const reports = await Promise.all(
    Array.from({ length: 6 }, () => migrate(database.url, { sqlDirectory: sql.path })),
  );

  const applied = reports.flatMap((report) => report.applied);
  assert.deepEqual(applied.sort(), ["migrations/0001_note.sql", "migrations/0002_seed.sql"]);
  assert.equal(reports.flatMap((report) => report.defined).length, 2);
  assert.deepEqual([...await database.owner`select body from uptuple.note`], [{ body: "seed" }]);
});

Deno.test("a migration that meets a lock steps back, lets the others through, and tries again", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);
  await migrate(database.url, { sqlDirectory: sql.path });
  await sql.put("migrations/0002_column.sql", "alter table uptuple.note add column at timestamptz;");
  const reader = await database.connect();
  await reader.unsafe("begin; select from uptuple.note");

  const migrating = migrate(database.url, { sqlDirectory: sql.path, lockTimeoutMs: 20 });
  await until("the migrator has given up once", async () => {
    const [row] = await database.owner`
      select xact_rollback > 0 as seen from pg_stat_database where datname = current_database()`;
    return row.seen;
  });
  await reader.unsafe("commit");

  assert.deepEqual((await migrating).applied, ["migrations/0002_column.sql"]);
});

Deno.test("an older program leaves the functions of a newer one alone, and runs if it is not too old", async () => {
  await using database = await testDatabase({ migrated: false });
  await using newer = await sqlDirectory(FILES);
  await using older = await sqlDirectory({
    "migrations/0001_note.sql": TABLE,
    "functions/notes/note_length.sql": FUNCTION.replace("length(note)", "-1"),
  });
  await migrate(database.url, { sqlDirectory: older.path, program: { release: 6, oldestProgram: 5 } });
  await migrate(database.url, { sqlDirectory: newer.path, program: { release: 7, oldestProgram: 6 } });

  const report = await migrate(database.url, { sqlDirectory: older.path, program: { release: 6, oldestProgram: 5 } });

  assert.deepEqual([report.outcome, report.release], ["newer", 7]);
  assert.deepEqual([...await database.owner`select uptuple.note_length('four') as length`], [{ length: 4 }]);
  await assert.rejects(
    migrate(database.url, { sqlDirectory: older.path, program: { release: 5, oldestProgram: 5 } }),
    { name: "MigrationError", message: /release 5, and the schema of release 7 works only with programs of release 6/ },
  );
});

Deno.test("a program whose login does not own the schema migrates nothing and checks its release", async () => {
  await using database = await testDatabase({ migrated: false });
  await using sql = await sqlDirectory(FILES);
  const url = await database.urlFor("uptuple_worker");
  const asWorker = (release: number) =>
    migrate(url, { sqlDirectory: sql.path, program: { release, oldestProgram: release } });

  await assert.rejects(asWorker(7), { name: "MigrationError", message: /no schema "uptuple" yet.*deno task migrate/ });
  await migrate(database.url, { sqlDirectory: sql.path, program: { release: 7, oldestProgram: 7 } });

  assert.equal((await asWorker(7)).outcome, "verified");
  await assert.rejects(asWorker(8), {
    name: "MigrationError",
    message: /schema is of release 7, and this program of 8/,
  });
  await assert.rejects(asWorker(6), {
    name: "MigrationError",
    message: /works only with programs of release 7 or newer/,
  });
});

Deno.test("the runtime's connection can verify the schema", async () => {
  await using database = await testDatabase();
  await using empty = await testDatabase({ migrated: false });
  const worker = connect({ url: await database.urlFor("uptuple_worker") });
  const nowhere = connect({ url: empty.url });
  try {
    await verifySchema(worker);
    await assert.rejects(verifySchema(worker, { release: 1_000_000, oldestProgram: 1 }), MigrationError);
    await assert.rejects(verifySchema(nowhere), MigrationError);
  } finally {
    await worker.close();
    await nowhere.close();
  }
});

Deno.test("without the right to create roles, the connecting role owns everything and gets the missing roles' grants", async () => {
  await using server = await ownServer();
  await using sql = await sqlDirectory(FILES);
  const url = await plainLogin(server.url, "tenant", "");

  const report = await migrate(url, { sqlDirectory: sql.path });

  assert.equal(report.owner, "tenant");
  assert.deepEqual(report.missingRoles.toSorted(), [
    "uptuple_operator",
    "uptuple_owner",
    "uptuple_task",
    "uptuple_viewer",
    "uptuple_worker",
  ]);
  await withSql(url, async (tenant) => {
    await tenant`insert into uptuple.note (body) values ('four')`;
    assert.deepEqual([...await tenant`select length from uptuple.notes`], [{ length: 4 }]);
    const [row] =
      await tenant`select has_function_privilege('public', 'uptuple.note_length(text)', 'execute') as granted`;
    assert.equal(row?.granted, false);
  });
  assert.equal((await migrate(url, { sqlDirectory: sql.path })).outcome, "current");
});

Deno.test("roles that come later are granted what they are due at the next migration", async () => {
  await using server = await ownServer();
  await using sql = await sqlDirectory(FILES);
  const url = await plainLogin(server.url, "tenant", "");
  await migrate(url, { sqlDirectory: sql.path });
  await withSql(server.url, async (admin) => {
    await admin`create role uptuple_viewer`;
    await admin`create role uptuple_worker`;
  });

  const report = await migrate(url, { sqlDirectory: sql.path });

  assert.deepEqual(report.defined, ["functions/notes/note_length.sql", "views/notes.sql"]);
  await withSql(url, async (tenant) => {
    const [row] = await tenant`
      select has_table_privilege('uptuple_viewer', 'uptuple.notes', 'select') as view,
        has_function_privilege('uptuple_worker', 'uptuple.note_length(text)', 'execute') as function`;
    assert.deepEqual(row, { view: true, function: true });
  });
  assert.equal((await migrate(url, { sqlDirectory: sql.path })).outcome, "current");
});

Deno.test("a role that may create roles makes ours and acts as their owner", async () => {
  await using server = await ownServer();
  await using sql = await sqlDirectory(FILES);
  const url = await plainLogin(server.url, "landlord", "createrole");

  const report = await migrate(url, { sqlDirectory: sql.path });

  assert.deepEqual([report.owner, report.missingRoles], ["uptuple_owner", []]);
});

Deno.test("roles that a sibling database's owner made are granted to, and the schema stays one's own", async () => {
  await using server = await ownServer();
  await using sql = await sqlDirectory(FILES);
  await migrate(server.url, { sqlDirectory: sql.path });
  const url = await plainLogin(server.url, "tenant", "");

  const report = await migrate(url, { sqlDirectory: sql.path });

  assert.deepEqual([report.owner, report.missingRoles], ["tenant", []]);
  await withSql(url, async (tenant) => {
    const [row] = await tenant`select has_table_privilege('uptuple_viewer', 'uptuple.notes', 'select') as granted`;
    assert.equal(row?.granted, true);
  });
});

Deno.test("sibling databases that migrate at once share the roles", async () => {
  await using server = await ownServer();
  await using sql = await sqlDirectory(FILES);
  const names = ["one", "two", "three", "four"];
  await withSql(server.url, async (admin) => {
    for (const name of names) await admin`create database ${admin(name)}`;
  });

  const reports = await Promise.all(
    names.map((name) => migrate(withDatabase(server.url, name), { sqlDirectory: sql.path })),
  );

  assert.deepEqual(
    reports.map(({ outcome, owner }) => [outcome, owner]),
    names.map(() => ["migrated", "uptuple_owner"]),
  );
});

/** Makes a login without other rights than those given, and a database that it owns. Returns the URL for both. */
async function plainLogin(adminUrl: string, name: string, attributes: string): Promise<string> {
  await withSql(adminUrl, async (admin) => {
    await admin.unsafe(`create role ${name} login password 'secret' ${attributes}`);
    await admin.unsafe(`create database ${name}_db owner ${name}`);
  });
  return withLogin(withDatabase(adminUrl, `${name}_db`), name, "secret");
}

async function withSql(url: string, work: (sql: Sql) => Promise<void>): Promise<void> {
  const sql = openClient(url, { maxConnections: 1, applicationName: "uptuple test" });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Which transaction wrote each catalog row of ours: equal before and after means that nothing was executed. */
async function rowVersions(sql: Sql): Promise<unknown[]> {
  return [
    ...await sql`
      select oid, xmin from pg_proc where pronamespace = 'uptuple'::regnamespace
      union all select oid, xmin from pg_class where relnamespace = 'uptuple'::regnamespace
      union all select 0::oid, xmin from uptuple.installation
      order by oid`,
  ];
}

async function exists(sql: Sql, relation: string): Promise<boolean> {
  const [row] = await sql`select to_regclass(${relation}) is not null as there`;
  return row?.there === true;
}
