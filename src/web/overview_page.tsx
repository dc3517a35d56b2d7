import type { JSX } from "hono/jsx/jsx-runtime";
import type { Coverage, ServiceCoverage } from "./coverage.ts";
import { Icon, type IconName } from "./icon.tsx";
import {
  agoInWords,
  clockInWords,
  countInWords,
  durationInWords,
  latencyInWords,
  percentInWords,
  secondsBetween,
} from "./in_words.ts";
import { renderPage } from "./layout.tsx";
import { MonitorSection } from "./monitor_section.tsx";
import type { Moment, OpenIncident, Overview, Problem, ServiceStatus } from "./overview.ts";
import { Sql, TextWithSql } from "./sql_text.tsx";

/** What the overview page is made of. */
export interface OverviewPageOptions {
  overview: Overview;
  coverage: Coverage;
  /** Whether the page renews itself. */
  live: boolean;
  /** Whether the viewer came with a cookie, which can be given back. */
  signedIn: boolean;
}

type Status = ServiceStatus["status"];

/** In the order in which they are counted. */
const STATUSES: Record<Status, { icon: IconName; word: string }> = {
  DOWN: { icon: "down", word: "Down" },
  DEGRADED: { icon: "degraded", word: "Degraded" },
  UNKNOWN: { icon: "unknown", word: "Unknown" },
  UP: { icon: "up", word: "Up" },
  PAUSED: { icon: "paused", word: "Paused" },
};

/** The current status of everything, and what is wrong with the monitor itself. */
export function renderOverview(options: OverviewPageOptions): ReturnType<typeof renderPage> {
  const { overview, coverage, live, signedIn } = options;
  const { now, services, incidents, problems, workers, channels } = overview;
  const isNew = services.length === 0;
  const summary = summarise(services);
  return renderPage({
    title: summary.title,
    live,
    asOf: now,
    signedIn,
    children: (
      <>
        <Summary {...summary} counts={countStatuses(services)} />
        {incidents.length > 0 && <Incidents incidents={incidents} now={now} />}
        <Problems problems={isNew ? problems.filter((problem) => !isAnsweredByWelcome(problem)) : problems} />
        {isNew ? <Welcome /> : <Services services={services} coverage={coverage} now={now} />}
        <MonitorSection workers={workers} channels={channels} now={now} />
      </>
    ),
  });
}

function Summary(
  { icon, heading, counts }: { icon: IconName; heading: string; counts: [Status, number][] },
): JSX.Element {
  return (
    <section class={`summary tint-${icon}`}>
      <Icon name={icon} />
      <div role="status">
        <h1>{heading}</h1>
        {counts.length > 1 && <Counts counts={counts} />}
      </div>
    </section>
  );
}

function Counts({ counts }: { counts: [Status, number][] }): JSX.Element {
  return (
    <ul class="counts">
      {counts.map(([status, count]) => (
        <li>
          <Icon name={STATUSES[status].icon} />
          {count} {STATUSES[status].word.toLowerCase()}
        </li>
      ))}
    </ul>
  );
}

