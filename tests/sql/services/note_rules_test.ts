import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import type { TestSql } from "../../support/database.ts";
import { assertNoViolations } from "../../support/services.ts";

/** What results of the only service go by: enabled, failure threshold, recovery threshold, damping. */
async function rules(sql: TestSql): Promise<unknown[]> {
  const [state] = await sql`select enabled, failure_threshold, recovery_threshold, damping from uptuple.service_state`;
  return [state.enabled, state.failure_threshold, state.recovery_threshold, state.damping];
}

Deno.test("results go by the rules that a service was added with", async (t) => {
  const added: [string, string, unknown[]][] = [
    ["the usual ones", "url => 'http://127.0.0.1/'", [true, 3, 1, true]],
    [
      "others",
      "url => 'http://127.0.0.1/', enabled => false, failure_threshold => 5, recovery_threshold => 2",
      [false, 5, 2, true],
    ],
    ["those of a heartbeat", "url => 'heartbeat:'", [true, 1, 1, true]],
  ];
  for (const [which, settings, expected] of added) {
    await t.step(which, async () => {
      await using database = await emptiedDatabase();
      await database.owner.unsafe(`select uptuple.add_service('inventory', ${settings})`);

      assert.deepEqual(await rules(database.owner), expected);
      await assertNoViolations(database.owner);
    });
  }
});

Deno.test("every change of a rule is what the next result goes by", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service('inventory', 'http://127.0.0.1/')`;
  const changes: [string, unknown[]][] = [
    ["update_service('inventory', failure_threshold => 5)", [true, 5, 1, true]],
    ["update_service('inventory', recovery_threshold => 2, every => '1 hour')", [true, 5, 2, true]],
    ["set_damping('inventory', false)", [true, 5, 2, false]],
    ["disable_service('inventory')", [false, 5, 2, false]],
    ["update_service('inventory', failure_threshold => 4)", [false, 4, 2, false]],
    ["enable_service('inventory')", [true, 4, 2, false]],
    ["set_damping('inventory', true)", [true, 4, 2, true]],
    ["remove_service('inventory')", [false, 4, 2, true]],
  ];
  for (const [change, expected] of changes) {
    await owner.unsafe(`select uptuple.${change}`);
    assert.deepEqual(await rules(owner), expected, change);
    await assertNoViolations(owner);
  }
});

Deno.test("a change that leaves the rules as they are waits for no result", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service('inventory', 'http://127.0.0.1/')`;
  const [before] = await owner`select ctid from uptuple.service_state`;

  await owner`select uptuple.update_service('inventory', new_name => 'stock', failure_threshold => 3, tags => '{a}')`;

  const [after] = await owner`select ctid from uptuple.service_state`;
  assert.deepEqual(after, before);
});
