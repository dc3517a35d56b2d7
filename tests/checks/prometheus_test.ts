import assert from "node:assert/strict";
import { testDatabase } from "../support/database.ts";

const DIRECTORY = new URL("../../scripts/prometheus/", import.meta.url);
const RULES = "uptuple.rules.yml";
/** PromQL's own words, by which an expression's metrics are told from the rest of it. */
const METRIC = /\b(?:uptuple|probe)_[a-z0-9_]+\b/g;
/** Prometheus' own checker, of Debian's package prometheus; without it only the names are checked. */
const hasPromtool = await new Deno.Command("promtool", { args: ["--version"], stdout: "null", stderr: "null" })
  .output().then(({ success }) => success, () => false);

async function promtool(args: string[], input?: string): Promise<void> {
  const child = new Deno.Command("promtool", {
    args,
    cwd: DIRECTORY,
    stdin: input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (input !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
  }
  const { success, stdout, stderr } = await child.output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.ok(success, said);
  // Of metrics it lists what is badly named, and succeeds.
  if (args[1] === "metrics") assert.equal(said, "");
}

/** The expressions of the dashboard's panels. */
async function dashboardExpressions(): Promise<string[]> {
  const dashboard: { panels: { targets: { expr: string }[] }[] } = JSON.parse(
    await Deno.readTextFile(new URL("grafana_dashboard.json", DIRECTORY)),
  );
  return dashboard.panels.flatMap((panel) => panel.targets.map(({ expr }) => expr));
}

/** Names that samples of the metrics can have. */
async function sampleNames(): Promise<Set<string>> {
  await using database = await testDatabase();
  const families = await database.owner<{ family: string; type: string }[]>`
    select family, type from uptuple.metric_families()`;
  return new Set(families.flatMap(({ family, type }) => {
    if (type === "counter") return [`${family}_total`];
    if (type === "info") return [`${family}_info`];
    if (type === "histogram") return [`${family}_bucket`, `${family}_sum`, `${family}_count`];
    return [family];
  }));
}

Deno.test("the alert rules and the dashboard ask for metrics that there are", async () => {
  const known = await sampleNames();
  const rules = (await Deno.readTextFile(new URL(RULES, DIRECTORY))).split("\n").filter((line) =>
    /^\s+expr:/.test(line)
  );
  const expressions = [...rules, ...await dashboardExpressions()];

  assert.ok(rules.length >= 12 && expressions.length > 30);
  for (const expression of expressions) {
    const names = expression.match(METRIC) ?? [];
    assert.ok(names.length > 0, expression);
    for (const name of names) assert.ok(known.has(name), `${name} in ${expression}`);
  }
});

Deno.test({
  name: "promtool finds nothing wrong with the alert rules, and they fire when they should",
  ignore: !hasPromtool,
  async fn() {
    await promtool(["check", "rules", RULES]);
    await promtool(["test", "rules", "uptuple.rules_test.yml"]);
  },
});

Deno.test({
  name: "promtool takes every expression of the dashboard",
  ignore: !hasPromtool,
  async fn() {
    const rules = (await dashboardExpressions())
      .map((expr, index) => ({ record: `panel:${index}`, expr: expr.replaceAll("$service", ".*") }));
    const file = await Deno.makeTempFile({ suffix: ".yml" });
    try {
      await Deno.writeTextFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
      await promtool(["check", "rules", file]);
    } finally {
      await Deno.remove(file);
    }
  },
});

Deno.test({
  name: "promtool finds nothing wrong with the metrics",
  ignore: !hasPromtool,
  async fn() {
    await using database = await testDatabase();
    const { owner } = database;
    await owner`select uptuple.add_service(name => 'say "hi"', url => 'http://127.0.0.1:1/', group_name => 'a\\b')`;
    await owner`select uptuple.record_health('say "hi"', 'UP', latency_ms => 4.5)`;
    await owner`select uptuple.report_work('default', '{5}', 1, '{"ACCEPTED": 3}')`;
    const [row] = await owner`select uptuple.metrics() as text`;
    await promtool(["check", "metrics"], row.text);
  },
});
