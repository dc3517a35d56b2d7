import assert from "node:assert/strict";
import { addChannel, answerAll, fail, record } from "../../support/alerts.ts";
import { addService } from "../../support/services.ts";
import { openTestApp } from "../../support/web_app.ts";
import type { IncidentCheck, IncidentPage } from "../../../src/web/incident/incident_page.ts";
import { timelineOf } from "../../../src/web/incident/timeline.ts";

/** The text of a page's main part, without markup. */
function textOf(html: string): string {
  return html.replace(/^[\s\S]*<main/, "<main").replace(/<\/main>[\s\S]*/, "").replace(/<[^>]+>/g, " ")
    .replace(/&#39;/g, "'").replace(/&gt;/g, ">").replace(/\s+/g, " ");
}

Deno.test("the page of an incident tells it from the first failed check to the recovery", async () => {
  await using opened = await openTestApp();
  const { owner } = opened;
  await addService(owner, "shop");
  await addChannel(owner, "ops");
  await addChannel(owner, "backup");
  const incident = await fail(owner, "shop");
  // Its first record arrived in one second and was applied in the next.
  await owner`
    update uptuple.result set scheduled_slot = (select floor(extract(epoch from started_at))::bigint from uptuple.incident) - 1
    where applied_order = (select min(applied_order) from uptuple.result where status = 'DOWN')`;
  await answerAll(owner, { status: 200, excerpt: "thanks" });
  await owner`select uptuple.acknowledge(incident_id => ${incident}, "by" => 'ada', note => 'on it')`;
  await owner`select uptuple.post_update(${incident}, 'identified', 'The disk is full.')`;
  await owner`select uptuple.post_update(${incident}, 'investigating', 'Only we know.', public => false)`;
  await record(owner, "shop", "UP");
  await owner`select uptuple.post_update(${incident}, 'postmortem', 'We bought a larger one.')`;

  const answer = await opened.app.request(`/incidents/${incident}`);
  const text = textOf(await answer.text());

  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  const course = [
    "it is DOWN",
    "Recovered after",
    "ada looks after it",
    "Postmortem We bought a larger one.",
    "What happened",
    "3 checks were down",
    "the incident was opened",
    "service.failed",
    "HTTP 200, accepted",
    "ada looks after it on it",
    "Identified public The disk is full.",
    "Investigating internal Only we know.",
    "A check was up",
    "the incident was closed",
    "service.recovered",
  ];
  let from = 0;
  for (const part of course) {
    const at = text.indexOf(part, from);
    assert.ok(at >= 0, `${part} in order: ${text.slice(from)}`);
    from = at;
  }
});

Deno.test("an incident that there is not is not found", async () => {
  await using opened = await openTestApp();
  for (const path of ["/incidents/7", "/incidents/x", "/incidents/99999999999999999999"]) {
    assert.equal((await opened.app.request(path)).status, 404, path);
  }
});

Deno.test("a withheld incident says why nobody is told, and one that is open how to take it", async () => {
  await using opened = await openTestApp();
  const { owner } = opened;
  await addService(owner, "parent");
  await addService(owner, "child");
  await owner`select uptuple.depends_on('child', 'parent')`;
  await fail(owner, "parent");
  await fail(owner, "child");
  const [child] = await owner`
    select incident.id from uptuple.incident join uptuple.service on service.id = incident.service_id where service.name = 'child'`;

  const text = textOf(await opened.page(`/incidents/${child.id}`));

  assert.ok(text.includes("Nobody is told of it while what the service depends on is down."), text);
  assert.ok(text.includes(`select uptuple.acknowledge(incident_id => ${child.id});`));
});

Deno.test("checks in a row with the same verdict and reason are one entry, and notices stand where they happened", () => {
  const page = pageWith([
    check("11:00:00", "DOWN", "refused"),
    check("11:01:00", "DOWN", "refused"),
    check("11:02:00", "DOWN", "timeout"),
    check("11:03:00", "DOWN", "timeout"),
  ]);
  page.notices = [{ number: 1, kind: "service.failed", occurred_at: "2026-11-30T11:02:00Z", deliveries: [] }];

  assert.deepEqual(wordsOf(page), ["2 refused", "1 timeout", "opened", "notice", "1 timeout"]);
});

Deno.test("checks that are not in the page are not counted as if they were not there", () => {
  const checks = Array.from({ length: 100 }, (_, index) => {
    const second = String(index % 50).padStart(2, "0");
    return check(index < 50 ? `11:00:${second}` : `17:00:${second}`, "DOWN", "refused");
  });
  const page = { ...pageWith(checks), opened_at: "2026-11-30T11:00:00Z" };

  assert.deepEqual(wordsOf(page), ["1 refused", "opened", "49 refused", "left_out", "50 refused"]);
  assert.deepEqual(wordsOf({ ...page, checks: checks.slice(0, 99) }), ["1 refused", "opened", "98 refused"]);
});

function check(at: string, status: "UP" | "DOWN", reason: string): IncidentCheck {
  return {
    recorded_at: `2026-11-30T${at}Z`,
    purpose: "GRID" as const,
    status,
    reason,
    latency_ms: null,
    worker: null,
  };
}

function pageWith(checks: IncidentCheck[]): IncidentPage {
  return {
    now: "2026-11-30T12:00:00Z",
    incident_id: 1,
    service: "shop",
    removed: false,
    region: "default",
    started_at: "2026-11-30T11:00:00Z",
    opened_at: "2026-11-30T11:02:00Z",
    closed_at: null,
    closed_by: null,
    reason: "refused",
    withheld_because: null,
    acknowledged_at: null,
    acknowledged_by: null,
    acknowledged_note: null,
    checks,
    notices: [],
    updates: [],
  };
}

function wordsOf(page: IncidentPage): string[] {
  return timelineOf(page).map((happening) =>
    happening.kind === "checks"
      ? `${happening.count} ${happening.check.reason}`
      : happening.kind === "check"
      ? `1 ${happening.check.reason}`
      : happening.kind
  );
}
