-- Which bucket of the histograms a latency falls into: bucket n holds what is above 1.09^(n-1) ms and up to 1.09^n ms.
--
-- A percentile read from the middle of its bucket is within 4.4 % of the true one, and histograms merge by adding counts. Below 0.01 ms
-- all is one bucket; null stays null. Called for each result, so it has no SET: its body is bound when it is created, and the planner inlines it.
create or replace function uptuple.latency_bucket(latency_ms real)
returns smallint
language sql
immutable
return ceil(ln(case when latency_ms < 0.01 then 0.01 else latency_ms::float8 end) / ln(1.09::float8))::smallint;

comment on function uptuple.latency_bucket(real) is
  'The bucket of a latency in ms: n for what is above 1.09^(n-1) and up to 1.09^n. Its middle is 2 * 1.09^n / 2.09, within 4.4 % of all in it.';

revoke execute on function uptuple.latency_bucket(real) from public;
