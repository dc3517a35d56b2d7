-- How many whole days before a certificate ends people are told. The one place that says so. Called by note_certificates.
create or replace function uptuple.certificate_notice_days()
returns integer[]
language sql
immutable
return array[21, 14, 7, 3, 1];

comment on function uptuple.certificate_notice_days() is 'Days before a certificate''s end at which people are told, once each.';

revoke execute on function uptuple.certificate_notice_days() from public;
grant execute on function uptuple.certificate_notice_days() to uptuple_worker, uptuple_operator, uptuple_viewer;
