import assert from "node:assert/strict";
import { overallOf } from "../../../../src/web/status/overall.ts";
import type { ComponentStatus } from "../../../../src/web/status/status_page.ts";
import { API_DOCUMENTS, type ApiDocument, apiDocument } from "../../../../src/web/status/statuspage_api.ts";
import { incident, maintenance, statusPage } from "../../../support/status_pages.ts";

const ADDRESS = "https://example.com/status";

// deno-lint-ignore no-explicit-any -- a document of an API that is read as its clients read it
function document(name: ApiDocument, page = statusPage()): any {
  return JSON.parse(JSON.stringify(apiDocument(name, page, ADDRESS)));
}

function withStatuses(...statuses: ComponentStatus[]) {
  const components = statuses.map((status, index) => ({
    id: `c${index}`,
    name: `service ${index}`,
    group: null,
    status,
    since: "2026-11-01T00:00:00+00:00",
  }));
  return statusPage({ components });
}

const OVERALL: [ComponentStatus[], string, string][] = [
  [["operational", "operational"], "none", "All Systems Operational"],
  [["operational", "degraded_performance"], "minor", "Partially Degraded Service"],
  [["operational", "major_outage", "degraded_performance"], "major", "Partial System Outage"],
  [["major_outage", "major_outage", "not_watched"], "critical", "Major System Outage"],
  [["operational", "under_maintenance"], "maintenance", "Service Under Maintenance"],
  [["operational", "unknown"], "minor", "Some Systems Without Data"],
  [["unknown"], "minor", "No Data"],
  [["not_watched"], "minor", "Nothing Is Watched"],
  [[], "minor", "Nothing Is Watched"],
];
for (const [statuses, indicator, description] of OVERALL) {
  Deno.test(`${statuses.join(", ") || "nothing"} makes ${description}`, () => {
    assert.deepEqual(overallOf(withStatuses(...statuses)), { indicator, description });
    assert.deepEqual(document("status", withStatuses(...statuses)).status, { indicator, description });
  });
}

Deno.test("every document says which page it is of", () => {
  for (const name of API_DOCUMENTS) {
    assert.deepEqual(document(name).page, {
      id: "11111111-1111-4111-8111-111111111111",
      name: "Example status",
      url: ADDRESS,
      time_zone: "Etc/UTC",
      updated_at: "2026-11-30T10:00:00.000Z",
    });
  }
});

Deno.test("a group is a component before its members, and as bad as they are together", () => {
  const page = statusPage();
  page.components[0] = { ...page.components[0]!, status: "major_outage" };

  const { components } = document("components", page);

  assert.deepEqual(
    components.map(({ name, group, status }: Record<string, unknown>) => [name, group, status]),
    [
      ["Sales", true, "partial_outage"],
      ["Shop", false, "major_outage"],
      ["Checkout", false, "operational"],
      ["Blog", false, "operational"],
    ],
  );
  assert.deepEqual(components[0].components, ["c1", "c2"]);
  assert.deepEqual(components.map((each: { group_id: string | null }) => each.group_id), [
    null,
    components[0].id,
    components[0].id,
    null,
  ]);
});

Deno.test("what nobody knows is never operational", () => {
  for (const status of ["unknown", "not_watched"] as const) {
    assert.notEqual(document("components", withStatuses(status)).components[0].status, "operational");
  }
});

Deno.test("an incident has its updates newest first, and its state from what was written or from its end", () => {
  const open = incident({ id: "i2", closed_at: null });
  const page = statusPage({ incidents: [open, incident()] });

  const all = document("incidents", page).incidents;
  assert.deepEqual(all.map(({ status }: { status: string }) => status), ["identified", "resolved"]);
  assert.deepEqual(all[1].incident_updates.map(({ status }: { status: string }) => status), [
    "resolved",
    "identified",
    "investigating",
  ]);
  assert.equal(all[1].resolved_at, "2026-11-30T12:45:30.250Z");
  assert.deepEqual(document("incidents/unresolved", page).incidents.map(({ id }: { id: string }) => id), ["i2"]);
  assert.deepEqual(document("summary", page).incidents.map(({ id }: { id: string }) => id), ["i2"]);
  assert.equal(
    document("incidents", statusPage({ incidents: [incident({ closed_at: null, updates: [] })] })).incidents[0].status,
    "investigating",
  );
});

Deno.test("maintenance is scheduled, in progress or completed, with its times and what it affects", () => {
  const page = statusPage({
    maintenances: [
      maintenance({ id: "past", state: "completed" }),
      maintenance({ id: "now", state: "in_progress" }),
      maintenance(),
    ],
  });

  const ids = (name: ApiDocument) =>
    document(name, page).scheduled_maintenances.map(({ id, status }: Record<string, string>) => `${id} ${status}`);
  assert.deepEqual(ids("scheduled-maintenances"), ["past completed", "now in_progress", "m1-1796000000 scheduled"]);
  assert.deepEqual(ids("scheduled-maintenances/active"), ["now in_progress"]);
  assert.deepEqual(ids("scheduled-maintenances/upcoming"), ["m1-1796000000 scheduled"]);
  assert.deepEqual(ids("summary"), ["now in_progress", "m1-1796000000 scheduled"]);
  const [planned] = document("scheduled-maintenances/upcoming", page).scheduled_maintenances;
  assert.equal(planned.scheduled_for, "2026-12-05T22:00:00.000Z");
  assert.equal(planned.scheduled_until, "2026-12-06T02:30:00.000Z");
  assert.deepEqual(planned.components.map(({ name }: { name: string }) => name), ["Shop"]);
});
