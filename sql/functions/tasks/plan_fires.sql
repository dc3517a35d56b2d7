-- Which of a task's due fires runs next, which are skipped, and where the mark goes; the miss policy is here and
-- nowhere else.
--
-- Of the fires from first_due to now, those not older than `within` may run, and of them the last `keep`: one with skip
-- and once, more with all. `fire_at` is the earliest of these, null if there is none; `next_at` the one after it. All
-- others are skipped: one by one, or where there are more than 100 of them as one stretch from skipped_from to
-- skipped_until, so that a task of every second may be off for a year. Called by claim_task_at.
create or replace function uptuple.plan_fires(
  kind text,
  cron text,
  time_zone text,
  interval_ms bigint,
  anchor timestamptz,
  first_due timestamptz,
  now timestamptz,
  within interval,
  keep integer,
  out fire_at timestamptz,
  out next_at timestamptz,
  out skipped timestamptz[],
  out skipped_from timestamptz,
  out skipped_until timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $function$
declare
  due timestamptz[] := array[first_due];
  at timestamptz;
  tail_start timestamptz := first_due;
  tail_end timestamptz := now;
  middle timestamptz;
begin
  if kind = 'FIXED_DELAY' then
    fire_at := first_due;
    skipped := array[]::timestamptz[];
    return;
  end if;

  loop
    at := uptuple.task_fire_after(cron, time_zone, interval_ms, anchor, due[cardinality(due)]);
    exit when at is null or at > now or cardinality(due) >= keep + 100;
    due := due || at;
  end loop;

  if at <= now then
    -- Too many to list. Halve the time until the stretch before tail_end leaves at most `keep` fires after it.
    while tail_end - tail_start > interval '1 second' loop
      middle := tail_start + (tail_end - tail_start) / 2;
      at := middle;
      for turn in 0..keep loop
        at := uptuple.task_fire_after(cron, time_zone, interval_ms, anchor, at);
        exit when at is null or at > now;
      end loop;
      if at <= now then
        tail_start := middle;
      else
        tail_end := middle;
      end if;
    end loop;
    skipped_from := first_due;
    skipped_until := tail_end;
    due := '{}';
    at := uptuple.task_fire_after(cron, time_zone, interval_ms, anchor, tail_end);
    while at <= now loop
      due := due || at;
      at := uptuple.task_fire_after(cron, time_zone, interval_ms, anchor, at);
    end loop;
  end if;

  skipped := array(
    select fire
      from unnest(due) with ordinality as fires (fire, position)
     where fire < now - within or position <= cardinality(due) - keep
     order by fire
  );
  due := due[cardinality(skipped) + 1:];
  fire_at := due[1];
  next_at := coalesce(due[2], at);
end
$function$;

comment on function uptuple.plan_fires(
  text, text, text, bigint, timestamptz, timestamptz, timestamptz, interval, integer
) is
  'Which of a task''s due fires runs next, which are skipped, and when the one after it comes.';

revoke execute on function uptuple.plan_fires(
  text, text, text, bigint, timestamptz, timestamptz, timestamptz, interval, integer
) from public;
