import type { TestSql } from "./database.ts";

/** What a test may say of maintenance; times as PostgreSQL writes them. */
export interface MaintenanceOptions {
  services?: string[];
  groups?: string[];
  tags?: string[];
  everything?: boolean;
  /** Seconds from now; negative for the past. */
  startsIn?: number;
  duration?: string;
}

/** Plans maintenance that is only once, from now for an hour if nothing else is said. @returns Its number. */
export async function plan(sql: TestSql, options: MaintenanceOptions): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    select uptuple.plan_maintenance(
      services => ${options.services ?? []},
      groups => ${options.groups ?? []},
      tags => ${options.tags ?? []},
      everything => ${options.everything ?? false},
      starts_at => case when ${options.startsIn ?? null}::float8 is not null
        then clock_timestamp() + make_interval(secs => ${options.startsIn ?? null}::float8) end,
      duration => ${options.duration ?? "1 hour"}
    ) as id`;
  return row.id;
}

/** `end_maintenance`; gives how many notices it let go. */
export async function end(sql: TestSql, maintenance: string): Promise<number> {
  const [row] = await sql`select uptuple.end_maintenance(${maintenance}) as changed`;
  return row.changed;
}

/** `cancel_maintenance`; gives how many notices it let go. */
export async function cancel(sql: TestSql, maintenance: string): Promise<number> {
  const [row] = await sql`select uptuple.cancel_maintenance(${maintenance}) as changed`;
  return row.changed;
}

/** Lets the time of maintenance pass, with the notices that it holds and the states that it covers. */
export async function passTime(sql: TestSql, seconds: number): Promise<void> {
  await sql`
    with passed as (select make_interval(secs => ${seconds}) as time),
    windows as (
      update uptuple.maintenance_window
      set starts_at = starts_at - time, ends_at = ends_at - time, made_until = made_until - time from passed
    ),
    occurrences as (
      update uptuple.maintenance_occurrence set during = tstzrange(lower(during) - time, upper(during) - time) from passed
    ),
    scopes as (
      update uptuple.maintenance_scope set during = tstzrange(lower(during) - time, upper(during) - time) from passed
    ),
    memberships as (
      update uptuple.service_membership set during = tstzrange(lower(during) - time, upper(during) - time) from passed
    ),
    deliveries as (
      update uptuple.delivery
      set held_until = held_until - time, due_at = due_at - time, last_attempt_at = last_attempt_at - time,
          finished_at = finished_at - time, created_at = created_at - time
      from passed
    )
    update uptuple.service_state
    set since = since - time, last_at = last_at - time, verdict_at = verdict_at - time, checked_at = checked_at - time,
        streak_started_at = streak_started_at - time
    from passed`;
}
