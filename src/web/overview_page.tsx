import type { JSX } from "hono/jsx/jsx-runtime";
import type { Coverage } from "./coverage.ts";
import { Icon, type IconName } from "./icon.tsx";
import { clockInWords, countInWords, durationInWords, secondsBetween } from "./in_words.ts";
import { renderPage } from "./layout.tsx";
import { MonitorSection } from "./monitor_section.tsx";
import type { Moment, OpenIncident, Overview, Problem, ServiceStatus } from "./overview.ts";
import { Services } from "./services_section.tsx";
import { Sql, TextWithSql } from "./sql_text.tsx";
import { countStatuses, type Status, STATUSES } from "./statuses.ts";

/** What the overview page is made of. */
export interface OverviewPageOptions {
  overview: Overview;
  coverage: Coverage;
  /** Whether the page renews itself. */
  live: boolean;
  /** Whether the viewer came with a cookie, which can be given back. */
  signedIn: boolean;
}

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
    <section aria-labelledby="incidents" data-key="incidents">
      <h2 id="incidents">Open incidents</h2>
      <ul class="card rows">
        {incidents.map((incident) => (
          <li class="row notice" data-key={String(incident.incident_id)}>
            <Icon name="down" />
            <div class="row-main">
              <h3>
                <bdi>{incident.service}</bdi>
                {incident.region !== "default" && <span class="chip">{incident.region}</span>}
              </h3>
              {incident.reason !== null && (
                <p class="fault">
                  <bdi>{incident.reason}</bdi>
                </p>
              )}
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
