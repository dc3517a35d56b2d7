import type { Component, ComponentStatus, StatusPage } from "./status_page.ts";

/** How a page is as a whole, in the words of Statuspage. */
export interface Overall {
  indicator: "none" | "minor" | "major" | "critical" | "maintenance";
  description: string;
}

/** How each status of a component is told: to people, and in the API, which knows fewer. */
export const COMPONENT_STATUSES: Record<ComponentStatus, { word: string; api: string }> = {
  operational: { word: "Operational", api: "operational" },
  degraded_performance: { word: "Degraded performance", api: "degraded_performance" },
  major_outage: { word: "Outage", api: "major_outage" },
  under_maintenance: { word: "Maintenance", api: "under_maintenance" },
  // Nobody may take it for good.
  unknown: { word: "No data", api: "degraded_performance" },
  not_watched: { word: "Not watched", api: "under_maintenance" },
};

/** The state of a page as a whole, from those of its components. */
export function overallOf({ components }: Pick<StatusPage, "components">): Overall {
  const watched = components.filter(({ status }) => status !== "not_watched");
  const down = count(watched, "major_outage");
  if (down > 0 && down === watched.length) return { indicator: "critical", description: "Major System Outage" };
  if (down > 0) return { indicator: "major", description: "Partial System Outage" };
  if (count(watched, "degraded_performance") > 0) {
    return { indicator: "minor", description: "Partially Degraded Service" };
  }
  const unknown = count(watched, "unknown");
  if (unknown > 0 && unknown === watched.length) return { indicator: "minor", description: "No Data" };
  if (unknown > 0) return { indicator: "minor", description: "Some Systems Without Data" };
  if (count(watched, "under_maintenance") > 0) {
    return { indicator: "maintenance", description: "Service Under Maintenance" };
  }
  if (watched.length === 0) return { indicator: "minor", description: "Nothing Is Watched" };
  return { indicator: "none", description: "All Systems Operational" };
}

function count(components: Component[], status: ComponentStatus): number {
  return components.filter((component) => component.status === status).length;
}
