import assert from "node:assert/strict";
import { addChannel, answer, claimOne, fail, record } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { type Family, parseExposition, values } from "../../support/exposition.ts";
import { addService, type Observation } from "../../support/services.ts";

async function read(sql: TestSql, openMetrics = false): Promise<Map<string, Family>> {
  const [row] = await sql`select uptuple.metrics(${openMetrics}) as text`;
  return parseExposition(row.text);
}

/** Claims the job of a service that is due, and completes it. */
async function check(sql: TestSql, observation: Observation): Promise<void> {
  const [job] = await sql`select job_id, owner_token from uptuple.claim_jobs('tester')`;
  const [row] = await sql`select uptuple.complete_job(${job.job_id}, ${job.owner_token}, ${
    sql.json(observation as never)
  }) as taken`;
  assert.equal(row.taken, true);
}

Deno.test("a service's last check is told under the names that blackbox_exporter has", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await check(owner, {
    status: 200,
    timings: { dns: 1, connect: 2, tls: 3, first_byte: 4, total: 12 },
    certificate: { not_after: "2030-01-01T00:00:00Z" },
  });

  const metrics = await read(owner);

  const shop = { service: "shop", region: "default" };
  assert.deepEqual(values(metrics.get("probe_success"), shop), [1]);
  assert.deepEqual(values(metrics.get("probe_duration_seconds"), shop), [0.012]);
  assert.deepEqual(values(metrics.get("probe_dns_lookup_time_seconds"), shop), [0.001]);
  assert.deepEqual(values(metrics.get("probe_http_status_code"), shop), [200]);
  assert.deepEqual(values(metrics.get("probe_ssl_earliest_cert_expiry"), shop), [Date.UTC(2030, 0, 1) / 1000]);
  assert.deepEqual(
    metrics.get("probe_http_duration_seconds")?.samples.map(({ labels, value }) => [labels.phase, value]),
    [["resolve", 0.001], ["connect", 0.002], ["tls", 0.003], ["processing", 0.004], ["transfer", 0.002]],
  );
  assert.deepEqual(values(metrics.get("uptuple_service_state"), { ...shop, state: "UP" }), [1]);
  assert.deepEqual(values(metrics.get("uptuple_services"), { state: "UP" }), [1]);
});

Deno.test("a check that failed is 0, one that was inconclusive or never came is absent", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "down");
  await check(owner, { error: { code: "connect.refused", message: "refused" }, timings: { total: 1 } });
  await addService(owner, "unsure");
  await check(owner, { error: { code: "secret.missing", message: "no such secret" }, timings: { total: 1 } });
  await addService(owner, "new");

  const metrics = await read(owner);

  assert.deepEqual(
    metrics.get("probe_success")?.samples.map(({ labels, value }) => [labels.service, value]),
    [["down", 0]],
  );
  assert.equal(metrics.get("probe_http_status_code"), undefined);
  assert.deepEqual(values(metrics.get("uptuple_service_failure_streak"), { service: "down" }), [1]);
});

Deno.test("every service is in exactly one state, and a disabled one is PAUSED", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const name of ["up", "down", "new", "off"]) await addService(owner, name);
  await record(owner, "up", "UP");
  await fail(owner, "down");
  await owner`select uptuple.disable_service('off')`;

  const states = (await read(owner)).get("uptuple_service_state")?.samples ?? [];

  assert.deepEqual(
    states.filter(({ value }) => value === 1).map(({ labels }) => `${labels.service} ${labels.state}`),
    ["down DOWN", "new UNKNOWN", "off PAUSED", "up UP"],
  );
  assert.equal(states.length, 4 * 5);
});

Deno.test("names with quotes, backslashes, line feeds and all else come back as they are", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const names = ['say "hi"', "back\\slash", "new\\nline", "<script>", "\u202egnp.exe", 'sch\u00f6n {a="b"}, 7 #'];
  for (const name of names) await addService(owner, name);
  await owner`update uptuple.service set group_name = E'two\nlines' where name = 'say "hi"'`;

  const samples = (await read(owner)).get("uptuple_service_failure_streak")?.samples ?? [];

  assert.deepEqual(samples.map(({ labels }) => labels.service).sort(), [...names].sort());
  assert.equal(samples.find(({ labels }) => labels.service === 'say "hi"')?.labels.group, "two\nlines");
});

Deno.test("OpenMetrics names counters without the suffix, has no gauge of an info, and ends with EOF", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.report_work('default', '{5}', 0, '{"ACCEPTED": 3}')`;

  const [plain] = await owner`select uptuple.metrics() as text`;
  const [open] = await owner`select uptuple.metrics(openmetrics => true) as text`;

  assert.match(
    plain.text,
    /^# TYPE uptuple_completions_total counter\nuptuple_completions_total\{outcome="ACCEPTED"\} 3$/m,
  );
  assert.match(open.text, /^# TYPE uptuple_completions counter\nuptuple_completions_total\{outcome="ACCEPTED"\} 3$/m);
  assert.match(plain.text, /^# TYPE uptuple_release_info gauge$/m);
  assert.match(open.text, /^# TYPE uptuple_release info$/m);
  assert.doesNotMatch(plain.text, /^# EOF$/m);
  assert.match(open.text, /\n# EOF\n$/);
});

Deno.test("lateness is a histogram: cumulative, with all buckets, a bound in the bucket that it bounds", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.report_work('default', '{-3,0,10,11,250,61000}')`;
  await owner`select uptuple.report_work('default', '{9}')`;

  const family = (await read(owner)).get("uptuple_job_lateness_seconds");

  assert.equal(family?.type, "histogram");
  const buckets = family.samples.filter(({ name }) => name.endsWith("_bucket"));
  assert.deepEqual(
    buckets.map(({ labels, value }) => `${labels.le} ${value}`),
    [
      "0.01 4",
      "0.025 5",
      "0.05 5",
      "0.1 5",
      "0.25 6",
      "0.5 6",
      "1.0 6",
      "2.5 6",
      "5.0 6",
      "10.0 6",
      "30.0 6",
      "60.0 6",
      "+Inf 7",
    ],
  );
  assert.deepEqual(family.samples.slice(-2).map(({ name, value }) => [name, value]), [
    ["uptuple_job_lateness_seconds_sum", 61.28],
    ["uptuple_job_lateness_seconds_count", 7],
  ]);
});

