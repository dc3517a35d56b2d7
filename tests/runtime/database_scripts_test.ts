import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { startEmbeddedServer } from "../../src/database/embedded.ts";
import { testDatabase } from "../support/database.ts";
import { temporaryDirectory } from "../support/server.ts";

const SCRIPTS = join(dirname(dirname(import.meta.dirname ?? ".")), "scripts");

/** Runs a script as a person would, with only these variables of ours. */
async function runScript(
  name: string,
  args: string[],
  env: Record<string, string>,
  input = "",
): Promise<{ code: number; output: string; errors: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", join(SCRIPTS, name), ...args],
    env: { DATABASE_URL: "", UPTUPLE_DATA_DIR: "", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout), errors: decoder.decode(stderr) };
}

Deno.test("sql prints tables, tags and notices, and stops at the first error", async () => {
  await using database = await testDatabase({ migrated: false });
  const statements = `
    create table note (id int, body text);
    insert into note values (1, 'one'), (22, null), (3, E'two\\nlines');
    select * from note;
    do $$ begin raise notice 'look'; end $$;
    select 1 as never
    from nowhere;
    insert into note values (4, 'too late');`;

  const { code, output, errors } = await runScript("sql.ts", [statements], { DATABASE_URL: database.url });

  assert.equal(
    output,
    `CREATE TABLE
INSERT 3
 id | body
----+-------
  1 | one
 22 | null
  3 | two
    | lines
(3 rows)

DO
`,
  );
  assert.equal(
    errors,
    `NOTICE:  look
ERROR:  relation "nowhere" does not exist (42P01)
LINE 7:     from nowhere;
                 ^
`,
  );
  assert.equal(code, 1);
  assert.deepEqual([...await database.owner`select count(*)::int from note`], [{ count: 3 }]);
});

Deno.test("sql takes its statements from standard input where there is no argument", async () => {
  await using database = await testDatabase();
  const statement = "select uptuple.add_service(name => 'x', url => 'ftp://example.com/')";

  const good = await runScript("sql.ts", [], { DATABASE_URL: database.url }, "select 42 as answer");
  const bad = await runScript("sql.ts", [], { DATABASE_URL: database.url }, statement);

  assert.deepEqual([good.code, good.output], [0, " answer\n--------\n     42\n(1 row)\n\n"]);
  assert.equal(bad.code, 1);
  assert.match(bad.errors, /^ERROR: .*\(22023\)\nHINT: {2}/);
});

Deno.test("db:url prints the URL in use, and says where there is none", async () => {
  await using directory = await temporaryDirectory();
  const given = { DATABASE_URL: "postgres://me:secret@db.example.com/uptuple" };
  const own = { UPTUPLE_DATA_DIR: directory.path };

  assert.deepEqual(await runScript("db_url.ts", [], given), {
    code: 0,
    output: "postgres://me:secret@db.example.com/uptuple\n",
    errors: "",
  });
  assert.deepEqual(await runScript("db_url.ts", [], own), {
    code: 1,
    output: "",
    errors: `DATABASE_URL is not set, and no PostgreSQL of ours runs on ${directory.path}: start the monitor with ` +
      `"deno task start".\n`,
  });

  const server = await startEmbeddedServer({ dataDir: directory.path, durable: false });
  try {
    assert.equal((await runScript("db_url.ts", [], own)).output, `${server.url}\n`);
  } finally {
    await server.stop();
  }
});

Deno.test("migrate says what it did, the second time nothing", async () => {
  await using database = await testDatabase({ migrated: false });
  const env = { DATABASE_URL: database.url };

  const first = await runScript("migrate.ts", [], env);
  const second = await runScript("migrate.ts", [], env);
  const nowhere = await runScript("migrate.ts", [], { DATABASE_URL: "postgres://me:secret@127.0.0.1:1/x" });

  assert.match(
    first.output,
    /^applied migrations\/0001_services.sql\n(.*\n)*defined \d+ functions and views\nThe schema is of release \d+ now.\n$/,
  );
  assert.match(second.output, /^The schema is of release \d+ already: nothing to do.\n$/);
  assert.deepEqual([first.code, second.code], [0, 0]);
  assert.deepEqual(nowhere, {
    code: 1,
    output: "",
    errors: "Nothing listens on 127.0.0.1:1: start PostgreSQL there, or correct host and port in DATABASE_URL.\n",
  });
});

Deno.test("asking for help changes nothing, and says how to call it", async () => {
  await using database = await testDatabase({ migrated: false });
  const env = { DATABASE_URL: database.url };
  assert.match((await runScript("sql.ts", ["--help"], env)).errors, /^deno task sql "/);
  assert.match((await runScript("migrate.ts", ["--help"], env)).errors, /DATABASE_URL/);
  const [schema] = await database.owner`select to_regnamespace('uptuple') is null as absent`;
  assert.equal(schema.absent, true);
});
