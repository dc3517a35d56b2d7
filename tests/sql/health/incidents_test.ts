import assert from "node:assert/strict";
import { events, fail, passTime, record, violations } from "../../support/alerts.ts";
import { testDatabase } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

/** What the rule says that a history gives, with the default thresholds of 3 and 1. */
function expectedAlerts(history: string): string {
  let failures = 0;
  let open = false;
  let alerts = "";
  for (const verdict of history) {
    failures = verdict === "D" ? failures + 1 : 0;
    if (!open && failures >= 3) alerts += "F";
    if (open && verdict === "U") alerts += "R";
    open = failures >= 3 || open && verdict === "D";
  }
  return alerts;
}

Deno.test("two DOWNs write nothing, the third opens an incident, and more DOWNs write nothing", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  const second = await record(owner, "shop", "UP", "DOWN", "DOWN");
  assert.equal(second.state, "UP");
  assert.deepEqual(await events(owner), []);

  const third = await record(owner, "shop", "DOWN");
  assert.equal(third.state, "DOWN");
  assert.deepEqual(await events(owner), [`shop FAILED ${third.incident_id}`]);

  const fifth = await record(owner, "shop", "DOWN", "DOWN");
  assert.equal(fifth.incident_id, third.incident_id);
  assert.deepEqual(await events(owner), [`shop FAILED ${third.incident_id}`]);
});

Deno.test("an incident ends with the UP that makes the success streak reach the recovery threshold, and only once", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 1, recoveryThreshold: 3 });

  const { incident_id } = await record(owner, "shop", "DOWN");
  const recovering = await record(owner, "shop", "UP", "UP", "DOWN", "UP", "DEGRADED");
  assert.equal(recovering.state, "DOWN");
  assert.deepEqual(await events(owner), [`shop FAILED ${incident_id}`]);

  const recovered = await record(owner, "shop", "UP", "UP");
  assert.equal(recovered.state, "UP");
  assert.deepEqual(await events(owner), [`shop FAILED ${incident_id}`, `shop RECOVERED ${incident_id}`]);
  const [incident] = await owner`select closed_by, closed_at >= opened_at as in_order from uptuple.incident`;
  assert.deepEqual({ ...incident }, { closed_by: "recovered", in_order: true });
});

Deno.test("each of two failures is an incident of its own", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  const first = await fail(owner, "shop");
  await record(owner, "shop", "UP");
  const second = await fail(owner, "shop");

  assert.notEqual(first, second);
  assert.deepEqual(await events(owner), [`shop FAILED ${first}`, `shop RECOVERED ${first}`, `shop FAILED ${second}`]);
});

Deno.test("every history of seven verdicts gives the alerts of the rule, flapping below the threshold none", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const histories = Array.from(
    { length: 2 ** 7 },
    (_, bits) => bits.toString(2).padStart(7, "0").replaceAll("0", "U").replaceAll("1", "D"),
  );
  await owner`
    do $$ declare service text; begin
      for bits in 0..127 loop
        service := translate(bits::bit(7)::text, '01', 'UD');
        perform uptuple.add_service(name => service, url => 'http://127.0.0.1:8081/health');
        for position in 1..7 loop
          perform uptuple.record_health(service, case substr(service, position, 1) when 'U' then 'UP' else 'DOWN' end);
        end loop;
      end loop;
    end $$`;

  const alerts = await owner`
    select service.name, coalesce(string_agg(upper(substr(event.kind, 9, 1)), '' order by event.id), '') as alerts
    from uptuple.service left join uptuple.event on event.service_id = service.id
    group by service.name`;

  const given = Object.fromEntries(alerts.map((row) => [row.name, row.alerts]));
  assert.deepEqual(given, Object.fromEntries(histories.map((history) => [history, expectedAlerts(history)])));
  assert.equal(given["DDUDDUD"], "");
  assert.equal(given["DDDUDDD"], "FRF");
  assert.deepEqual(await violations(owner), []);
});

Deno.test("streaks are counted up to their thresholds and no further", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 2, recoveryThreshold: 2 });

  const failing = await record(owner, "shop", "DOWN", "DOWN", "DOWN", "DOWN");
  assert.deepEqual([failing.failure_streak, failing.success_streak], [2, 0]);

  const working = await record(owner, "shop", "UP", "UP", "UP", "UP");
  assert.deepEqual([working.failure_streak, working.success_streak], [0, 2]);
});

Deno.test("a threshold that is lowered takes effect with the next result", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { failureThreshold: 5 });
  await record(owner, "shop", "DOWN", "DOWN", "DOWN");

  await owner`select uptuple.update_service('shop', failure_threshold => 2)`;
  assert.deepEqual(await events(owner), []);

  const next = await record(owner, "shop", "DOWN");
  assert.deepEqual(await events(owner), [`shop FAILED ${next.incident_id}`]);
});

