-- How long each kind of history is kept, and what has been dropped.
create view uptuple.kept as
select retention.kind, retention.keep, retention.gone_before
from uptuple.retention
order by array_position('{jobs,results,hours,days,notices}', retention.kind);

comment on view uptuple.kept is
  'How long jobs, results, their totals by hour and by day, and notices are kept; change it with set_retention. keep null: for ever.';
comment on column uptuple.kept.gone_before is 'Jobs and results: what is older has been dropped. Null: nothing was yet.';

grant select on uptuple.kept to uptuple_worker, uptuple_operator, uptuple_viewer;
