import type { TestSql } from "./database.ts";

/** A notice as `uptuple.claim_alerts` hands it out. */
export interface ClaimedAlert {
  delivery_id: string;
  claim_token: string;
  event_id: string;
  kind: string;
  channel: string;
  attempt: number;
  request: { method: string; url: string; headers: Record<string, string>; body: string };
  signing_secrets: string[];
  connect_timeout_ms: number;
  timeout_ms: number;
  lease_ms: number;
}

/** What a runtime reports to `uptuple.finish_alert`. */
export type Answer = {
  status?: number;
  retry_after?: string;
  excerpt?: string;
  error?: { code: string; message?: string };
  latency_ms?: number;
};

/** Where a record by hand has led a state to. */
export interface Recorded {
  applied: boolean;
  state: string;
  failure_streak: number;
  success_streak: number;
  incident_id: string | null;
}

/** Opens a channel whose receiver nobody reaches; its answers come by hand. */
export async function addChannel(
  sql: TestSql,
  name: string,
  { ordering = "incident", maxAttempts = 5 } = {},
): Promise<string> {
  const [row] = await sql`
    select uptuple.add_channel(
      name => ${name}, url => 'http://127.0.0.1:9000/hook', ordering => ${ordering}, max_attempts => ${maxAttempts}
    ) as id`;
  return row.id;
}

/** Records verdicts by hand, one call each. Returns what the last one led to. */
export async function record(sql: TestSql, service: string, ...statuses: string[]): Promise<Recorded> {
  let last: Recorded | undefined;
  for (const status of statuses) {
    [last] = await sql<[Recorded]>`select * from uptuple.record_health(${service}, ${status}, ${`it is ${status}`})`;
  }
  if (last === undefined) throw new Error("record was given no status");
  return last;
}

/** Lets a service with the default thresholds fail. Returns the id of the incident that this opens. */
export async function fail(sql: TestSql, service: string): Promise<string> {
  const { incident_id } = await record(sql, service, "DOWN", "DOWN", "DOWN");
  if (incident_id === null) throw new Error(`${service} has no open incident after three DOWNs`);
  return incident_id;
}

/** Lets a service with the default thresholds recover. */
export async function recover(sql: TestSql, service: string): Promise<void> {
  await record(sql, service, "UP");
}

export async function claim(sql: TestSql, max = 100): Promise<ClaimedAlert[]> {
  return [...await sql<ClaimedAlert[]>`select * from uptuple.claim_alerts('courier', ${max})`];
}

/** Claims the one notice that is ready. */
export async function claimOne(sql: TestSql): Promise<ClaimedAlert> {
  const [claimed, ...others] = await claim(sql);
  if (claimed === undefined || others.length > 0) {
    throw new Error(`${others.length + (claimed ? 1 : 0)} are ready, not one`);
  }
  return claimed;
}

/** Reports what the receiver of a claimed notice said. Returns what it meant. */
export async function answer(
  sql: TestSql,
  { delivery_id, claim_token }: Pick<ClaimedAlert, "delivery_id" | "claim_token">,
  response: Answer,
): Promise<string> {
  const [row] = await sql`
    select uptuple.finish_alert(${delivery_id}, ${claim_token}, ${sql.json(response)}) as outcome`;
  return row.outcome;
}

/** Claims and gives each notice that becomes ready the same answer, until nothing is ready. Returns what was claimed. */
export async function answerAll(sql: TestSql, response: Answer): Promise<ClaimedAlert[]> {
  const all: ClaimedAlert[] = [];
  for (let claimed = await claim(sql); claimed.length > 0; claimed = await claim(sql)) {
    for (const each of claimed) await answer(sql, each, response);
    all.push(...claimed);
  }
  return all;
}

/** All deliveries in the order of their events and channels, each as "channel service FAILED READY". */
export async function deliveries(owner: TestSql, service?: string): Promise<string[]> {
  const rows = await owner`
    select concat_ws(' ', channel.name, service.name, upper(substring(event.kind from '[a-z]+$')), delivery.state) as line
    from uptuple.delivery
    join uptuple.event on event.id = delivery.event_number
    join uptuple.channel on channel.id = delivery.channel_id
    left join uptuple.service on service.id = delivery.service_id
    where ${service ?? null}::text is null or service.name = ${service ?? null}
    order by event.id, channel.id`;
  return rows.map((row) => row.line);
}

/** All events in their order, each as "service FAILED incident". */
export async function events(owner: TestSql): Promise<string[]> {
  const rows = await owner`
    select concat_ws(' ', service.name, upper(split_part(event.kind, '.', 2)), event.incident_id) as line
    from uptuple.event left join uptuple.service on service.id = event.service_id
    order by event.id`;
  return rows.map((row) => row.line);
}

/** Has everything written that is due without a result. Returns how many notices that were. */
export async function tellDue(sql: TestSql): Promise<number> {
  let all = 0;
  for (;;) {
    const [{ told }] = await sql<[{ told: number }]>`select uptuple.tell_due() as told`;
    if (told === 0) return all;
    all += told;
  }
}

/** Lets time pass for deliveries, channels and states: moves what they remember into the past. */
export async function passTime(owner: TestSql, time: string): Promise<void> {
  await owner`
    with passed as materialized (select ${time}::interval as time),
    deliveries as (
      update uptuple.delivery
      set due_at = due_at - time, created_at = created_at - time, last_attempt_at = last_attempt_at - time,
          finished_at = finished_at - time, requeued_at = requeued_at - time,
          collect_until = collect_until - time, held_until = held_until - time
      from passed
    ),
    channels as (
      update uptuple.channel
      set paused_until = paused_until - time, suspended_at = suspended_at - time, probe_at = probe_at - time
      from passed
    )
    update uptuple.service_state
    set since = since - time, last_at = last_at - time, verdict_at = verdict_at - time, checked_at = checked_at - time,
        streak_started_at = streak_started_at - time
    from passed`;
}

/** Seconds from now until a notice is due: of the only delivery there is, or of the given one. */
export async function dueIn(owner: TestSql, deliveryId?: string): Promise<number> {
  const [row] = await owner`
    select extract(epoch from due_at - clock_timestamp())::float as seconds
    from uptuple.delivery where ${deliveryId ?? null}::bigint is null or id = ${deliveryId ?? null}`;
  return row.seconds;
}

/** What `uptuple.invariant_violations` lists: nothing, always. */
export async function violations(owner: TestSql): Promise<string[]> {
  const rows = await owner`select invariant || ': ' || breach as line from uptuple.invariant_violations`;
  return rows.map((row) => row.line);
}
