import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";
import { parseExposition, values } from "../../support/exposition.ts";
import { startWorker } from "../../support/runtime.ts";
import { until } from "../../support/wait.ts";
import { workTally } from "../../../src/jobs/work_tally.ts";

Deno.test("a runtime reports how late its claims were and how its completions were answered", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'nobody', url => 'http://127.0.0.1:1/', every => '1 second')`;
  await using _runtime = startWorker(database.url);

  const metrics = await until("completions are counted", async () => {
    const [row] = await owner`select uptuple.metrics() as text`;
    const metrics = parseExposition(row.text);
    const [accepted = 0] = values(metrics.get("uptuple_completions_total"), { outcome: "ACCEPTED" });
    return accepted >= 2 ? metrics : null;
  });

  const lateness = metrics.get("uptuple_job_lateness_seconds")?.samples ?? [];
  const count = lateness.find(({ name }) => name.endsWith("_count"))?.value ?? 0;
  assert.ok(count >= 2, `${count} claims`);
  assert.equal(lateness.find(({ labels }) => labels.le === "+Inf")?.value, count);
});

Deno.test("what could not be reported is counted with what comes after", () => {
  const tally = workTally();
  tally.claimed({ late_ms: 5, took_over: true });
  tally.completed("ACCEPTED");
  const taken = tally.take();
  tally.claimed({ late_ms: 7, took_over: false });
  tally.completed("ACCEPTED");
  tally.completed("REFUSED");

  tally.giveBack(taken);

  assert.deepEqual(tally.take(), { lateMs: [5, 7], leasesExpired: 1, outcomes: { ACCEPTED: 2, REFUSED: 1 } });
  assert.deepEqual(tally.take(), { lateMs: [], leasesExpired: 0, outcomes: {} });
});
