import type { Dashboard, ServiceStatus } from "./dashboard.ts";
import { Incidents, Summary, titleOf } from "./dashboard_page.tsx";
import type { Histories } from "./service_history.ts";
import { areTitled, GroupCounts, groupServices, rowKey, ServiceRow } from "./services_section.tsx";
import { type Status, STATUSES } from "./statuses.ts";

/** What viewers are sent when the dashboard changes. */
export interface LiveParts {
  /** Of the browser's tab. */
  title: string;
  /** What a screen reader says of it. */
  said: string;
  /** Elements by their data-key, as HTML. */
  parts: [key: string, html: string][];
}

/** More rows than that are not sent one by one: the page is fetched again. */
const MOST_ROWS = 100;
/** More changes than that are not read out one by one. */
const MOST_SAID = 3;

/**
 * What differs between two looks at the dashboard.
 *
 * @returns Null if the page has to be fetched anew: services came, went or moved, or there is too much.
 */
export function changedParts(before: Dashboard, after: Dashboard, histories: Histories): LiveParts | null {
  if (placesOf(before) !== placesOf(after)) return null;
  const changed = after.services.filter((service, index) => stateOf(service) !== stateOf(before.services[index]));
  if (changed.length > MOST_ROWS) return null;
  const titled = areTitled(after.services);
  const { now, services, incidents } = after;
  return {
    title: `${titleOf(services)} – Uptuple`,
    said: saidOf(changed.filter((service) => service.status !== statusBefore(before, service))),
    parts: [
      ["summary", <Summary services={services} />],
      ["incidents", <Incidents incidents={incidents} now={now} />],
      ...groupServices(services)
        .filter(({ members }) => members.some((member) => changed.includes(member)))
        .map((group): [string, unknown] => [`h:${group.name ?? ""}`, <GroupCounts group={group} />]),
      ...changed.map((service): [string, unknown] => [
        rowKey(service),
        <ServiceRow
          service={service}
          history={histories.get(service.service)}
          hidden={false}
          titled={titled}
          now={now}
        />,
      ]),
    ].map(([key, element]) => [String(key), String(element)]),
  };
}

/** Which rows there are and where they stand. */
function placesOf({ services }: Dashboard): string {
  return JSON.stringify(
    services.map(({ service, region, group_name, tags, url }) => [service, region, group_name, tags, url]),
  );
}

/** What of a row is shown at once when it changes; the rest waits for the next refresh. */
function stateOf(service: ServiceStatus | undefined): string {
  if (service === undefined) return "";
  const { status, since, checked_status, recent, failure_streak, reason, maintenance_until } = service;
  const isWell = status === "UP" && checked_status === "UP";
  return JSON.stringify([
    status,
    since,
    checked_status,
    recent,
    failure_streak,
    isWell ? null : reason,
    maintenance_until,
  ]);
}

function statusBefore({ services }: Dashboard, { service, region }: ServiceStatus): Status | undefined {
  return services.find((each) => each.service === service && each.region === region)?.status;
}

function saidOf(services: ServiceStatus[]): string {
  const sentences = services.map(({ service, status }) => `${service} is ${STATUSES[status].word.toLowerCase()}.`);
  return sentences.length > MOST_SAID ? `${sentences.length} services have changed.` : sentences.join(" ");
}
