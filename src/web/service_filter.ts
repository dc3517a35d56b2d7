import type { ServiceStatus } from "./dashboard.ts";
import { shownUrl } from "./service_address.tsx";
import { type Status, STATUSES } from "./statuses.ts";

/** Which services a viewer wants to see. What is null or empty leaves none out. */
export interface ServiceFilter {
  /** A part of a name, a group, a tag, a region or a URL, in any case. */
  search: string;
  status: Status | null;
  group: string | null;
  tag: string | null;
}

/** Long enough for any name. */
const LONGEST_SEARCH = 200;

/** Reads the filter from the query of a page; what is not understood leaves none out. */
export function readFilter(query: (name: string) => string | undefined): ServiceFilter {
  const status = query("state");
  return {
    search: (query("q") ?? "").trim().slice(0, LONGEST_SEARCH),
    status: status !== undefined && Object.hasOwn(STATUSES, status) ? status as Status : null,
    group: query("group") || null,
    tag: query("tag") || null,
  };
}

/** Whether a filter lets a service through. `filter.js` does the same with what is on the page. */
export function letsThrough({ search, status, group, tag }: ServiceFilter, service: ServiceStatus): boolean {
  if (status !== null && service.status !== status) return false;
  if (group !== null && service.group_name !== group) return false;
  if (tag !== null && !service.tags.includes(tag)) return false;
  if (search === "") return true;
  const { service: name, group_name, tags, region, url } = service;
  const wanted = search.toLowerCase();
  return [name, group_name ?? "", region, ...tags, shownUrl(url)].some((text) => text.toLowerCase().includes(wanted));
}

/** Whether a filter may leave any service out. */
export function isFiltering({ search, status, group, tag }: ServiceFilter): boolean {
  return search !== "" || status !== null || group !== null || tag !== null;
}
