-- A label of the Prometheus text format: name="value", with backslash, quote and line feed escaped. Null for a value that is null.
--
-- The rule is the same in OpenMetrics 1.0 and in the text format 0.0.4. Called for each service of each scrape, so its body is bound
-- when it is created and the planner inlines it. Reads nothing.
create or replace function uptuple.metric_label(name text, value text)
returns text
language sql
immutable
return name || '="' || replace(replace(replace(value, '\', '\\'), '"', '\"'), E'\n', '\n') || '"';

comment on function uptuple.metric_label(text, text) is 'A label of a metric, escaped.';

revoke execute on function uptuple.metric_label(text, text) from public;
