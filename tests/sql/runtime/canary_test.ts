import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { addCheckedService, ANSWERED, assertNoViolations, REFUSED, stateOf } from "../../support/services.ts";
import { checkBy, reportWorker, toldOfWorkers, trustIn } from "../../support/workers.ts";

async function watched(sql: TestSql, ...services: string[]): Promise<void> {
  for (const service of services) await addCheckedService(sql, service, { failureThreshold: 1 });
}

Deno.test("all targets fail in one slot, and the canary too: no incident, and one notice about the runtime", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const services = Array.from({ length: 20 }, (_, index) => `service ${index}`);
  await watched(owner, ...services);
  await reportWorker(owner, "one", { unanswered: 20, canary: "timeout.dns" });

  for (const service of services) await checkBy(owner, "one", service, REFUSED);
  await reportWorker(owner, "one", { unanswered: 40, canary: "timeout.dns" });

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one canary"]);
  const [left] = await owner`
    select (select count(*)::integer from uptuple.incident) as incidents,
      (select count(*)::integer from uptuple.event where kind = 'service.failed') as failed,
      (select count(*)::integer from uptuple.result where status = 'INCONCLUSIVE') as inconclusive`;
  assert.deepEqual({ ...left }, { incidents: 0, failed: 0, inconclusive: 20 });
  await assertNoViolations(owner);
});

Deno.test("every runtime that is blind is told of once, and all checks are INCONCLUSIVE", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "shop");
  for (const worker of ["one", "two"]) await reportWorker(owner, worker, { unanswered: 1, canary: "dns" });

  for (const worker of ["one", "two", "one"]) await checkBy(owner, worker, "shop", REFUSED);

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one canary", "quarantined two canary"]);
  assert.equal((await stateOf(owner, "shop")).status, "UP");
});

for (
  const [what, report] of [
    ["its canary answers, whatever its probes do", { unanswered: 500, canary: 204 }],
    ["its canary fails and its last probe was answered", { unanswered: 0, canary: "connect.refused" }],
    ["its canary fails and only its last two probes did, of many", { unanswered: 2, canary: "connect.refused" }],
    ["it has no canary", { unanswered: 500 }],
  ] as const
) {
  Deno.test(`a runtime is trusted when ${what}`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    await watched(owner, "a", "b", "c");

    await reportWorker(owner, "one", report);

    assert.equal(await trustIn(owner, "one"), "TRUSTED");
  });
}

Deno.test("where fewer than three services are watched, as many probes are enough", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "a", "b");

  await reportWorker(owner, "one", { unanswered: 1, canary: "connect.refused" });
  assert.equal(await trustIn(owner, "one"), "TRUSTED");
  await reportWorker(owner, "one", { unanswered: 2 });

  assert.equal(await trustIn(owner, "one"), "QUARANTINED", "what the canary did in the last minute holds");
});

Deno.test("a status from 200 to 399 is an answer of a canary, and one canary of several is enough", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "a");
  const canary = async () => {
    const [row] = await owner`select canary, canary_reason from uptuple.workers`;
    return { ...row };
  };

  await reportWorker(owner, "one", { canary: 399 });
  assert.deepEqual(await canary(), { canary: "ANSWERS", canary_reason: "canary.example: HTTP 399" });
  await reportWorker(owner, "one", { canary: 400 });
  assert.equal((await canary()).canary, "FAILS");
  await owner`
    select uptuple.report_worker('one', 'default', '{probe}', 1, 0, 9, ${
    owner.json([
      { host: "a.example", observation: { error: { code: "dns", message: "not found" } } },
      { host: "b.example", observation: { status: 200 } },
    ])
  })`;
  assert.deepEqual(await canary(), { canary: "ANSWERS", canary_reason: "a.example: not found; b.example: HTTP 200" });
  await reportWorker(owner, "one");
  assert.equal((await canary()).canary, "ANSWERS", "no news leaves it as it was");
});

Deno.test("it comes back when its canary answers, and what was down meanwhile is found by the next checks", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "shop");
  await reportWorker(owner, "one", { unanswered: 1, canary: "dns" });
  await checkBy(owner, "one", "shop", REFUSED);
  await reportWorker(owner, "one", { unanswered: 2 });
  assert.equal(await trustIn(owner, "one"), "QUARANTINED", "silence of the canary is no answer");

  await reportWorker(owner, "one", { unanswered: 2, canary: 200 });
  await checkBy(owner, "one", "shop", REFUSED);

  assert.deepEqual(await toldOfWorkers(owner), ["quarantined one canary", "trusted one canary"]);
  assert.equal((await stateOf(owner, "shop")).status, "DOWN");
  const [event] = await owner`
    select severity, data ->> 'reason' as reason, (data ->> 'quarantined_seconds')::float8 < 60 as brief
    from uptuple.event where kind = 'worker.trusted'`;
  assert.deepEqual({ ...event }, { severity: "info", reason: "its canary answers again", brief: true });
});

Deno.test("it comes back also when three probes are answered while the canary is what is gone", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await watched(owner, "shop");
  await reportWorker(owner, "one", { unanswered: 1, canary: "dns" });

  for (const observation of [ANSWERED, ANSWERED, REFUSED, ANSWERED, ANSWERED]) {
    await checkBy(owner, "one", "shop", observation);
  }
  assert.equal(await trustIn(owner, "one"), "QUARANTINED");
  await checkBy(owner, "one", "shop", ANSWERED);

  assert.equal(await trustIn(owner, "one"), "TRUSTED");
});

Deno.test("a canary that is no list is refused, and the report with it", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await assert.rejects(
    owner`select uptuple.report_worker('one', 'default', '{probe}', 1, canary => '{"status": 200}')`,
    { code: "22023" },
  );

  assert.equal((await owner<object[]>`select from uptuple.workers`).length, 0);
});
