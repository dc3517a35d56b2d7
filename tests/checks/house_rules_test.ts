import assert from "node:assert/strict";
import { loadModule } from "libpg-query";
import { reviewFile } from "../../scripts/check_sql/house_rules.ts";

Deno.test.beforeAll(loadModule);

const FUNCTION = `-- Gives up what a worker holds.
-- Called when it stops. Writes held.
create or replace function uptuple.give_up(worker text, at timestamptz default now(), out given integer)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $function$
declare
  held_row uptuple.held%rowtype;
  rows uptuple.held[];
begin
  held_row.worker := worker;
  with mine as (
    select * from uptuple.held
  )
  update uptuple.held set worker = null
    from mine
  returning 1 into given;
end
$function$;

comment on function uptuple.give_up(text, timestamp with time zone) is 'Gives up what a worker holds.';

revoke execute on function uptuple.give_up(text, timestamptz) from public;
grant execute on function uptuple.give_up(text, timestamptz) to uptuple_worker;
`;

/** The problems of a file as `line: message`. */
function review(file: string, source: string): string[] {
  return reviewFile(file, source).problems.map(({ line, message }) => `${line}: ${message}`);
}

/** The problems of FUNCTION with one text in it replaced. */
function reviewChanged(from: string, to: string): string[] {
  assert.ok(FUNCTION.includes(from));
  return review("sql/functions/workers/give_up.sql", FUNCTION.replace(from, to));
}

Deno.test("a function in the house style has no problem", () => {
  assert.deepEqual(review("sql/functions/workers/give_up.sql", FUNCTION), []);
});

Deno.test("a file that does not parse is reported with its line", () => {
  assert.deepEqual(review("sql/bootstrap.sql", "-- Makes the schema.\nselect 'é';\ncreate schma uptuple;"), [
    '3: does not parse: syntax error at or near "schma"',
  ]);
});

Deno.test("a body that does not parse is reported", () => {
  assert.deepEqual(reviewChanged("returning 1", "returnin 1"), ['8: does not parse: syntax error at or near "1"']);
});

Deno.test("a search path that differs is refused, and so is none", () => {
  for (
    const other of ["", "set search_path = ''", "set search_path = pg_temp, pg_catalog", "set search_path = pg_catalog"]
  ) {
    assert.deepEqual(reviewChanged("set search_path = pg_catalog, pg_temp", other), [
      "3: give_up(text,timestamptz) has no `set search_path = pg_catalog, pg_temp`; it must be exactly that",
    ]);
  }
});

Deno.test("a function that writes for others is security definer", () => {
  const message =
    "3: give_up(text,timestamptz) writes or locks rows for roles without table privileges: make it security definer";
  assert.deepEqual(reviewChanged("security definer", "security invoker"), [message]);
  assert.deepEqual(reviewChanged("security definer\n", ""), [message]);
});

Deno.test("a write in dynamic SQL counts as one", () => {
  const dynamic = FUNCTION
    .replace(
      / {2}with mine[\s\S]*into given;/,
      "  execute format('alter table uptuple.%I set (fillfactor = 50)', worker);",
    )
    .replace("security definer\n", "");
  assert.match(review("sql/functions/workers/give_up.sql", dynamic)[0] ?? "", /writes or locks rows/);
});

Deno.test("a function that writes is not declared stable", () => {
  assert.deepEqual(reviewChanged("security definer", "stable security definer"), [
    "3: give_up(text,timestamptz) writes or locks rows and is declared stable",
  ]);
});

Deno.test("a table without a schema is refused on its line, and the name of a CTE is none", () => {
  assert.deepEqual(reviewChanged("select * from uptuple.held", "select * from held"), [
    "15: names the table held without a schema: write uptuple.held",
  ]);
});

Deno.test("a function has a comment and is revoked from public under its own signature", () => {
  const comment = "3: give_up(text,timestamptz) has no COMMENT ON FUNCTION with its argument types";
  assert.deepEqual(reviewChanged("(text, timestamp with time zone) is", "(text) is"), [comment]);
  assert.deepEqual(reviewChanged("is 'Gives up what a worker holds.'", "is null"), [comment]);
  assert.deepEqual(reviewChanged("(text, timestamptz) from public", "(text) from public"), [
    "3: give_up(text,timestamptz) has no `revoke execute ... from public`: everybody may run it",
  ]);
});

Deno.test("only the project's roles are granted anything", () => {
  const known =
    "only uptuple_owner, uptuple_worker, uptuple_operator, uptuple_viewer, uptuple_task may be granted anything";
  assert.deepEqual(reviewChanged("to uptuple_worker", "to uptuple_worker, uptuple_workers"), [
    `26: grants to uptuple_workers: ${known}`,
  ]);
  assert.deepEqual(reviewChanged("to uptuple_worker", "to public"), [`26: grants to public: ${known}`]);
});

Deno.test("a function's file is named as the function", () => {
  assert.deepEqual(review("sql/functions/workers/yield.sql", FUNCTION), [
    "3: creates give_up: a file holds one function and is named as it, so move it to give_up.sql",
  ]);
});

Deno.test("a function that writes has a header of two lines", () => {
  assert.match(
    reviewChanged("-- Called when it stops. Writes held.\n", "")[0] ?? "",
    /^1: its header is short of two lines/,
  );
});

Deno.test("a migration's tables have comments, and partitions need none", () => {
  const source = "-- What workers hold.\ncreate table uptuple.held (worker text) partition by list (worker);\n" +
    "create table uptuple.held_rest partition of uptuple.held default;\n";
  assert.deepEqual(review("sql/migrations/0001_held.sql", source), ["2: uptuple.held has no COMMENT ON TABLE"]);
  const commented = `${source}comment on table uptuple.held is 'What workers hold.';`;
  assert.deepEqual(review("sql/migrations/0001_held.sql", commented), []);
});

Deno.test("a migration creates neither functions nor views", () => {
  const source = "-- Wrong place.\n-- For both.\ncreate view uptuple.one as select 1;\n" + FUNCTION;
  assert.deepEqual(review("sql/migrations/0001_wrong.sql", source), [
    "6: creates give_up: functions are declarative and live in sql/functions",
    "3: creates a view: views are declarative and live in sql/views",
  ]);
});

Deno.test("a view has a comment and is named as its file", () => {
  const source = "-- Who holds what.\ncreate view uptuple.holders as select worker from uptuple.held;\n";
  assert.deepEqual(review("sql/views/holders.sql", source), ["2: uptuple.holders has no COMMENT ON VIEW"]);
  const commented = `${source}comment on view uptuple.holders is 'Who holds what.';`;
  assert.deepEqual(review("sql/views/holders.sql", commented), []);
  assert.deepEqual(review("sql/views/others.sql", commented), [
    "2: creates uptuple.holders: a file holds one view and is named as it",
  ]);
});

Deno.test("a file outside the migrator's folders is refused", () => {
  assert.match(review("sql/functions/give_up.sql", FUNCTION)[0] ?? "", /belongs to no folder that the migrator reads/);
});
