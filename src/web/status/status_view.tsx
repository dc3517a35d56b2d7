import { html } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { ASSETS } from "../assets.ts";
import { DayBars } from "../day_bars.tsx";
import { Icon, type IconName, IconShapes } from "../icon.tsx";
import { percentInWords } from "../in_words.ts";
import type { Moment } from "../moment.tsx";
import { WrittenText } from "../written_text.tsx";
import { type Saying, sayingsOf } from "./announcements.ts";
import { COMPONENT_STATUSES, type Overall, overallOf } from "./overall.ts";
import type { Reading } from "./published.ts";
import type { Component, ComponentHistory, ComponentStatus, Incident, Maintenance, StatusPage } from "./status_page.ts";

/** How often a page in a browser looks for news, in seconds. */
const REFRESH_SECONDS = 30;

const COMPONENT_ICONS: Record<ComponentStatus, IconName> = {
  operational: "up",
  degraded_performance: "degraded",
  major_outage: "down",
  under_maintenance: "paused",
  unknown: "unknown",
  not_watched: "paused",
};

const OVERALL_ICONS: Record<Overall["indicator"], IconName> = {
  none: "up",
  minor: "degraded",
  major: "down",
  critical: "down",
  maintenance: "paused",
};

/**
 * A status page for the public. What it says depends on what was read and on the day, so that it is the same for everybody until
 * something changes.
 *
 * @param path Where it is: `/status` or `/status/<slug>`.
 */
export function renderStatusPage(reading: Reading, path: string): string {
  return String(html`<!DOCTYPE html>${<Shell {...reading} path={path} />}`);
}

function Shell({ status, history, path }: Reading & { path: string }): JSX.Element {
  const { page } = status;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{page.title}</title>
        <meta name="description" content={overallOf(status).description} />
        <link rel="icon" type="image/svg+xml" href={ASSETS.icon.href} />
        {/* Not deferred: it sets the theme before anything is painted. */}
        <script src={ASSETS.theme.href}></script>
        <link rel="stylesheet" href={ASSETS.style.href} />
        <link rel="stylesheet" href={ASSETS.statusStyle.href} />
        <link rel="alternate" type="application/atom+xml" title={page.title} href={`${path}/feed.atom`} />
        <link rel="alternate" type="application/rss+xml" title={page.title} href={`${path}/feed.rss`} />
        <noscript>
          <meta http-equiv="refresh" content={String(REFRESH_SECONDS)} />
        </noscript>
        <script type="module" src={ASSETS.times.href}></script>
        <script type="module" src={ASSETS.live.href}></script>
      </head>
      <body class="status-page" data-refresh-seconds={String(REFRESH_SECONDS)}>
        <IconShapes />
        <a class="skip" href="#main">Skip to the content</a>
        <header class="status-head">
          {page.logo !== null && <img class="status-logo" src={`${path}/logo?v=${page.logo}`} alt="" />}
          <h1>
            <bdi>{page.title}</bdi>
          </h1>
          <button type="button" class="link" data-theme-switch hidden>Theme</button>
          {page.description !== null && (
            <div class="status-text">
              <WrittenText text={page.description} />
            </div>
          )}
        </header>
        <p
          class="lost"
          id="lost"
          role="alert"
          data-text="This page cannot be reached right now; it shows what it said last."
          hidden
        >
        </p>
        <p class="visually-hidden" id="said" role="status"></p>
        <main id="main" tabindex={-1}>
          <OverallState overall={overallOf(status)} />
          <Current status={status} />
          <Components components={status.components} history={history} />
          <Upcoming maintenances={status.maintenances} />
          <Past incidents={status.incidents} />
        </main>
        <footer class="bottom">
          <p>
            Subscribe: <a href={`${path}/feed.atom`}>Atom</a>, <a href={`${path}/feed.rss`}>RSS</a>,{" "}
            <a href={`${path}/maintenance.ics`}>calendar of maintenance</a>.
          </p>
          <p>
            <span id="as-of">
              Last change <Time at={page.updated_at} />
            </span>. Times are in <span data-zone>UTC</span>, days are those of UTC.
          </p>
        </footer>
      </body>
    </html>
  );
}

function OverallState({ overall }: { overall: Overall }): JSX.Element {
  return (
    <section class={`card overall overall-${overall.indicator}`} aria-label="State of all systems">
      <Icon name={OVERALL_ICONS[overall.indicator]} />
      <p>{overall.description}</p>
    </section>
  );
}

/** What goes on right now: incidents that are open, and maintenance. */
function Current({ status }: { status: StatusPage }): JSX.Element | null {
  const open = status.incidents.filter(({ closed_at }) => closed_at === null);
  const lasting = status.maintenances.filter(({ state }) => state === "in_progress");
  if (open.length === 0 && lasting.length === 0) return null;
  return (
    <section aria-labelledby="now">
      <h2 id="now">Right now</h2>
      {open.map((incident) => <IncidentCard incident={incident} />)}
      {lasting.map((maintenance) => <MaintenanceCard maintenance={maintenance} />)}
    </section>
  );
}

