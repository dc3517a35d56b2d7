import assert from "node:assert/strict";
import { expandEnvironment, ExpansionError } from "../../src/tasks/expand_environment.ts";
import { testDatabase } from "../support/database.ts";

const schema = JSON.parse(await Deno.readTextFile(new URL("../../src/tasks/tasks.schema.json", import.meta.url)));

/** What the server says an object may have, from its hint about a member that it may not have. */
async function allowedMembers(document: unknown): Promise<string[]> {
  await using database = await testDatabase();
  let hint = "";
  await database.owner`select * from uptuple.apply_tasks(${JSON.stringify(document)}::text::jsonb)`.catch((error) => {
    hint = error.hint;
  });
  return /^It may have (.+)\.$/.exec(hint)?.[1]?.split(", ").sort() ?? [];
}

Deno.test("the schema for editors knows the members that the server takes, and no others", async () => {
  const unknown = { "~": 1 };
  const { group, task } = schema.definitions;
  const cases: [document: unknown, properties: Record<string, unknown>][] = [
    [unknown, schema.properties],
    [{ version: 1, groups: [unknown] }, group.properties],
    [{ version: 1, groups: [{ name: "g", tasks: [unknown] }] }, task.properties],
  ];
  for (const [document, properties] of cases) {
    assert.deepEqual(await allowedMembers(document), Object.keys(properties).sort());
  }
});

Deno.test("the schema for editors has the defaults that a row gets", async () => {
  await using database = await testDatabase();
  await database.owner.unsafe(`
    create schema demo;
    grant usage on schema demo to uptuple_task;
    create function demo.nothing() returns void language sql as '';
    grant execute on function demo.nothing() to uptuple_task`);
  const [row] = await database.owner`
    insert into uptuple.task (name, kind, cron, function) values ('t', 'CRON', '@daily', 'demo.nothing') returning to_jsonb(task) as stored`;
  for (const [name, property] of Object.entries<{ default?: unknown }>(schema.definitions.task.properties)) {
    if ("default" in property) assert.deepEqual(row.stored[name], property.default, name);
  }
});

Deno.test("the schema's durations are those that the server takes", async () => {
  await using database = await testDatabase();
  const { pattern } = schema.definitions.duration.oneOf[1];
  for (
    const written of [
      "PT30S",
      "PT1M30.5S",
      "P1DT12H",
      "P2W",
      "P1D",
      "P",
      "PT",
      "P1M",
      "P1Y",
      "P1DT",
      "PT5",
      "1 hour",
      "pt5m",
      "",
    ]
  ) {
    const [row] = await database.owner`
      select uptuple.json_member(jsonb_build_object('d', ${written}::text), 'd', 'duration') as ms`.catch(
      () => [{ ms: null }],
    );
    assert.equal(new RegExp(pattern).test(written), row.ms !== null, written);
  }
});

Deno.test("what the environment holds is put into every string of a value, however deep, and into nothing else", () => {
  const value = {
    "${A}": ["x ${A} y ${B}", { deep: "${A}" }],
    number: 1,
    none: null,
    plain: "$A {A} ${1} $$",
    kept: "$${A}",
  };
  const variable = (name: string) => ({ A: "one", B: "" })[name];
  assert.deepEqual(expandEnvironment(value, variable), {
    "${A}": ["x one y ", { deep: "one" }],
    number: 1,
    none: null,
    plain: "$A {A} ${1} $$",
    kept: "${A}",
  });
});

Deno.test("a variable that is not set, and one that holds a secret, are refused with the place that names them", () => {
  const expand = (text: string) => () => expandEnvironment({ groups: [{ tasks: [text] }] }, () => undefined);
  assert.throws(
    expand("${GONE}"),
    new ExpansionError(["groups[0].tasks[0] names GONE, which is not set in the environment"]),
  );
  assert.throws(expand("${UPTUPLE_SECRET_KEY}"), /groups\[0\]\.tasks\[0\] names the secret UPTUPLE_SECRET_KEY/);
  assert.throws(
    () => expandEnvironment(["${GONE} ${LOST}", "${UPTUPLE_SECRET_KEY}"], () => undefined),
    /^ExpansionError: \[0\] names GONE, .*\n {2}also \[0\] names LOST, .*\n {2}also \[1\] names the secret UPTUPLE_SECRET_KEY/,
  );
});