function Incidents({ incidents, now }: { incidents: OpenIncident[]; now: Moment }): JSX.Element {
  return (
    <section aria-labelledby="incidents">
      <h2 id="incidents">Open incidents</h2>
      <ul class="card rows">
        {incidents.map((incident) => (
          <li class="row notice">
            <Icon name="down" />
            <div class="row-main">
              <h3>
                <bdi>{incident.service}</bdi>
                {incident.region !== "default" && <span class="chip">{incident.region}</span>}
              </h3>
              {incident.reason !== null && <p class="fault" dir="auto">{incident.reason}</p>}
              <p class="quiet">
                First failed at <time datetime={incident.started_at}>{clockInWords(incident.started_at, now)}</time>,
                {" "}
                {toldInWords(incident)}.
              </p>
            </div>
            <p class="row-end">
              Down for <strong>{durationInWords(secondsBetween(incident.started_at, now))}</strong>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Problems({ problems }: { problems: Problem[] }): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <section aria-labelledby="problems">
      <h2 id="problems">What is wrong with the monitor itself</h2>
      <ul class="card rows">
        {problems.map(({ severity, problem, cure }) => (
          <li class="row notice">
            <Icon name={severity === "error" ? "down" : "degraded"} />
            <div class="row-main">
              <h3 dir="auto">
                <span class="visually-hidden">{severity === "error" ? "Error: " : "Warning: "}</span>
                {problem}
              </h3>
              <TextWithSql text={cure} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Welcome(): JSX.Element {
  return (
    <section class="card welcome" aria-labelledby="welcome">
      <h2 id="welcome">Three lines to begin with</h2>
      <p>
        Uptuple is operated in SQL. Open a prompt with{" "}
        <code>psql "$(deno task --quiet db:url)"</code>, or, without psql, give each line to{" "}
        <code>deno task sql "…"</code>.
      </p>
      <ol>
        <li>
          <p>Watch something. It is checked at once, and then every 30 seconds.</p>
          <Sql text="select uptuple.add_service(name => 'inventory', url => 'https://example.com/health');" />
        </li>
        <li>
          <p>Say who is told when it fails and when it recovers.</p>
          <Sql text="select uptuple.add_channel(name => 'ops', url => 'https://example.com/hook');" />
        </li>
        <li>
          <p>See how it is, there as here.</p>
          <Sql text="select * from uptuple.status;" />
        </li>
      </ol>
    </section>
  );
}

function Services(
  { services, coverage, now }: { services: ServiceStatus[]; coverage: Coverage; now: Moment },
): JSX.Element {
  const groups = groupServices(services);
  return (
    <section aria-labelledby="services">
      <h2 id="services">Services</h2>
      {groups.map(({ name, members }) => (
        <div class="card group">
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
    <li class="row service">
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
          {remark !== null && remark.tone === null && <span dir="auto">{` · ${remark.text}`}</span>}
        </p>
        {remark !== null && remark.tone !== null && <p class={`remark tone-${remark.tone}`} dir="auto">{remark.text}
        </p>}
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

/** The line that says at a glance how things are: the worst that there is. */
function summarise(services: ServiceStatus[]): { icon: IconName; heading: string; title: string } {
  const counts = new Map(countStatuses(services));
  const watched = services.length - (counts.get("PAUSED") ?? 0);
  if (services.length === 0) return { icon: "unknown", heading: "Nothing is watched yet", title: "Welcome" };
  if (watched === 0) return { icon: "paused", heading: "All services are paused", title: "Paused" };
  for (const status of ["DOWN", "UNKNOWN", "DEGRADED"] as const) {
    const count = counts.get(status);
    if (count === undefined) continue;
    const { icon, word } = STATUSES[status];
    return { icon, heading: headline(count, watched, word.toLowerCase()), title: `${count} ${word.toLowerCase()}` };
  }
  return { icon: "up", heading: headline(watched, watched, "up"), title: "All up" };
}

function headline(count: number, watched: number, word: string): string {
  if (watched === 1) return `The service is ${word}`;
  if (count === watched) return `All ${watched} services are ${word}`;
  return `${count} of ${watched} services ${count === 1 ? "is" : "are"} ${word}`;
}

/** How many services have each status that occurs, in the order of STATUSES. */
function countStatuses(services: ServiceStatus[]): [Status, number][] {
  return (Object.keys(STATUSES) as Status[])
    .map((status): [Status, number] => [status, services.filter((service) => service.status === status).length])
    .filter(([, count]) => count > 0);
}

function countsInWords(services: ServiceStatus[]): string {
  return countStatuses(services).map(([status, count]) => `${count} ${STATUSES[status].word.toLowerCase()}`).join(", ");
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

/** What there is to say of a service beside its status; the tone is null where nothing is wrong. */
function remarkOn(service: ServiceStatus, now: Moment): { text: string; tone: IconName | null } | null {
  const { status, checked_at, checked_status, failure_streak, failure_threshold } = service;
  const reason = service.reason ?? "no reason given";
  if (status === "PAUSED") return null;
  if (checked_at === null) return { text: "waiting for its first check", tone: null };
  if (status === "UNKNOWN") {
    return { text: `No result for ${durationInWords(secondsBetween(checked_at, now))}`, tone: "unknown" };
  }
  if (status === "DOWN") {
    const recovers = checked_status === "UP" || checked_status === "DEGRADED";
    return { text: recovers ? `Recovering: ${reason}` : reason, tone: "down" };
  }
  if (checked_status === "DOWN" && failure_streak > 0) {
    return { text: `Failing ${failure_streak} of ${failure_threshold}: ${reason}`, tone: "degraded" };
  }
  if (checked_status === "DOWN") return { text: `Failed when asked for: ${reason}`, tone: "degraded" };
  if (checked_status === "INCONCLUSIVE") return { text: `Inconclusive: ${reason}`, tone: "degraded" };
  return { text: reason, tone: status === "DEGRADED" ? "degraded" : null };
}

function toldInWords({ delivered, unsent, dead }: OpenIncident): string {
  const parts = [
    delivered > 0 ? `${countInWords(delivered, "notice", "notices")} delivered` : null,
    unsent > 0 ? `${countInWords(unsent, "notice", "notices")} on the way` : null,
    dead > 0 ? `${countInWords(dead, "notice", "notices")} dead` : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "nobody was told" : parts.join(", ");
}

/** The welcome says what the problem "nothing is watched" says, and more. */
function isAnsweredByWelcome({ cure }: Problem): boolean {
  return cure.startsWith("select uptuple.add_service(");
}
