import type { JSX } from "hono/jsx/jsx-runtime";
import type { Coverage, ServiceCoverage } from "./coverage.ts";
import { Icon, type IconName } from "./icon.tsx";
import {
  agoInWords,
  clockInWords,
  durationInWords,
  latencyInWords,
  percentInWords,
  secondsBetween,
} from "./in_words.ts";
import type { Moment, ServiceStatus } from "./overview.ts";
import { countsInWords, STATUSES } from "./statuses.ts";

/** Every service in its group: its status since when, its last check, and its last day. */
export function Services(
  { services, coverage, now }: { services: ServiceStatus[]; coverage: Coverage; now: Moment },
): JSX.Element {
  const groups = groupServices(services);
  return (
    <section aria-labelledby="services" data-key="services">
      <h2 id="services">Services</h2>
      {groups.map(({ name, members }) => (
        <div class="card group" data-key={name ?? ""}>
          {(name !== null || groups.length > 1) && (
            <div class="group-head">
              <h3>{name === null ? "Without a group" : <bdi>{name}</bdi>}</h3>
              <p class="quiet">{countsInWords(members)}</p>
            </div>
          )}
          <ul class="rows">
            {members.map((service) => <Service service={service} coverage={coverage.get(service.service)} now={now} />)}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Service(
  { service, coverage, now }: { service: ServiceStatus; coverage: ServiceCoverage | undefined; now: Moment },
): JSX.Element {
  const { icon, word } = STATUSES[service.status];
  const remark = remarkOn(service, now);
  return (
    <li class="row service" data-key={`${service.service} ${service.region}`}>
      <Icon name={icon} />
      <div class="row-main">
        <p class="name">
          <bdi>{service.service}</bdi>
          {service.region !== "default" && <span class="chip">{service.region}</span>}
          {service.tags.map((tag) => (
            <span class="chip">
              <bdi>{tag}</bdi>
            </span>
          ))}
        </p>
        <p class="quiet">
          <Url url={service.url} />
          {remark !== null && remark.tone === null && (
            <span>
              {" · "}
              <Words remark={remark} />
            </span>
          )}
        </p>
        {service.maintenance_until !== null && (
          <p class="remark tone-paused">
            <bdi>{service.maintenance_title}</bdi>, until{" "}
            <time datetime={service.maintenance_until}>{clockInWords(service.maintenance_until, now)}</time>
          </p>
        )}
        {remark !== null && remark.tone !== null && (
          <p class={`remark tone-${remark.tone}`}>
            <Words remark={remark} />
          </p>
        )}
      </div>
      <p class="figure state">
        <strong class={`tone-${icon}`}>{word}</strong>
        {(service.status === "UP" || service.status === "DEGRADED" || service.status === "DOWN") && (
          <small title={clockInWords(service.since, now)}>
            for {durationInWords(secondsBetween(service.since, now))}
          </small>
        )}
      </p>
      <p class="figure check">
        {service.checked_at !== null && (
          <>
            <span>
              <span class="visually-hidden">Last check took</span>{" "}
              {service.latency_ms === null ? "–" : latencyInWords(service.latency_ms)}
            </span>
            <small>
              <time datetime={service.checked_at}>{agoInWords(service.checked_at, now)}</time>
            </small>
          </>
        )}
      </p>
      <p class="figure uptime">
        {coverage !== undefined && coverage.coverage !== null && (
          <>
            <span>{coverage.uptime === null ? "–" : `${percentInWords(coverage.uptime, 2)} up`}</span>
            <small>24&nbsp;h, {percentInWords(coverage.coverage, 1)} covered</small>
          </>
        )}
      </p>
    </li>
  );
}

/** Where a service is, without the query, which may hold a key that somebody wrote there in the clear. */
function Url({ url }: { url: string }): JSX.Element {
  const parts = url.replace(/\?.*$/s, "?…").split(/(?<=[^:/]\/)/);
  return (
    <bdi dir="ltr">
      {parts.map((part) => (
        <>
          {part}
          <wbr />
        </>
      ))}
    </bdi>
  );
}

/** What there is to say of a service beside its status: our words, and those of the check. */
interface Remark {
  words: string;
  reason: string | null;
  /** Null where nothing is wrong. */
  tone: IconName | null;
}

function remarkOn(service: ServiceStatus, now: Moment): Remark | null {
  const { status, checked_at, checked_status, failure_streak, failure_threshold } = service;
  const reason = service.reason ?? "no reason given";
  if (status === "PAUSED") return null;
  if (checked_at === null) return { words: "waiting for its first check", reason: null, tone: null };
  if (checked_status === "INCONCLUSIVE") return { words: "Inconclusive: ", reason, tone: "degraded" };
  if (status === "UNKNOWN" && !service.recent) {
    const silence = durationInWords(secondsBetween(checked_at, now));
    return { words: `No result for ${silence}`, reason: null, tone: "unknown" };
  }
  if (status === "DOWN") return { words: checked_status === "DOWN" ? "" : "Recovering: ", reason, tone: "down" };
  if (checked_status === "DOWN" && failure_streak > 0) {
    return { words: `Failing ${failure_streak} of ${failure_threshold}: `, reason, tone: "degraded" };
  }
  if (checked_status === "DOWN" && service.maintenance_until !== null) {
    return { words: "Failing in maintenance: ", reason, tone: null };
  }
  if (checked_status === "DOWN") return { words: "Failed when asked for: ", reason, tone: "degraded" };
  return { words: "", reason, tone: status === "DEGRADED" ? "degraded" : null };
}

function Words({ remark: { words, reason } }: { remark: Remark }): JSX.Element {
  return <>{words}{reason !== null && <bdi>{reason}</bdi>}</>;
}

/** Keeps the order of the view, where members of a group stand together. */
function groupServices(services: ServiceStatus[]): { name: string | null; members: ServiceStatus[] }[] {
  const groups: { name: string | null; members: ServiceStatus[] }[] = [];
  for (const service of services) {
    const last = groups.at(-1);
    if (last !== undefined && last.name === service.group_name) last.members.push(service);
    else groups.push({ name: service.group_name, members: [service] });
  }
  return groups;
}
