import assert from "node:assert/strict";
import { addChannel, answer, claimOne, fail, record, recover } from "../../support/alerts.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";
import { addService } from "../../support/services.ts";
import { claim } from "../tasks/demo_functions.ts";

/**
 * What breaks each invariant by hand, over the rows of `soundHistory`. The constraints of tables are dropped first, in the
 * transaction that is rolled back.
 */
const breaches: Record<string, string[]> = {
  "two verdicts for one window": ["insert into uptuple.result select * from uptuple.result where job_id is not null"],
  "two jobs for one window": [
    `insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
     select scheduled_slot, service_id, due_at, revision, interval_seconds, region from uptuple.job`,
  ],
  "a job that is DONE has its result": ["delete from uptuple.result where job_id is not null"],
  "a result belongs to a job that is DONE": ["update uptuple.job set state = 'READY' where state = 'DONE'"],
  "a RUNNING job has a token and no other has one": [
    "update uptuple.job set state = 'RUNNING' where state = 'DONE'",
    "update uptuple.job set owner_token = gen_random_uuid() where state = 'DONE'",
  ],
  "a service that reports by itself has no job": ["update uptuple.service set probed = false"],
  "a heartbeat is expected exactly while its service is enabled": ["update uptuple.service set probed = false"],
  "what is overdue is noticed while somebody looks": [
    `insert into uptuple.heartbeat (service_id, revision, interval_seconds, expected_at, due_at)
     select 1, 1, 60, checked_at - interval '1 hour', checked_at - interval '2 minutes' from uptuple.heartbeat_cursor`,
  ],
  "attempts stay within their bound": ["update uptuple.job set attempts = 4", "update uptuple.job set attempts = -1"],
  "a lease ends within its length": [
    "update uptuple.job set state = 'RUNNING', owner_token = gen_random_uuid(), due_at = clock_timestamp() + interval '1 hour'",
  ],
  "a window is not further ahead than it is made": [
    `insert into uptuple.job (scheduled_slot, service_id, due_at, revision, interval_seconds, region)
     select extract(epoch from clock_timestamp() + interval '2 days'), 1, clock_timestamp(), 1, 30, 'default'`,
  ],
  "a state counts every result that was applied": ["update uptuple.service_state set applied_count = 1"],
  "a state goes by the rules of its service": [
    "update uptuple.service set enabled = false where id = 1",
    "update uptuple.service set failure_threshold = 7",
    "update uptuple.service_state set recovery_threshold = 7 where service_id = 1",
    "update uptuple.service_state set damping = not damping",
  ],
  "results are applied one after another": ["update uptuple.result set applied_order = 1 where applied_order = 2"],
  "a state is DOWN exactly while its incident is open": [
    "update uptuple.incident set closed_at = clock_timestamp(), closed_by = 'recovered'",
    "update uptuple.incident set closed_at = null, closed_by = null where service_id = 1",
    "update uptuple.service_state set status = 'UP', incident_id = null",
  ],
  "an incident that is not withheld has its FAILED, and its RECOVERED once it is closed": [
    "delete from uptuple.event where kind = 'service.failed'",
    "delete from uptuple.event where kind = 'service.recovered'",
  ],
  "a recovery has its failure": [
    "delete from uptuple.event where kind = 'service.failed'",
    "update uptuple.event set id = 1000 + id where kind = 'service.failed'",
  ],
  "nobody is told of an incident that is withheld": ["update uptuple.incident set withheld_because = 'dependency'"],
  "a state is flapping exactly while that is open": [
    "update uptuple.service_state set flapping_id = 1 where service_id = 1",
    "insert into uptuple.flapping (service_id, region, opened_at, reason) values (1, 'default', now(), 'it flaps')",
  ],
  "nobody is told that a flapping service failed or recovered": [
    `insert into uptuple.flapping (service_id, region, opened_at, closed_at, reason)
     values (1, 'default', now() - interval '1 day', now() + interval '1 day', 'it flaps')`,
  ],
  "nobody is reminded of an incident that somebody looks after": [
    `update uptuple.incident set acknowledged_at = opened_at - interval '1 s', acknowledged_by = 'ada';
     update uptuple.event set kind = 'service.reminder' where kind = 'service.failed'`,
  ],
  "nobody is reminded of an incident that is over": [
    `insert into uptuple.event (id, kind, service_id, incident_id, dedupe_key, occurred_at, data)
     select 1000 + id, 'service.reminder', service_id, incident_id, 'late ' || id, occurred_at, data
     from uptuple.event where kind = 'service.recovered'`,
  ],
  "a reminder and a recovery go where the failure went": [
    "delete from uptuple.delivery using uptuple.event where event.id = event_number and kind = 'service.failed'",
  ],
  "the end of a matter is not sent past its dead beginning": [
    `update uptuple.delivery set state = 'DELIVERED', finished_at = clock_timestamp(), incident_id = null, follows = 1 where id = 2;
     update uptuple.delivery set state = 'DEAD' where id = 1`,
  ],
  "a notice has the result that caused it": ["delete from uptuple.result where applied_order = 4"],
  "a runtime in quarantine makes no service fail": [
    `update uptuple.worker set quarantined_at = '-infinity';
     update uptuple.result set worker = 'blind', status = 'DOWN' where job_id is not null`,
  ],
  "a quarantine has its notice": [
    "delete from uptuple.event where kind = 'worker.quarantined'",
    "update uptuple.worker set quarantined_at = clock_timestamp()",
  ],
  "a notice is sent after the older ones of its lane": [
    `update uptuple.delivery set state = 'DELIVERED', finished_at = clock_timestamp() where id = 2;
     update uptuple.delivery set state = 'READY', finished_at = null where id = 1`,
    `update uptuple.delivery set state = 'DELIVERED', finished_at = clock_timestamp() where id = 2;
     update uptuple.delivery set finished_at = clock_timestamp() + interval '1 s' where id = 1`,
  ],
  "a notice that maintenance holds is not sent before its end": [
    `update uptuple.delivery set state = 'DELIVERED', finished_at = clock_timestamp(), last_attempt_at = clock_timestamp(),
       held_until = clock_timestamp() + interval '1 hour'
     where id = 1`,
  ],
  "what maintenance covers goes by the group and tags that a service has": [
    "delete from uptuple.service_membership where service_id = 1",
    "update uptuple.service set tags = '{beta}' where id = 1",
    "insert into uptuple.service_membership (service_id, tags) values (1, '{}')",
  ],
  "a recovery is not sent past its dead failure": [
    `update uptuple.delivery set state = 'DELIVERED', finished_at = clock_timestamp() where id = 2;
     update uptuple.delivery set state = 'DEAD' where id = 1`,
  ],
  "a notice that may be sent is the oldest live one of its lane": [
    "update uptuple.delivery set state = 'READY' where service_id = 1",
    "update uptuple.delivery set state = case id when 1 then 'SENDING' else 'READY' end where service_id = 1",
    "update uptuple.delivery set state = case id when 1 then 'DEAD' else 'READY' end where service_id = 1",
  ],
  "a notice that waits has somebody to wait for": [
    "update uptuple.delivery set state = 'WAITING' where id = 2",
    "update uptuple.delivery set state = 'HELD' where id = 2",
    "update uptuple.delivery set state = case id when 1 then 'DEAD' else 'WAITING' end where service_id = 1",
  ],
  "what a digest tells shares its fate": [
    "update uptuple.delivery set grouped_in = case id when 2 then 1 end",
  ],
  "no more posts of a channel are under way than it allows": [
    `insert into uptuple.delivery (event_number, channel_id, state, claim_token, due_at)
     select id, 1, 'SENDING', gen_random_uuid(), clock_timestamp() + interval '10 s' from uptuple.event, generate_series(1, 2)`,
  ],
  "attempts of a notice stay within their bound": [
    "update uptuple.delivery set attempts = 21",
    "update uptuple.delivery set attempts = -1",
  ],
  "a delivery lease ends within its length": [
    "update uptuple.delivery set state = 'SENDING', claim_token = gen_random_uuid(), due_at = clock_timestamp() + interval '1 hour'",
  ],
  "a lock is not held longer than its own time": [
    "update uptuple.lock set lock_until = lock_until + interval '1 hour'",
  ],
  "two fires of a task at one time": [
    "update uptuple.task_run set (task, fire_at) = (select task, fire_at from uptuple.task_run where state = 'SUCCEEDED')",
  ],
  "two runs under one lock at a time": [
    "update uptuple.task_run set lock_name = 'one' where state = 'RUNNING'",
    "update uptuple.task_run set lock_name = 'one', claimed_at = now() where state = 'RUNNING'",
  ],
  "a run that is under way holds its lock": [
    "update uptuple.lock set token = gen_random_uuid()",
    "update uptuple.lock set lock_until = lock_until - interval '1 minute'",
  ],
  "a run SUCCEEDED if and only if its work was committed": [
    "update uptuple.task_run set executed_at = null where state = 'SUCCEEDED'",
    "update uptuple.task_run set state = 'LOST' where state = 'SUCCEEDED'",
  ],
};

