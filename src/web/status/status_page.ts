import type { Database } from "../../database/connect.ts";
import type { Moment } from "../moment.tsx";
import type { UpdateStatus } from "../written_text.tsx";

/** How a component is: the words of Statuspage, and two that it does not have. */
export type ComponentStatus =
  | "operational"
  | "degraded_performance"
  | "major_outage"
  | "under_maintenance"
  /** Nobody knows: there has been no verdict for too long. */
  | "unknown"
  /** It is disabled. */
  | "not_watched";

/** A service as the public sees it. */
export interface Component {
  id: string;
  name: string;
  group: string | null;
  status: ComponentStatus;
  since: Moment;
}

/** What somebody wrote about an incident. */
export interface IncidentUpdate {
  id: string;
  status: UpdateStatus;
  /** Plain text; an empty line starts a paragraph. */
  body: string;
  posted_at: Moment;
  changed_at: Moment | null;
}

/** A failure of one component. */
export interface Incident {
  id: string;
  component: { id: string; name: string };
  /** When its first check failed, when that was sure, and when it was over. */
  started_at: Moment;
  opened_at: Moment;
  closed_at: Moment | null;
  /** Oldest first. */
  updates: IncidentUpdate[];
}

/** One occurrence of maintenance. */
export interface Maintenance {
  id: string;
  sequence: number;
  title: string;
  description: string | null;
  state: "scheduled" | "in_progress" | "completed" | "cancelled";
  starts_at: Moment;
  ends_at: Moment;
  changed_at: Moment;
  components: { id: string; name: string }[];
}

/** What `uptuple.status_page` says. */
export interface StatusPage {
  page: {
    id: string;
    slug: string;
    title: string;
    description: string | null;
    /** Changes with the image; null if there is none. */
    logo: string | null;
    updated_at: Moment;
  };
  /** In the order in which they are shown. */
  components: Component[];
  /** Newest first. */
  incidents: Incident[];
  /** Soonest first. */
  maintenances: Maintenance[];
}

/** The last 90 days of a component, as `uptuple.status_page_history` says it. */
export interface ComponentHistory {
  uptime: number | null;
  coverage: number | null;
  days_ago: number[];
  day_expected: number[];
  day_up: number[];
  day_down: number[];
}

/** The slug of the page at `/status`. */
export const DEFAULT_SLUG = "default";

/** @returns Null if there is no such page. */
export async function readStatusPage(database: Pick<Database, "query">, slug: string): Promise<StatusPage | null> {
  const [row] = await database.query<{ page: StatusPage | null }>`select uptuple.status_page(${slug}) as page`;
  return row?.page ?? null;
}

/** @returns By the component's id. */
export async function readStatusHistory(
  database: Pick<Database, "query">,
  slug: string,
): Promise<Record<string, ComponentHistory>> {
  const [row] = await database.query<{ history: Record<string, ComponentHistory> }>`
    select uptuple.status_page_history(${slug}) as history`;
  return row?.history ?? {};
}
