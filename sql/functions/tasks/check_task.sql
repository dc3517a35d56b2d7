-- A row of uptuple.task as it is to be stored: what was left out gets its default, and what breaks a rule is an error
-- that names column, value and cure.
--
-- The one door for rows by hand, from the file, and shipped ones. What has not changed is not judged again, so that a
-- task whose function is gone can still be disabled. A new name is known from now on: its initial delay and its grid
-- count from here. Called by the trigger on uptuple.task for each row; writes task_mark.
create or replace function uptuple.check_task(task uptuple.task, previous uptuple.task)
returns uptuple.task
language plpgsql
set search_path = pg_catalog, pg_temp
as $function$
#variable_conflict use_variable
declare
  day_ms constant bigint := 86400000::bigint;
  is_new constant boolean := previous.id is null;
begin
  task.source := coalesce(task.source, 'database');
  task.initial_delay_ms := coalesce(task.initial_delay_ms, 0::bigint);
  task.time_zone := coalesce(task.time_zone, 'UTC');
  task.arguments := coalesce(task.arguments, '{}');
  task.enabled := coalesce(task.enabled, true);
  task.lock_name := coalesce(task.lock_name, 'task:' || task.name);
  task.lock_at_most_ms := coalesce(task.lock_at_most_ms, 900000::bigint);
  task.lock_at_least_ms := coalesce(task.lock_at_least_ms, 0::bigint);
  task.statement_timeout_ms := coalesce(task.statement_timeout_ms, least(300000::bigint, task.lock_at_most_ms));
  task.miss_policy := coalesce(task.miss_policy, 'once');
  task.miss_within_ms :=
    coalesce(task.miss_within_ms, case task.miss_policy when 'skip' then 60000 else 7 * day_ms end);
  task.miss_limit := coalesce(task.miss_limit, 100);

  perform uptuple.check_name('name', task.name);
  perform uptuple.check_name('lock_name', task.lock_name);
  if not is_new and (task.id, task.name, task.source) is distinct from (previous.id, previous.name, previous.source) then
    raise exception 'a task''s id, name and source stay as they are, here those of %', quote_literal(previous.name)
      using errcode = 'UT002', hint = 'Insert a row with the new name, and remove the old one with remove_task(name).';
  end if;

  if (task.kind in ('CRON', 'FIXED_RATE', 'FIXED_DELAY')) is not true then
    raise exception 'kind is %, and must be CRON, FIXED_RATE or FIXED_DELAY', coalesce(quote_literal(task.kind), 'null')
      using errcode = 'invalid_parameter_value';
  elsif task.kind = 'CRON' and (task.cron is null or task.interval_ms is not null) then
    raise exception 'a CRON task has cron and no interval_ms; this one has cron % and interval_ms %',
        coalesce(quote_literal(task.cron), 'null'), coalesce(task.interval_ms::text, 'null')
      using errcode = 'invalid_parameter_value', hint = 'For example cron ''30 3 * * *''.';
  elsif task.kind <> 'CRON' and (task.cron is not null or task.interval_ms is null) then
    raise exception 'a % task has interval_ms and no cron; this one has interval_ms % and cron %',
        task.kind, coalesce(task.interval_ms::text, 'null'), coalesce(quote_literal(task.cron), 'null')
      using errcode = 'invalid_parameter_value', hint = 'For example interval_ms 60000 for a minute.';
  elsif task.interval_ms not between 1000 and 366 * day_ms then
    raise exception 'interval_ms is %, and must be between 1000 (a second) and % (366 days)',
        task.interval_ms, 366 * day_ms
      using errcode = 'invalid_parameter_value';
  elsif task.initial_delay_ms not between 0 and 366 * day_ms then
    raise exception 'initial_delay_ms is %, and must be between 0 and % (366 days)', task.initial_delay_ms, 366 * day_ms
      using errcode = 'invalid_parameter_value';
  elsif task.lock_at_most_ms not between 1000 and 7 * day_ms then
    raise exception 'lock_at_most_ms is %, and must be between 1000 (a second) and % (7 days)',
        task.lock_at_most_ms, 7 * day_ms
      using errcode = 'invalid_parameter_value',
            hint = 'It has to be longer than any run: a run that has not ended by then counts as lost.';
  elsif task.lock_at_least_ms not between 0 and task.lock_at_most_ms then
    raise exception 'lock_at_least_ms is %, and must be between 0 and lock_at_most_ms, which is %',
        task.lock_at_least_ms, task.lock_at_most_ms
      using errcode = 'invalid_parameter_value';
  elsif task.kind = 'FIXED_RATE' and task.lock_at_least_ms >= task.interval_ms then
    raise exception 'lock_at_least_ms is %, and must be less than interval_ms, which is %',
        task.lock_at_least_ms, task.interval_ms
      using errcode = 'invalid_parameter_value', hint = 'Else every other fire would find the lock still kept.';
  elsif task.statement_timeout_ms not between 100 and task.lock_at_most_ms then
    raise exception 'statement_timeout_ms is %, and must be between 100 and lock_at_most_ms, which is %',
        task.statement_timeout_ms, task.lock_at_most_ms
      using errcode = 'invalid_parameter_value', hint = 'A run has to be cut before its lock is free for the next.';
  elsif task.miss_policy not in ('skip', 'once', 'all') then
    raise exception 'miss_policy is %, and must be skip, once or all', quote_literal(task.miss_policy)
      using errcode = 'invalid_parameter_value';
  elsif task.kind = 'FIXED_DELAY' and task.miss_policy <> 'once' then
    raise exception 'miss_policy is %, and a FIXED_DELAY task misses nothing: it waits for the end of its last run',
        quote_literal(task.miss_policy)
      using errcode = 'invalid_parameter_value', hint = 'Leave miss_policy out.';
  elsif task.miss_within_ms not between 1000 and 366 * day_ms then
    raise exception 'miss_within_ms is %, and must be between 1000 (a second) and % (366 days)',
        task.miss_within_ms, 366 * day_ms
      using errcode = 'invalid_parameter_value';
  elsif task.miss_limit not between 1 and 1000 then
    raise exception 'miss_limit is %, and must be between 1 and 1000', task.miss_limit
      using errcode = 'invalid_parameter_value';
  end if;

  if is_new or task.time_zone <> previous.time_zone then
    -- A zone that another task has was looked up before, and the look-up costs up to 120 ms.
    if not exists (select from uptuple.task other where other.time_zone = task.time_zone) then
      task.time_zone := uptuple.canonical_zone(task.time_zone);
    end if;
  end if;
  if task.kind = 'CRON'
    and (is_new or (task.cron, task.time_zone) is distinct from (previous.cron, previous.time_zone))
  then
    perform uptuple.cron_validate(task.cron, task.time_zone);
  end if;
  if is_new or (task.function, task.arguments) is distinct from (previous.function, previous.arguments) then
    perform uptuple.task_call(task.function, task.arguments);
  end if;

  if is_new then
    task.created_at := clock_timestamp();
    task.created_by := session_user::text;
    task.changed_at := null;
    task.changed_by := null;
    insert into uptuple.task_mark as mark (task, first_known_at)
    values (task.name, task.created_at)
    on conflict on constraint task_mark_pkey do update
      set first_known_at = excluded.first_known_at, paused_at = null, paused_by = null,
          reckoned_for = null, next_fire_at = null, last_ended_at = null
      where not exists (select from uptuple.task other where other.name = mark.task and other.removed_at is null);
  else
    task.created_at := previous.created_at;
    task.created_by := previous.created_by;
    task.changed_at := clock_timestamp();
    task.changed_by := session_user::text;
  end if;
  return task;
end
$function$;

comment on function uptuple.check_task(uptuple.task, uptuple.task) is
  'A row of uptuple.task with its defaults filled in; an error if it breaks a rule. For the trigger on that table.';

revoke execute on function uptuple.check_task(uptuple.task, uptuple.task) from public;
