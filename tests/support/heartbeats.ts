import type { TestSql } from "./database.ts";

/** What a test may say about its heartbeat; durations as PostgreSQL writes them. */
export interface HeartbeatOptions {
  every?: string;
  failureThreshold?: number;
  /** grace, cron, zone. Default: a grace of 5 minutes. */
  options?: Record<string, string>;
}

/** What is known of a heartbeat. */
export interface Beat {
  status: string;
  running: boolean;
  expected_at: Date | null;
  due_at: Date | null;
  called_with: string | null;
  run_ms: number | null;
  calls: string;
}

/** Adds a service that reports by itself, by default once an hour. */
export async function addHeartbeat(sql: TestSql, name: string, options: HeartbeatOptions = {}): Promise<void> {
  const settings = { grace: "5 minutes", ...options.options };
  await keepLooking(sql);
  await sql`
    select uptuple.add_service(
      name => ${name}, url => 'heartbeat:', every => ${options.every ?? "1 hour"}, options => ${sql.json(settings)},
      failure_threshold => ${options.failureThreshold ?? null}
    )`;
}

/** Calls `uptuple.heartbeat` and gives the status it led to. */
export async function beat(
  sql: TestSql,
  name: string,
  event: "success" | "start" | "fail" = "success",
  said: { reason?: string; exitCode?: number } = {},
): Promise<string> {
  const [answer] = await sql<[{ status: string }]>`
    select uptuple.heartbeat(${name}, ${event}, ${said.reason ?? null}, ${said.exitCode ?? null}) as status`;
  return answer.status;
}

/** As if somebody had looked for what is overdue all the time. */
async function keepLooking(sql: TestSql): Promise<void> {
  await sql`update uptuple.heartbeat_cursor set checked_at = clock_timestamp(), deaf = 'empty'`;
}

/** Lets time pass for a heartbeat, in which the monitor is at work: all that is known of it moves into the past. */
export async function letPass(sql: TestSql, name: string, duration: string): Promise<void> {
  await sql`
    select uptuple.ensure_partitions(oldest - extract(epoch from ${duration}::interval)::bigint, oldest)
    from (select coalesce(min(scheduled_slot), extract(epoch from clock_timestamp())::bigint) as oldest from uptuple.result) known`;
  await sql.begin(async (transaction) => {
    await transaction`
      update uptuple.result
      set scheduled_slot = result.scheduled_slot - extract(epoch from ${duration}::interval)::bigint,
          recorded_at = result.recorded_at - ${duration}::interval
      from uptuple.service where service.id = result.service_id and service.name = ${name}`;
    await transaction`
      update uptuple.service_state state
      set last_slot = last_slot - extract(epoch from ${duration}::interval)::bigint, last_at = last_at - ${duration}::interval,
          since = since - ${duration}::interval, verdict_at = verdict_at - ${duration}::interval
      from uptuple.service where service.id = state.service_id and service.name = ${name}`;
    await transaction`
      update uptuple.service_active active
      set during = tstzrange(lower(during) - ${duration}::interval, upper(during) - ${duration}::interval)
      from uptuple.service where service.id = active.service_id and service.name = ${name}`;
    await transaction`
      update uptuple.heartbeat beat
      set expected_at = expected_at - ${duration}::interval, due_at = due_at - ${duration}::interval,
          run_started_at = run_started_at - ${duration}::interval, run_due_at = run_due_at - ${duration}::interval,
          verdict_at = verdict_at - ${duration}::interval, called_at = called_at - ${duration}::interval,
          verdict_slot = verdict_slot - extract(epoch from ${duration}::interval)::bigint
      from uptuple.service where service.id = beat.service_id and service.name = ${name}`;
  });
  await keepLooking(sql);
}

/** Looks for what is overdue; gives how many were. */
export async function checkHeartbeats(sql: TestSql): Promise<number> {
  const [answer] = await sql<[{ overdue: number }]>`select uptuple.check_heartbeats() as overdue`;
  return answer.overdue;
}

/** What the view says of a heartbeat. */
export async function beatOf(sql: TestSql, name: string): Promise<Beat> {
  const [row] = await sql<[Beat]>`
    select status, running, expected_at, due_at, called_with, run_ms, calls from uptuple.heartbeats where service = ${name}`;
  return row;
}

/** The verdicts of a heartbeat, in order. */
export async function verdictsOf(
  sql: TestSql,
  name: string,
): Promise<{ status: string; code: string | null; reason: string }[]> {
  return [
    ...await sql<{ status: string; code: string | null; reason: string }[]>`
      select result.status, result.code, result.reason
      from uptuple.result
      join uptuple.service on service.id = result.service_id
      where service.name = ${name}
      order by result.scheduled_slot`,
  ];
}

/** The kinds of the notices of a service, in order. */
export async function noticesOf(sql: TestSql, name: string): Promise<string[]> {
  const rows = await sql<{ kind: string }[]>`
    select event.kind from uptuple.event join uptuple.service on service.id = event.service_id
    where service.name = ${name} order by event.id`;
  return rows.map((row) => row.kind);
}
