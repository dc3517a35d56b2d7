import type { Database } from "../database/connect.ts";
import type { ServiceStatus } from "./dashboard.ts";
import type { Moment } from "./moment.tsx";

/** The phases of a check, in ms; a phase that did not happen is null. */
export interface CheckPhases {
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  /** From the start to the last needed byte: more than the phases together. */
  latency_ms: number | null;
}

/** One check of a service. */
export interface Check extends CheckPhases {
  recorded_at: Moment;
  region: string;
  purpose: "GRID" | "FIRST" | "REQUEST" | "CONFIRM" | "MANUAL" | "HEARTBEAT";
  status: "UP" | "DEGRADED" | "DOWN" | "INCONCLUSIVE";
  reason: string | null;
  http_status: number | null;
  worker: string | null;
}

/** One try to deliver a notice. */
export interface DeliveryAttempt {
  finished_at: Moment;
  /** DELIVERED, RETRY, DEAD, SUSPENDED or PAUSED. */
  outcome: string;
  /** The HTTP status of the answer; null if there was none. */
  status: number | null;
  latency_ms: number | null;
  /** An excerpt of the answer, or why there was none. */
  answer: string | null;
}

/** A notice on its way to one channel. */
export interface NoticeDelivery {
  channel: string;
  state: "READY" | "WAITING" | "HELD" | "SENDING" | "DELIVERED" | "DEAD" | "DISCARDED" | "SUPERSEDED";
  note: string | null;
  attempts: DeliveryAttempt[];
}

/** Something that was told of an incident. */
export interface IncidentNotice {
  number: number;
  /** Such as `service.failed`. */
  kind: string;
  occurred_at: Moment;
  deliveries: NoticeDelivery[];
}

/** An incident with all that was told of it. */
export interface ServiceIncident {
  incident_id: number;
  region: string;
  started_at: Moment;
  opened_at: Moment;
  closed_at: Moment | null;
  closed_by: "recovered" | "withdrawn" | null;
  reason: string | null;
  notices: IncidentNotice[];
}

/** A revision of a service's configuration, without anything secret. */
export interface ServiceRevision {
  revision: number;
  kind: string;
  /** Userinfo is masked. */
  target: string;
  /** Equal for equal targets, what is masked included. */
  target_digest: string;
  timeout_ms: number;
  created_at: Moment;
  created_by: string;
  /** What may be shown as it is. */
  settings: Record<string, unknown>;
  /** Of every setting, a digest that is equal for equal values. */
  digests: Record<string, string>;
}

/** A maintenance of a service. */
export interface ServiceMaintenance {
  uid: string;
  title: string;
  state: "scheduled" | "in_progress" | "completed";
  starts_at: Moment;
  ends_at: Moment;
}

/** The certificate that was seen last; of several regions the one that ends first. */
export interface SeenCertificate {
  not_after: Moment;
  subject: string | null;
  issuer: string | null;
  names: string[];
  first_seen_at: Moment;
}

/** What `uptuple.service_page` gives. */
export interface ServicePage {
  now: Moment;
  service: string;
  group_name: string | null;
  tags: string[];
  enabled: boolean;
  /** False for a heartbeat: it reports by itself. */
  probed: boolean;
  interval_seconds: number;
  failure_threshold: number;
  recovery_threshold: number;
  created_at: Moment;
  /** One for each region. */
  states: ServiceStatus[];
  /** Of a heartbeat: until when it is expected to report. */
  next_check_at: Moment | null;
  /** The last 50, the newest first. */
  checks: Check[];
  /** Of those of the checks that were up; `checks` says how many. */
  medians: CheckPhases & { checks: number };
  /** The last 20, the newest first. */
  incidents: ServiceIncident[];
  /** The last 20, the newest first. */
  revisions: ServiceRevision[];
  certificate: SeenCertificate | null;
  /** From a week ago on, in the order of their beginnings. */
  maintenance: ServiceMaintenance[];
}

/** The stretches that a chart of latencies may show, with what they are called. */
export const CHART_STRETCHES = {
  "1h": "1 h",
  "6h": "6 h",
  "24h": "24 h",
  "7d": "7 d",
  "30d": "30 d",
  "90d": "90 d",
} as const;

/** The name of a stretch of a chart. */
export type ChartStretch = keyof typeof CHART_STRETCHES;

/** A row of `uptuple.latency_series`. */
export interface LatencyPoint {
  /** Where the point begins, in epoch seconds. */
  at: number;
  checks: number;
  down: number;
  /** In ms; null where no check was up. */
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/**
 * Reads what the page of a service shows.
 *
 * @returns Null if no service has that name.
 * @throws {DatabaseUnavailableError} If the database does not answer.
 */
export async function readServicePage(database: Pick<Database, "query">, service: string): Promise<ServicePage | null> {
  const [row] = await database.query<{ page: ServicePage | null }>`select uptuple.service_page(${service}) as page`;
  return row?.page ?? null;
}

/**
 * Reads the points of a chart of latencies.
 *
 * @throws Error UT001 if no service has that name.
 */
export async function readLatencies(
  database: Pick<Database, "query">,
  service: string,
  stretch: ChartStretch,
): Promise<LatencyPoint[]> {
  return await database.query<LatencyPoint>`
    select extract(epoch from at)::float8 as at, checks::integer, down::integer, p50::float8, p95::float8, p99::float8
    from uptuple.latency_series(${service}, ${stretch})`;
}
