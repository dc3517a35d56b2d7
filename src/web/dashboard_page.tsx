import type { JSX } from "hono/jsx/jsx-runtime";
import type { Dashboard, OpenIncident, Problem, ServiceStatus } from "./dashboard.ts";
import { FilterForm } from "./filter_form.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { countInWords } from "./in_words.ts";
import { renderPage } from "./layout.tsx";
import { Clock, Lasting, type Moment } from "./moment.tsx";
import { MonitorSection } from "./monitor_section.tsx";
import { servicePath } from "./service_address.tsx";
import type { ServiceFilter } from "./service_filter.ts";
import type { Histories } from "./service_history.ts";
import { Services } from "./services_section.tsx";
import { Sql, TextWithSql } from "./sql_text.tsx";
import { countStatuses, type Status, STATUSES } from "./statuses.ts";

/** How soon a page whose past was not read in time looks again, in seconds. */
const SOON_SECONDS = 3;

/** More open incidents than that are folded away, so that the services stay in reach. */
const MOST_INCIDENTS = 4;

/** What the dashboard is made of. */
export interface DashboardPageOptions {
  dashboard: Dashboard;
  /** Null if they were not read in time. */
  histories: Histories | null;
  /** Which services are shown; the others are in the page, hidden. */
  filter: ServiceFilter;
  /** Whether the page renews itself. */
  live: boolean;
  /** Whether the viewer came with a cookie, which can be given back. */
  signedIn: boolean;
  /** The query of the page, such as `?q=shop`. */
  query: string;
}

/** The current status of everything, and what is wrong with the monitor itself. */
export function renderDashboard(options: DashboardPageOptions): ReturnType<typeof renderPage> {
  const { dashboard, histories, filter, live, signedIn, query } = options;
  const { now, mark, services, incidents, problems, workers, channels } = dashboard;
  const isNew = services.length === 0;
  return renderPage({
    title: titleOf(services),
    live,
    ...(histories === null && { refreshSeconds: SOON_SECONDS }),
    stream: `/live?mark=${encodeURIComponent(mark)}`,
    query,
    asOf: now,
    signedIn,
    wide: true,
    scripts: ["filter", "titles"],
    children: (
      <>
        <Summary services={services} />
        <Incidents incidents={incidents} now={now} />
        <Problems problems={isNew ? problems.filter((problem) => !isAnsweredByWelcome(problem)) : problems} />
        {isNew ? <Welcome /> : (
          <>
            <FilterForm services={services} filter={filter} live={live} />
            <Services services={services} histories={histories ?? new Map()} filter={filter} now={now} />
          </>
        )}
        <MonitorSection workers={workers} channels={channels} now={now} />
      </>
    ),
  });
}

/** What the browser's tab says. */
export function titleOf(services: ServiceStatus[]): string {
  return summarise(services).title;
}

/** The line that says at a glance how things are. */
export function Summary({ services }: { services: ServiceStatus[] }): JSX.Element {
  const { icon, heading } = summarise(services);
  const counts = countStatuses(services);
  return (
    <section class={`summary tint-${icon}`} data-key="summary">
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
          <a href={`/?state=${status}`}>
            <Icon name={STATUSES[status].icon} />
            {count} {STATUSES[status].word.toLowerCase()}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The incidents that are open; nothing to see where there are none. */
export function Incidents({ incidents, now }: { incidents: OpenIncident[]; now: Moment }): JSX.Element {
  if (incidents.length === 0) return <section data-key="incidents"></section>;
  return (
    <section aria-labelledby="incidents" data-key="incidents">
      <h2 id="incidents">Open incidents</h2>
      <div class="card">
        <IncidentRows incidents={incidents.slice(0, MOST_INCIDENTS)} now={now} />
        {incidents.length > MOST_INCIDENTS && (
          <details class="more" data-key="more">
            <summary>{incidents.length - MOST_INCIDENTS} more</summary>
            <IncidentRows incidents={incidents.slice(MOST_INCIDENTS)} now={now} />
          </details>
        )}
      </div>
    </section>
  );
}

function IncidentRows({ incidents, now }: { incidents: OpenIncident[]; now: Moment }): JSX.Element {
  return (
    <ul class="rows">
      {incidents.map((incident) => (
        <li class="row notice" data-key={`i:${incident.incident_id}`}>
          <Icon name="down" />
          <div class="row-main">
            <h3>
              <a href={servicePath(incident.service)}>
                <bdi>{incident.service}</bdi>
              </a>
              {incident.region !== "default" && <span class="chip">{incident.region}</span>}
            </h3>
            <p class="fault">
              <a href={`/incidents/${incident.incident_id}`}>
                <bdi>{incident.reason ?? "No reason given"}</bdi>
              </a>
            </p>
            <p class="quiet">
              First failed at <Clock at={incident.started_at} now={now} />, {toldInWords(incident)}.
            </p>
          </div>
          <p class="row-end">
            Down for{" "}
            <strong>
              <Lasting since={incident.started_at} now={now} />
            </strong>
          </p>
        </li>
      ))}
    </ul>
  );
}

function Problems({ problems }: { problems: Problem[] }): JSX.Element | null {
  if (problems.length === 0) return null;
  return (
    <section aria-labelledby="problems" data-key="problems">
      <h2 id="problems">What is wrong with the monitor itself</h2>
      <ul class="card rows">
        {problems.map(({ severity, problem, cure }) => (
          <li class="row notice" data-key={cure}>
            <Icon name={severity === "error" ? "down" : "degraded"} />
            <div class="row-main">
              <h3>
                <span class="visually-hidden">{severity === "error" ? "Error: " : "Warning: "}</span>
                <bdi>{problem}</bdi>
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
    <section class="card welcome" aria-labelledby="welcome" data-key="welcome">
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