/** Drops what would keep the tables from being broken. */
const dropConstraints = `
  do $$ declare object record; begin
    drop index uptuple.result_window_key;
    for object in
      select conrelid::regclass as relation, conname as name
      from pg_constraint
      where connamespace = 'uptuple'::regnamespace and (contype in ('c', 'f') or conname in ('job_window_key', 'delivery_event_key', 'task_run_fire'))
        and conrelid::regclass::text ~ '^uptuple\\.(job|result|service_state|incident|event|delivery|delivery_attempt|lock|task_run)$'
      order by contype desc
    loop
      execute format('alter table %s drop constraint %I', object.relation, object.name);
    end loop;
    for object in
      select conrelid::regclass as relation, conname as name
      from pg_constraint
      where connamespace = 'uptuple'::regnamespace and contype = 'c' and conrelid::regclass::text ~ '^uptuple\\.job_'
    loop
      execute format('alter table %s drop constraint %I', object.relation, object.name);
    end loop;
    alter table uptuple.event alter column id drop identity;
  end $$`;

/**
 * A service with a job, an incident that is over and told, one whose incident is open, a runtime in quarantine, a task that was run
 * and two that run.
 */
async function soundHistory(): Promise<TestDatabase> {
  const database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`
    select uptuple.complete_job(job_id, owner_token, '{"status": 200}') from uptuple.claim_job('probe')`;
  await addService(owner, "cart");
  await addChannel(owner, "ops");
  await fail(owner, "shop");
  await answer(owner, await claimOne(owner), { status: 200 });
  await recover(owner, "shop");
  await record(owner, "cart", "UP");
  await fail(owner, "cart");
  await owner`
    select uptuple.report_worker(
      'blind', 'default', '{probe}', 1, unanswered => 2, canary => '[{"host": "a", "observation": {"error": {"code": "dns"}}}]'
    )`;
  await owner`select uptuple.ensure_partitions()`;
  await owner`
    insert into uptuple.task (name, kind, interval_ms, function)
    select name, 'FIXED_RATE', 60000, 'uptuple.sweep' from unnest(array['a', 'b', 'c']) name`;
  const run = await claim(owner);
  assert.ok(run);
  await owner`select uptuple.execute_task(${run.run_id}, ${run.token})`;
  await owner`select uptuple.finish_task(${run.run_id}, ${run.token})`;
  assert.ok(await claim(owner));
  assert.ok(await claim(owner));
  return database;
}