Deno.test("a result more than three intervals after the last one starts a streak anew", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { every: "30 seconds" });

  await record(owner, "shop", "DOWN", "DOWN");
  await passTime(owner, "91 seconds");
  const anew = await record(owner, "shop", "DOWN");
  assert.deepEqual([anew.failure_streak, anew.incident_id], [1, null]);

  await passTime(owner, "85 seconds");
  const second = await record(owner, "shop", "DOWN");
  assert.equal(second.failure_streak, 2);
  assert.notEqual((await record(owner, "shop", "DOWN")).incident_id, null);
});

Deno.test("a gap starts the success streak of a recovery anew, and keeps the incident open", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop", { recoveryThreshold: 2 });
  const incident = await fail(owner, "shop");

  await record(owner, "shop", "UP");
  await passTime(owner, "91 seconds");
  const anew = await record(owner, "shop", "UP");

  assert.deepEqual([anew.success_streak, anew.incident_id], [1, incident]);
  assert.equal((await record(owner, "shop", "UP")).incident_id, null);
});

Deno.test("an incident counts from the first failed check of its streak", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  await record(owner, "shop", "UP");
  await record(owner, "shop", "DOWN");
  await passTime(owner, "20 seconds");
  await record(owner, "shop", "DOWN");
  await passTime(owner, "20 seconds");
  await record(owner, "shop", "DOWN", "UP");

  const [incident] = await owner`
    select extract(epoch from opened_at - started_at)::float as before_opening, reason from uptuple.incident`;
  assert.ok(incident.before_opening >= 40 && incident.before_opening < 45, `${incident.before_opening} s`);
  const [recovered] = await owner`
    select (recovered.data ->> 'down_seconds')::float as seconds,
      recovered.data -> 'failing_since' = failed.data -> 'failing_since' as same_start
    from uptuple.event recovered join uptuple.event failed on failed.kind = 'service.failed'
    where recovered.kind = 'service.recovered'`;
  assert.ok(recovered.seconds >= 40 && recovered.seconds < 45, `${recovered.seconds} s`);
  assert.equal(recovered.same_start, true);
});

Deno.test("an older window that finishes late is stored and moves neither state nor streak", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const service = await addService(owner, "shop", { failureThreshold: 2 });
  const now = Math.floor(Date.now() / 1000);
  const window = (slot: number, status: string) =>
    owner`
      select uptuple.record_results(array[(
        ${service}, 'default', ${slot}, null, 1, 30, 'GRID', ${status}, null, 'window', null, null, null, null, null, null, null, null
      )::uptuple.health_record])`;

  await window(now - 30, "UP");
  await window(now - 90, "DOWN");
  await window(now - 60, "DOWN");

  const [state] = await owner`select status, failure_streak, last_slot, checked_status from uptuple.service_state`;
  assert.deepEqual({ ...state }, {
    status: "UP",
    failure_streak: 0,
    last_slot: String(now - 30),
    checked_status: "UP",
  });
  const results =
    await owner`select scheduled_slot::int as slot, applied_order from uptuple.result order by scheduled_slot`;
  assert.deepEqual([...results], [
    { slot: now - 90, applied_order: null },
    { slot: now - 60, applied_order: null },
    { slot: now - 30, applied_order: "1" },
  ]);
  assert.deepEqual(await violations(owner), []);
});

Deno.test("a state whose last window is further ahead than two intervals yields to the next result", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const service = await addService(owner, "shop");
  await owner`
    update uptuple.service_state
    set status = 'UP', last_slot = extract(epoch from clock_timestamp())::bigint + 3600, last_at = clock_timestamp() + interval '1 hour'`;

  await owner`
    select uptuple.record_results(array[(
      ${service}, 'default', floor(extract(epoch from clock_timestamp())), null, 1, 30, 'GRID', 'DEGRADED', null, 'slow',
      null, null, null, null, null, null, null, null
    )::uptuple.health_record])`;

  const [state] = await owner`
    select status, last_slot <= extract(epoch from clock_timestamp()) as believable from uptuple.service_state`;
  assert.deepEqual({ ...state }, { status: "DEGRADED", believable: true });
});

Deno.test("several windows of one service in a batch count one after another, in the order of their slots", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const service = await addService(owner, "shop");
  const now = Math.floor(Date.now() / 1000);

  await owner`
    select uptuple.record_results(array(
      select (
        ${service}, 'default', ${now} - given.age, null, 1, 30, 'GRID', given.status, null, given.age::text,
        null, null, null, null, null, null, null, null
      )::uptuple.health_record
      from (values (30, 'UP'), (120, 'DOWN'), (60, 'DOWN'), (90, 'DOWN')) given (age, status)
    ))`;

  assert.deepEqual((await events(owner)).map((line) => line.split(" ")[1]), ["FAILED", "RECOVERED"]);
  const results = await owner`select reason, applied_order from uptuple.result order by applied_order`;
  assert.deepEqual(results.map((row) => row.reason), ["120", "90", "60", "30"]);
});
