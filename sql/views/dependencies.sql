-- What depends on what.
create view uptuple.dependencies as
select child.name as service, parent.name as depends_on, parent.removed_at is not null as is_removed
from uptuple.service child
join uptuple.service parent on parent.id = child.depends_on
where child.removed_at is null
order by child.name;

comment on view uptuple.dependencies is 'Services that depend on another, by depends_on. One that was removed withholds nothing.';

grant select on uptuple.dependencies to uptuple_worker, uptuple_operator, uptuple_viewer;
