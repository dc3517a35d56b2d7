import assert from "node:assert/strict";
import { readSqlFiles } from "../../src/database/sql_files.ts";
import { mentionedNames, replaceMissingRoles, splitStatements } from "../../src/database/sql_text.ts";
import { sqlDirectory } from "../support/sql_directory.ts";

Deno.test("statements end at semicolons that are code", () => {
  const sql = `-- one; two
select ';', E'\\';', "a;b", $$ ; $$, $x$ $$ ; $x$ /* ; /* ; */ ; */;
select a$b$c; -- rest`;

  assert.deepEqual(splitStatements(sql).map(({ text }) => text.replace(/^(--.*\n|\s)+/, "").slice(0, 10)), [
    "select ';'",
    "select a$b",
  ]);
});

Deno.test("a body of begin atomic is one statement, whatever is in it", () => {
  const body = "create function f() returns int begin atomic select case when true then 1 end; select 2; end";

  assert.deepEqual(splitStatements(`${body}; begin; end;`).map(({ text }) => text.trim()), [body, "begin", "end"]);
});

Deno.test("names count in code only", () => {
  const sql = `-- uptuple.comment
create view uptuple.a as select 'uptuple.text', uptuple.b(x) from uptuple."c" where $$ uptuple.body $$ <> '';`;

  assert.deepEqual([...mentionedNames(sql)].sort(), ["a", "b", "c"]);
});

Deno.test("grants to missing roles go to who runs the file, and nothing else changes", () => {
  const sql = `create function uptuple.f() returns text language sql as $$ select 'uptuple_worker' $$;
comment on function uptuple.f() is 'For uptuple_worker.';
revoke execute on function uptuple.f() from public, uptuple_worker;
-- as uptuple_worker
grant execute on function uptuple.f() to uptuple_worker, uptuple_viewer;`;

  assert.equal(
    replaceMissingRoles(sql, ["uptuple_worker"], 'te"nant'),
    `create function uptuple.f() returns text language sql as $$ select 'uptuple_worker' $$;
comment on function uptuple.f() is 'For uptuple_worker.';
revoke execute on function uptuple.f() from public, public;
-- as "te""nant"
grant execute on function uptuple.f() to "te""nant", uptuple_viewer;`,
  );
  assert.equal(replaceMissingRoles(sql, [], "tenant"), sql);
});

Deno.test("files that break the rules of their directory are named", async () => {
  const refused: [Record<string, string>, RegExp][] = [
    [{ "migrations/1_note.sql": "" }, /^migrations\/1_note.sql is not named as a migration: it must be NNNN_name.sql/],
    [
      { "migrations/0001_a.sql": "", "migrations/0001_b.sql": "" },
      /^migrations\/0001_a.sql and migrations\/0001_b.sql have the same number: renumber the newer one/,
    ],
    [
      { "functions/a/same.sql": "", "views/same.sql": "" },
      /^functions\/a\/same.sql and views\/same.sql both define uptuple.same/,
    ],
    [
      {
        "views/a.sql": "create view uptuple.a as table uptuple.b;",
        "views/b.sql": "create view uptuple.b as table uptuple.a;",
      },
      /^These definitions need each other in a circle: views\/a.sql -> views\/b.sql -> views\/a.sql/,
    ],
  ];
  for (const [files, message] of refused) {
    await using sql = await sqlDirectory(files);
    await assert.rejects(readSqlFiles(sql.path), { name: "SqlFilesError", message });
  }
});
