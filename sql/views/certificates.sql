-- The certificate that each service showed last under its present configuration, the one that ends first on top.
create view uptuple.certificates as
select
  service.name as service,
  certificate.region,
  certificate.not_after,
  floor(extract(epoch from certificate.not_after - clock_timestamp()) / 86400)::integer as days_left,
  certificate.subject,
  certificate.issuer,
  certificate.names,
  certificate.first_seen_at
from uptuple.service_certificate certificate
join uptuple.service on service.id = certificate.service_id and service.revision = certificate.revision
where service.removed_at is null
order by certificate.not_after, service.name, certificate.region;

comment on view uptuple.certificates is
  'The certificate that each service showed last: until when it is good, the whole days that are left (negative once it ended), and for whom it is.';

grant select on uptuple.certificates to uptuple_worker, uptuple_operator, uptuple_viewer;