function Components({ components, history }: { components: Component[]; history: Reading["history"] }): JSX.Element {
  const groups = Map.groupBy(components, ({ group }) => group);
  return (
    <section aria-labelledby="components">
      <h2 id="components">Services</h2>
      {components.length === 0 && <p class="card row empty">Nothing is shown here yet.</p>}
      {[...groups].map(([group, members]) => (
        <div class="card status-group">
          {group !== null && (
            <h3>
              <bdi>{group}</bdi>
            </h3>
          )}
          <ul class="rows">
            {members.map((component) => <ComponentRow component={component} history={history[component.id]} />)}
          </ul>
        </div>
      ))}
    </section>
  );
}

function ComponentRow(
  { component, history }: { component: Component; history: ComponentHistory | undefined },
): JSX.Element {
  const uptime = history?.uptime ?? null;
  return (
    <li class="row component" data-status={component.status}>
      <p class="component-name">
        <bdi>{component.name}</bdi>
      </p>
      <p class={`component-state tone-${COMPONENT_ICONS[component.status]}`}>
        <Icon name={COMPONENT_ICONS[component.status]} /> {COMPONENT_STATUSES[component.status].word}
      </p>
      <DayBars history={history} now={now()} titled />
      <p class="quiet component-past">
        <span>90 days ago</span>
        <span>
          {uptime === null
            ? "No data"
            : `${percentInWords(uptime, 2)} up, ${percentInWords(history?.coverage ?? 0, 1)} covered`}
        </span>
        <span>Today</span>
      </p>
    </li>
  );
}

function IncidentCard({ incident }: { incident: Incident }): JSX.Element {
  return (
    <article class="card announcement" id={`incident-${incident.id}`}>
      <h3>
        <bdi>{incident.component.name}</bdi>: outage
      </h3>
      <p class="quiet">
        From <Time at={incident.started_at} /> {incident.closed_at !== null
          ? (
            <>
              to <Time at={incident.closed_at} />
            </>
          )
          : "on"}
      </p>
      <ol class="sayings">
        {sayingsOf(incident).toReversed().map((saying) => <SayingItem saying={saying} />)}
      </ol>
    </article>
  );
}

function SayingItem({ saying }: { saying: Saying }): JSX.Element {
  return (
    <li>
      <p class="saying-head">
        <strong>{saying.word}</strong>{" "}
        <span class="quiet">
          <Time at={saying.at} />
        </span>
      </p>
      <WrittenText text={saying.text} />
    </li>
  );
}

function MaintenanceCard({ maintenance }: { maintenance: Maintenance }): JSX.Element {
  return (
    <article class="card announcement" id={`maintenance-${maintenance.id}`}>
      <h3>
        Maintenance: <bdi>{maintenance.title}</bdi>
      </h3>
      <p class="quiet">
        <Time at={maintenance.starts_at} /> to <Time at={maintenance.ends_at} />
        {maintenance.state === "cancelled" && ", cancelled"}
        {". Affects "}
        {maintenance.components.map(({ name }, index) => (
          <>
            {index > 0 && ", "}
            <bdi>{name}</bdi>
          </>
        ))}.
      </p>
      {maintenance.description !== null && <WrittenText text={maintenance.description} />}
    </article>
  );
}

function Upcoming({ maintenances }: { maintenances: Maintenance[] }): JSX.Element | null {
  const upcoming = maintenances.filter(({ state, ends_at }) =>
    state === "scheduled" || (state === "cancelled" && Date.parse(ends_at) > Date.now())
  );
  if (upcoming.length === 0) return null;
  return (
    <section aria-labelledby="scheduled">
      <h2 id="scheduled">Scheduled maintenance</h2>
      {upcoming.map((maintenance) => <MaintenanceCard maintenance={maintenance} />)}
    </section>
  );
}

function Past({ incidents }: { incidents: Incident[] }): JSX.Element {
  const over = incidents.filter(({ closed_at }) => closed_at !== null);
  return (
    <section aria-labelledby="past">
      <h2 id="past">Past incidents</h2>
      {over.length === 0 && <p class="card row empty">None in the last 14 days.</p>}
      {over.map((incident) => <IncidentCard incident={incident} />)}
    </section>
  );
}

/** A moment with its date, in UTC until `times.js` says it in the viewer's zone. */
function Time({ at }: { at: Moment }): JSX.Element {
  const utc = new Date(at).toISOString().slice(0, 19);
  return <time datetime={`${utc}Z`} data-clock="full">{`${utc.replace("T", "\u00a0")}\u00a0UTC`}</time>;
}

/** Only its day is shown, so a page is the same all day. */
function now(): Moment {
  return new Date().toISOString();
}
