import type { Database } from "../database/connect.ts";

/** A moment in ISO 8601 with its offset, as JSON from PostgreSQL has it. */
export type Moment = string;

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

/** What the overview page shows. */
export interface Overview {
  /** The database's clock, against which all ages are reckoned. */
  now: Moment;
  services: ServiceStatus[];
  incidents: OpenIncident[];
  problems: Problem[];
  workers: Worker[];
  channels: ChannelHealth[];
}

/**
 * Reads everything the overview page shows, except for uptime. One statement and so one snapshot: the page never shows a
 * service that is down without its incident.
 *
 * @throws {DatabaseUnavailableError} If the database does not answer.
 */
export async function readOverview(database: Pick<Database, "query">): Promise<Overview> {
  const [row] = await database.query<{ overview: Overview }>`
    select jsonb_build_object(
      'now', clock_timestamp(),
      'services', (
        select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
        from (
          select service, group_name, tags, region, status, since, checked_at, checked_status, latency_ms, reason, recent,
            failure_streak, failure_threshold, url, maintenance_until, maintenance_title
          from uptuple.status
        ) shown
      ),
      'incidents', (
        select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
        from (
          select incident_id, service, region, started_at, reason, delivered, unsent, dead
          from uptuple.incidents
          where closed_at is null
        ) shown
      ),
      'problems', (
        select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
        from (select severity, problem, cure from uptuple.problems) shown
      ),
      'workers', (
        select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
        from (
          select worker, state, region, roles, release, started_at, seen_at, quarantined_at, quarantine_reason
          from uptuple.workers
          where state <> 'STOPPED'
        ) shown
      ),
      'channels', (
        select coalesce(jsonb_agg(to_jsonb(shown)), '[]')
        from (
          select name, kind, state, suspended_reason, paused_until, ready + waiting + held + sending as unsent, dead, last_success_at
          from uptuple.channels_health
        ) shown
      )
    ) as overview`;
  if (row === undefined) throw new Error("A select without a table had no row.");
  return row.overview;
}
