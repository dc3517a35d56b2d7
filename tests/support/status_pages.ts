import type { Incident, Maintenance, StatusPage } from "../../src/web/status/status_page.ts";

/** A name that breaks whatever does not escape. */
export const HOSTILE = `<script>alert("1")</script> & 'it', a\\b; \u202egnp.exe`;

/** A page with one group of two services and one alone, all operational. */
export function statusPage(changes: Partial<StatusPage> = {}): StatusPage {
  return {
    page: {
      id: "11111111-1111-4111-8111-111111111111",
      slug: "default",
      title: "Example status",
      description: null,
      logo: null,
      updated_at: "2026-11-30T10:00:00+00:00",
    },
    components: [
      { id: "c1", name: "Shop", group: "Sales", status: "operational", since: "2026-11-01T00:00:00+00:00" },
      { id: "c2", name: "Checkout", group: "Sales", status: "operational", since: "2026-11-01T00:00:00+00:00" },
      { id: "c3", name: "Blog", group: null, status: "operational", since: "2026-11-01T00:00:00+00:00" },
    ],
    incidents: [],
    maintenances: [],
    ...changes,
  };
}

/** An incident of the shop that somebody wrote about, and that is over. */
export function incident(changes: Partial<Incident> = {}): Incident {
  return {
    id: "i1",
    component: { id: "c1", name: "Shop" },
    started_at: "2026-11-30T11:58:00+00:00",
    opened_at: "2026-11-30T12:00:00+00:00",
    closed_at: "2026-11-30T12:45:30.25+00:00",
    updates: [{
      id: "u1",
      status: "identified",
      body: "The database is full.\n\nWe are making room.",
      posted_at: "2026-11-30T12:10:00+00:00",
      changed_at: "2026-11-30T12:20:00+00:00",
    }],
    ...changes,
  };
}

/** Maintenance of the shop that is still to come. */
export function maintenance(changes: Partial<Maintenance> = {}): Maintenance {
  return {
    id: "m1-1796000000",
    sequence: 2,
    title: "Move to the new hall",
    description: "Expect breaks of a minute.",
    state: "scheduled",
    starts_at: "2026-12-05T22:00:00+00:00",
    ends_at: "2026-12-06T02:30:00+00:00",
    changed_at: "2026-11-29T09:00:00+00:00",
    components: [{ id: "c1", name: "Shop" }],
    ...changes,
  };
}
