import { sayingsOf } from "./announcements.ts";
import { COMPONENT_STATUSES, overallOf } from "./overall.ts";
import type { Component, Incident, Maintenance, StatusPage } from "./status_page.ts";

/** The documents of Statuspage's public API, version 2, which dashboards and bots read. */
export const API_DOCUMENTS = [
  "summary",
  "status",
  "components",
  "incidents",
  "incidents/unresolved",
  "scheduled-maintenances",
  "scheduled-maintenances/upcoming",
  "scheduled-maintenances/active",
] as const;

export type ApiDocument = (typeof API_DOCUMENTS)[number];

const MAINTENANCE_STATUSES = {
  scheduled: "scheduled",
  in_progress: "in_progress",
  completed: "completed",
  // Statuspage has no word for it.
  cancelled: "completed",
} as const;

/**
 * A page in the shape of Statuspage's API.
 *
 * @param address Where the page is, absolute.
 */
export function apiDocument(document: ApiDocument, status: StatusPage, address: string): unknown {
  const page = {
    id: status.page.id,
    name: status.page.title,
    url: address,
    time_zone: "Etc/UTC",
    updated_at: iso(status.page.updated_at),
  };
  const open = status.incidents.filter(({ closed_at }) => closed_at === null);
  const lasting = status.maintenances.filter(({ state }) => state === "in_progress");
  const upcoming = status.maintenances.filter(({ state }) => state === "scheduled");
  const incidents = (chosen: Incident[]) => chosen.map((incident) => apiIncident(incident, status, address));
  const maintenances = (chosen: Maintenance[]) => chosen.map((planned) => apiMaintenance(planned, status, address));
  switch (document) {
    case "summary":
      return {
        page,
        components: apiComponents(status),
        incidents: incidents(open),
        scheduled_maintenances: maintenances([...lasting, ...upcoming]),
        status: overallOf(status),
      };
    case "status":
      return { page, status: overallOf(status) };
    case "components":
      return { page, components: apiComponents(status) };
    case "incidents":
      return { page, incidents: incidents(status.incidents) };
    case "incidents/unresolved":
      return { page, incidents: incidents(open) };
    case "scheduled-maintenances":
      return { page, scheduled_maintenances: maintenances(status.maintenances) };
    case "scheduled-maintenances/upcoming":
      return { page, scheduled_maintenances: maintenances(upcoming) };
    case "scheduled-maintenances/active":
      return { page, scheduled_maintenances: maintenances(lasting) };
  }
}

/** Groups are components too, before those that are in them. */
function apiComponents(status: StatusPage): unknown[] {
  const groups = new Set<string>();
  return status.components.flatMap((component, index) => {
    const own = apiComponent(component, index, status.page.id);
    if (component.group === null || groups.has(component.group)) return [own];
    groups.add(component.group);
    const members = status.components.filter(({ group }) => group === component.group);
    const worst = overallOf({ components: members });
    return [{
      ...own,
      id: groupId(component.group, status.page.id),
      name: component.group,
      status: GROUP_STATUSES[worst.indicator],
      group_id: null,
      group: true,
      only_show_if_degraded: false,
      components: members.map(({ id }) => id),
    }, own];
  });
}

const GROUP_STATUSES = {
  none: "operational",
  minor: "degraded_performance",
  major: "partial_outage",
  critical: "major_outage",
  maintenance: "under_maintenance",
} as const;

function apiComponent(component: Component, index: number, pageId: string) {
  return {
    id: component.id,
    name: component.name,
    status: COMPONENT_STATUSES[component.status].api,
    created_at: iso(component.since),
    updated_at: iso(component.since),
    position: index + 1,
    description: null,
    showcase: true,
    start_date: null,
    group_id: component.group === null ? null : groupId(component.group, pageId),
    page_id: pageId,
    group: false,
    only_show_if_degraded: false,
  };
}

/** A group has no row of its own, so its id is made of its name. */
function groupId(group: string, pageId: string): string {
  return `${pageId.slice(0, 8)}-${encodeURIComponent(group)}`;
}

function apiIncident(incident: Incident, { page, components }: StatusPage, address: string) {
  const sayings = sayingsOf(incident).toReversed();
  const lastWritten = incident.updates.at(-1)?.status;
  const status = incident.closed_at !== null
    ? (lastWritten === "postmortem" ? "postmortem" : "resolved")
    : lastWritten ?? "investigating";
  return {
    id: incident.id,
    name: `${incident.component.name}: outage`,
    status,
    created_at: iso(incident.opened_at),
    updated_at: iso(sayings[0]?.changed_at ?? sayings[0]?.at ?? incident.opened_at),
    monitoring_at: null,
    resolved_at: incident.closed_at === null ? null : iso(incident.closed_at),
    impact: "major",
    shortlink: `${address}#incident-${incident.id}`,
    started_at: iso(incident.started_at),
    page_id: page.id,
    incident_updates: sayings.map(({ id, text, at, changed_at, word }) => ({
      id,
      status: word === "Outage" ? "investigating" : word === "Recovered" ? "resolved" : word.toLowerCase(),
      body: text,
      incident_id: incident.id,
      created_at: iso(at),
      updated_at: iso(changed_at ?? at),
      display_at: iso(at),
    })),
    components: components.flatMap((component, index) =>
      component.id === incident.component.id ? [apiComponent(component, index, page.id)] : []
    ),
  };
}

function apiMaintenance(maintenance: Maintenance, { page, components }: StatusPage, address: string) {
  const affected = new Set(maintenance.components.map(({ id }) => id));
  return {
    id: maintenance.id,
    name: maintenance.title,
    status: MAINTENANCE_STATUSES[maintenance.state],
    created_at: iso(maintenance.changed_at),
    updated_at: iso(maintenance.changed_at),
    monitoring_at: null,
    resolved_at: maintenance.state === "completed" ? iso(maintenance.ends_at) : null,
    impact: "maintenance",
    shortlink: `${address}#maintenance-${maintenance.id}`,
    started_at: iso(maintenance.starts_at),
    page_id: page.id,
    scheduled_for: iso(maintenance.starts_at),
    scheduled_until: iso(maintenance.ends_at),
    incident_updates: [{
      id: `${maintenance.id}-${maintenance.sequence}`,
      status: MAINTENANCE_STATUSES[maintenance.state],
      body: maintenance.description ?? maintenance.title,
      incident_id: maintenance.id,
      created_at: iso(maintenance.changed_at),
      updated_at: iso(maintenance.changed_at),
      display_at: iso(maintenance.changed_at),
    }],
    components: components.flatMap((component, index) =>
      affected.has(component.id) ? [apiComponent(component, index, page.id)] : []
    ),
  };
}

function iso(at: string): string {
  return new Date(at).toISOString();
}