Deno.test("a sound history breaks no invariant", async () => {
  await using database = await soundHistory();
  const viewer = await database.connect("uptuple_viewer");

  assert.deepEqual([...await viewer`select * from uptuple.invariant_violations`], []);
});

Deno.test("every breach of an invariant is reported, and every invariant can be breached", async (t) => {
  await using database = await soundHistory();
  const { owner } = database;

  for (const [invariant, ways] of Object.entries(breaches)) {
    for (const [index, way] of ways.entries()) {
      await t.step(`${invariant} (${index + 1})`, async () => {
        await owner`begin`;
        try {
          await owner.unsafe(dropConstraints);
          await owner.unsafe(way);
          const reported = await owner`select distinct invariant from uptuple.invariant_violations`;
          const names = [...reported].map((row) => row.invariant);
          assert.ok(names.includes(invariant), `reported: ${names.join("; ") || "nothing"}`);
        } finally {
          await owner`rollback`;
        }
      });
    }
  }
  await t.step("no invariant of the view is left out", async () => {
    const view = await Deno.readTextFile(new URL("../../../sql/views/invariant_violations.sql", import.meta.url));
    const invariants = [...view.matchAll(/^select '([^']+)'/gm)].map((match) => match[1]);
    assert.deepEqual(invariants.toSorted(), Object.keys(breaches).toSorted());
  });
});
