import { raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ServiceStatus } from "./dashboard.ts";
import { ALL_WELL, DayBars, lastDayOf } from "./day_bars.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { durationInWords, latencyInWords, percentInWords, secondsBetween } from "./in_words.ts";
import { Ago, Clock, Lasting, type Moment } from "./moment.tsx";
import { isHeartbeat, servicePath, shownUrl } from "./service_address.tsx";
import { letsThrough, type ServiceFilter } from "./service_filter.ts";
import { type Histories, type ServiceHistory, STRETCHES } from "./service_history.ts";
import { Sparkline } from "./sparkline.tsx";
import { countsInWords, STATUSES } from "./statuses.ts";

/** Up to this many services each bar carries its title in the page; beyond, a script brings it. */
const MOST_TITLED = 150;

/** Less than this fraction of the checks seen is worth a look. */
const LITTLE_COVERED = 0.99;

/** Services that stand together. */
export interface ServiceGroup {
  /** Null for those that have no group. */
  name: string | null;
  members: ServiceStatus[];
}

/** Every service in its group: its status since when, its last check, its last day's latencies, and its last 90 days. */
export function Services(
  { services, histories, filter, now }: {
    services: ServiceStatus[];
    histories: Histories;
    filter: ServiceFilter;
    now: Moment;
  },
): JSX.Element {
  const groups = groupServices(services);
  const titled = areTitled(services);
  return (
    <section
      class={titled ? "services" : "services many"}
      aria-labelledby="services"
      data-key="services"
      data-last-day={lastDayOf(now)}
      data-all-well={ALL_WELL}
    >
      <h2 id="services" class="visually-hidden">Services</h2>
      {groups.map(({ name, members }) => (
        <div class="card group" data-key={`g:${name ?? ""}`} data-group={name ?? ""}>
          <div class="group-head">
            <div class="group-title">
              {name !== null || groups.length > 1
                ? <h3>{name === null ? "Without a group" : <bdi>{name}</bdi>}</h3>
                : <h3 class="visually-hidden">All services</h3>}
              <GroupCounts group={{ name, members }} />
            </div>
            <p class="stretches" aria-hidden="true">{STRETCHES.map((stretch) => <span>{stretch}</span>)}</p>
          </div>
          <ul class="rows">
            {members.map((service) => (
              <ServiceRow
                service={service}
                history={histories.get(service.service)}
                hidden={!letsThrough(filter, service)}
                titled={titled}
                now={now}
              />
            ))}
          </ul>
        </div>
      ))}
      <p class="card row empty no-match">No service is like that.</p>
    </section>
  );
}

/** How many services of a group have each status. */
export function GroupCounts({ group: { name, members } }: { group: ServiceGroup }): JSX.Element {
  return <p class="quiet counts-words" data-key={`h:${name ?? ""}`}>{countsInWords(members)}</p>;
}

/** One service as a row of the dashboard. */
export function ServiceRow(
  { service, history, hidden, titled, now }: {
    service: ServiceStatus;
    history: ServiceHistory | undefined;
    hidden: boolean;
    titled: boolean;
    now: Moment;
  },
): JSX.Element {
  const { icon, word } = STATUSES[service.status];
  const remark = remarkOn(service, now);
  return (
    <li class="row service" data-key={rowKey(service)} data-status={service.status} hidden={hidden}>
      <Icon name={icon} />
      <div class="row-main">
        <p class="name">
          <a href={servicePath(service.service)}>
            <bdi>{service.service}</bdi>
          </a>
          {service.region !== "default" && <span class="chip">{service.region}</span>}
          {service.tags.map((tag) => (
            <span class="chip tag">
              <bdi>{tag}</bdi>
            </span>
          ))}
        </p>
        <p class="quiet">
          {isHeartbeat(service.url) ? <span>Reports by itself</span> : <bdi class="url">{shownUrl(service.url)}</bdi>}
          {remark !== null && remark.tone === null && remark.words !== "" && (
            <span>
              {" · "}
              <Words remark={remark} />
            </span>
          )}
        </p>
        {service.maintenance_until !== null && (
          <p class="remark tone-paused">
            <bdi>{service.maintenance_title}</bdi>, until <Clock at={service.maintenance_until} now={now} />
          </p>
        )}
        {remark !== null && remark.tone !== null && (
          <p class={`remark tone-${remark.tone}`}>
            <Words remark={remark} />
          </p>
        )}
      </div>
      <p class="state">
        <strong class={`tone-${icon}`}>{word}</strong>
        {(service.status === "UP" || service.status === "DEGRADED" || service.status === "DOWN") && (
          <small>
            for <Lasting since={service.since} now={now} />
          </small>
        )}
      </p>
      <p class="check">
        {service.checked_at !== null && (
          <>
            <span>
              {service.latency_ms === null ? "–" : latencyInWords(service.latency_ms)}
            </span>
            <small>
              <Ago at={service.checked_at} now={now} />
            </small>
          </>
        )}
      </p>
      {pastOf(history, titled, now)}
    </li>
  );
}

