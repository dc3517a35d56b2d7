-- What stands for the latencies in a bucket of the histograms, in ms: at most 4.4 % away from each of them.
--
-- Called for each percentile shown. No SET, as latency_bucket has none.
create or replace function uptuple.bucket_ms(bucket smallint)
returns real
language sql
immutable
return (2 * 1.09::float8 ^ bucket / 2.09)::real;

comment on function uptuple.bucket_ms(smallint) is 'The latency in ms that stands for all in a bucket of latency_bucket(), within 4.4 %.';

revoke execute on function uptuple.bucket_ms(smallint) from public;