Deno.test("reports of work add up over runtimes, and what is no outcome is left out", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const worker = await database.connect("uptuple_worker");
  await worker`select uptuple.report_work('default', '{}', 2, '{"ACCEPTED": 5, "REFUSED": 1, "x": 1, "BROKEN": "many"}')`;
  await owner`select uptuple.report_work('eu', '{}', 1, '{"ACCEPTED": 5}')`;

  const metrics = await read(owner);

  assert.deepEqual(values(metrics.get("uptuple_leases_expired_total"), { region: "default" }), [2]);
  assert.deepEqual(values(metrics.get("uptuple_leases_expired_total"), { region: "eu" }), [1]);
  assert.deepEqual(
    metrics.get("uptuple_completions_total")?.samples.map(({ labels, value }) => [labels.outcome, value]),
    [["ACCEPTED", 10], ["REFUSED", 1]],
  );
});

Deno.test("the outbox tells what waits, how old the oldest is, and how attempts ended", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await record(owner, "shop", "UP");
  await owner`update uptuple.event set created_at = created_at - interval '1 hour'`;
  await answer(owner, await claimOne(owner), { status: 500 });

  let metrics = await read(owner);
  assert.deepEqual(values(metrics.get("uptuple_deliveries"), { channel: "ops", state: "ready" }), [1]);
  assert.deepEqual(values(metrics.get("uptuple_deliveries"), { channel: "ops", state: "waiting" }), [1]);
  const [age = 0] = values(metrics.get("uptuple_delivery_oldest_age_seconds"), { channel: "ops" });
  assert.ok(age >= 3600 && age < 3700, `${age}`);
  assert.deepEqual(values(metrics.get("uptuple_delivery_attempts_total"), { channel: "ops", outcome: "RETRY" }), [1]);

  await owner`update uptuple.delivery set due_at = clock_timestamp() where state = 'READY'`;
  await answer(owner, await claimOne(owner), { status: 422 });

  metrics = await read(owner);
  assert.deepEqual(values(metrics.get("uptuple_deliveries"), { channel: "ops", state: "dead" }), [1]);
  assert.deepEqual(values(metrics.get("uptuple_delivery_attempts_total"), { channel: "ops", outcome: "DEAD" }), [1]);
});

Deno.test("runs of tasks are counted by how they ended, and stay counted when their rows are pruned", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.ensure_builtin_tasks()`;
  await owner`select uptuple.run_task_now('uptuple.sweep')`;
  const [run] = await owner`select run_id, token from uptuple.claim_task('tester')`;
  const [asked] = await owner`select task from uptuple.task_run where id = ${run.run_id}`;
  await owner`select uptuple.finish_task(${run.run_id}, ${run.token}, 'it broke', 'XX000')`;
  await owner`delete from uptuple.task_run`;

  const metrics = await read(owner);

  assert.deepEqual(values(metrics.get("uptuple_task_runs_total"), { task: asked.task, outcome: "FAILED" }), [1]);
  assert.deepEqual(values(metrics.get("uptuple_task_enabled"), { task: asked.task }), [1]);
});

Deno.test("a viewer reads the metrics, and every family that there is says what it means", async () => {
  await using database = await testDatabase();
  const viewer = await database.connect("uptuple_viewer");

  const metrics = await read(viewer);

  for (const [name, { help, type }] of metrics) {
    assert.match(help, /^[A-Z].*\.$/, name);
    assert.match(type, /^(gauge|counter|histogram)$/, name);
  }
  const families = await viewer`select family, type from uptuple.metric_families()`;
  assert.ok(families.length >= metrics.size);
});

Deno.test("a service in maintenance is told as such, and notices that wait for its end are not stuck", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "blog");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await answer(owner, await claimOne(owner), { status: 200 });
  await owner`select uptuple.plan_maintenance(services => '{shop}', duration => '1 hour')`;
  await record(owner, "shop", "UP");
  await owner`update uptuple.event set created_at = created_at - interval '1 hour'`;

  const metrics = await read(owner);

  assert.deepEqual(
    metrics.get("uptuple_service_in_maintenance")?.samples.map(({ labels, value }) => [labels.service, value]),
    [["blog", 0], ["shop", 1]],
  );
  assert.deepEqual(values(metrics.get("uptuple_delivery_oldest_age_seconds"), { channel: "ops" }), [0]);
});
