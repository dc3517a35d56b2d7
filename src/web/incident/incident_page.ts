import type { Database } from "../../database/connect.ts";
import type { Moment } from "../moment.tsx";
import type { Check, IncidentNotice } from "../service_page.ts";
import type { UpdateStatus } from "../written_text.tsx";

/** What somebody wrote about an incident, and for whom. */
export interface WrittenUpdate {
  update_id: number;
  status: UpdateStatus;
  body: string;
  public: boolean;
  posted_at: Moment;
  posted_by: string;
  changed_at: Moment | null;
}

/** A check from the time of an incident. */
export type IncidentCheck = Pick<Check, "recorded_at" | "purpose" | "status" | "reason" | "latency_ms" | "worker">;

/** What `uptuple.incident_page` gives. */
export interface IncidentPage {
  now: Moment;
  incident_id: number;
  service: string;
  /** Whether the service is watched no longer, so that it has no page. */
  removed: boolean;
  region: string;
  started_at: Moment;
  opened_at: Moment;
  closed_at: Moment | null;
  closed_by: "recovered" | "withdrawn" | null;
  reason: string | null;
  withheld_because: string | null;
  acknowledged_at: Moment | null;
  acknowledged_by: string | null;
  acknowledged_note: string | null;
  /** The first 50 and the last 50, the oldest first. */
  checks: IncidentCheck[];
  notices: IncidentNotice[];
  updates: WrittenUpdate[];
}

/**
 * Reads what the page of an incident shows.
 *
 * @returns Null if there is no such incident.
 * @throws {DatabaseUnavailableError} If the database does not answer.
 */
export async function readIncidentPage(database: Pick<Database, "query">, id: string): Promise<IncidentPage | null> {
  const [row] = await database.query<{ page: IncidentPage | null }>`select uptuple.incident_page(${id}) as page`;
  return row?.page ?? null;
}