/** What has been drawn of a history, on which day and how; a history is read once a minute, and shown to many. */
const drawn = new WeakMap<ServiceHistory, { style: string; html: ReturnType<typeof raw> }>();

/** What a row shows of the past: the last day's latencies, 90 days, and uptime with coverage. */
function pastOf(history: ServiceHistory | undefined, titled: boolean, now: Moment): ReturnType<typeof raw> {
  const style = `${lastDayOf(now)} ${titled}`;
  const known = history === undefined ? undefined : drawn.get(history);
  if (known?.style === style) return known.html;
  const html = raw(String(
    <>
      <Sparkline history={history} />
      <DayBars history={history} now={now} titled={titled} />
      <Uptimes history={history} />
    </>,
  ));
  if (history !== undefined) drawn.set(history, { style, html });
  return html;
}

/** What a row is called in the page. */
export function rowKey({ service, region }: ServiceStatus): string {
  return region === "default" ? `s:${service}` : `s:${service} ${region}`;
}

/** Whether each bar carries its title in the page. */
export function areTitled(services: ServiceStatus[]): boolean {
  return services.length <= MOST_TITLED;
}

/** Uptime over each stretch with the share of it that is covered. What each is, the style says: there are thousands of them. */
function Uptimes({ history }: { history: ServiceHistory | undefined }): JSX.Element | null {
  if (history === undefined) return null;
  return (
    <p class="uptimes">
      {STRETCHES.map((_, index) => {
        const uptime = history.uptimes[index] ?? null;
        const coverage = history.coverages[index] ?? null;
        return (
          <b>
            {uptime === null ? "–" : percentInWords(uptime, 2)}
            {coverage !== null && (
              <small class={coverage < LITTLE_COVERED ? "tone-degraded" : undefined}>
                {percentInWords(coverage, coverage < 1 ? 1 : 0)}
              </small>
            )}
          </b>
        );
      })}
    </p>
  );
}

/** What there is to say of a service beside its status: our words, and those of the check. */
export interface Remark {
  words: string;
  reason: string | null;
  /** Null where nothing is wrong. */
  tone: IconName | null;
}

/** What there is to say of a service; null where its status says it all. */
export function remarkOn(service: ServiceStatus, now: Moment): Remark | null {
  const { status, checked_at, checked_status, failure_streak, failure_threshold } = service;
  const reason = service.reason ?? "no reason given";
  if (status === "PAUSED") return null;
  if (checked_at === null) {
    return {
      words: `waiting for its first ${isHeartbeat(service.url) ? "report" : "check"}`,
      reason: null,
      tone: null,
    };
  }
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

/** A remark as text. */
export function Words({ remark: { words, reason } }: { remark: Remark }): JSX.Element {
  return <>{words}{reason !== null && <bdi>{reason}</bdi>}</>;
}

/** Keeps the order of the view, where members of a group stand together. */
export function groupServices(services: ServiceStatus[]): ServiceGroup[] {
  const groups: ServiceGroup[] = [];
  for (const service of services) {
    const last = groups.at(-1);
    if (last !== undefined && last.name === service.group_name) last.members.push(service);
    else groups.push({ name: service.group_name, members: [service] });
  }
  return groups;
}
