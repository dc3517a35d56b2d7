import type { IconName } from "./icon.tsx";
import type { ServiceStatus } from "./dashboard.ts";

/** The status of a service. */
export type Status = ServiceStatus["status"];

/** How each status is shown, in the order in which they are counted. */
export const STATUSES: Record<Status, { icon: IconName; word: string }> = {
  DOWN: { icon: "down", word: "Down" },
  DEGRADED: { icon: "degraded", word: "Degraded" },
  UNKNOWN: { icon: "unknown", word: "Unknown" },
  UP: { icon: "up", word: "Up" },
  PAUSED: { icon: "paused", word: "Paused" },
};

/** How many services have each status that occurs, in the order of STATUSES. */
export function countStatuses(services: ServiceStatus[]): [Status, number][] {
  return (Object.keys(STATUSES) as Status[])
    .map((status): [Status, number] => [status, services.filter((service) => service.status === status).length])
    .filter(([, count]) => count > 0);
}

/** `1 down, 4 up` */
export function countsInWords(services: ServiceStatus[]): string {
  return countStatuses(services).map(([status, count]) => `${count} ${STATUSES[status].word.toLowerCase()}`).join(", ");
}
