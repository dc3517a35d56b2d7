import type { Database } from "../database/connect.ts";
import type { Moment } from "./moment.tsx";

/** A row of `uptuple.status`. */
export interface ServiceStatus {
  service: string;
  group_name: string | null;
  tags: string[];
  region: string;
  status: "UP" | "DEGRADED" | "DOWN" | "UNKNOWN" | "PAUSED";
  since: Moment;
  checked_at: Moment | null;
  checked_status: "UP" | "DEGRADED" | "DOWN" | "INCONCLUSIVE" | null;
  latency_ms: number | null;
  reason: string | null;
  /** False if there has been no verdict for too long. */
  recent: boolean;
  failure_streak: number;
  failure_threshold: number;
  /** When the maintenance ends that it is in; null: it is in none. */
  maintenance_until: Moment | null;
  maintenance_title: string | null;
  /** Without userinfo; `${UPTUPLE_SECRET_...}` stands for itself. */
  url: string;
}

/** A row of `uptuple.incidents` that is not closed. */
export interface OpenIncident {
  incident_id: number;
  service: string;
  region: string;
  started_at: Moment;
  reason: string | null;
  delivered: number;
  unsent: number;
  dead: number;
}

/** A row of `uptuple.problems`. */
export interface Problem {
  severity: "error" | "warning";
  problem: string;
  /** SQL, a sentence, or a sentence with SQL in it. */
  cure: string;
}

/** A row of `uptuple.workers` that has not stopped. */
export interface Worker {
  worker: string;
  state: "ALIVE" | "LOST";
  region: string;
  roles: string[];
  release: number;
  started_at: Moment;
  seen_at: Moment;
  /** Since when its results are not believed, or null. */
  quarantined_at: Moment | null;
  quarantine_reason: string | null;
}

/** A row of `uptuple.channels_health`; `unsent` is all that waits for the channel. */
export interface ChannelHealth {
  name: string;
  kind: string;
  state: "OPEN" | "PAUSED" | "SUSPENDED" | "DISABLED";
  suspended_reason: string | null;
  paused_until: Moment | null;
  unsent: number;
  dead: number;
  last_success_at: Moment | null;
}

/** What `uptuple.dashboard` gives. */
export interface Dashboard {
  /** The database's clock, against which all ages are reckoned. */
  now: Moment;
  /** Changes when a viewer should see something new at once, as `uptuple.dashboard_mark` has it. */
  mark: string;
  services: ServiceStatus[];
  incidents: OpenIncident[];
  problems: Problem[];
  workers: Worker[];
  channels: ChannelHealth[];
}

/**
 * Reads everything the dashboard shows of the present, in one snapshot.
 *
 * @throws {DatabaseUnavailableError} If the database does not answer.
 */
export async function readDashboard(database: Pick<Database, "query">): Promise<Dashboard> {
  const [row] = await database.query<{ dashboard: Dashboard }>`select uptuple.dashboard() as dashboard`;
  if (row === undefined) throw new Error("A select without a table had no row.");
  return row.dashboard;
}

/** Reads the mark alone, for whoever waits for it to change. */
export async function readDashboardMark(database: Pick<Database, "query">): Promise<string> {
  const [row] = await database.query<{ mark: string }>`select uptuple.dashboard_mark() as mark`;
  if (row === undefined) throw new Error("A select without a table had no row.");
  return row.mark;
}
