import type { JSX } from "hono/jsx/jsx-runtime";
import { Icon, type IconName } from "../icon.tsx";
import { countInWords, durationInWords, secondsBetween } from "../in_words.ts";
import { renderPage } from "../layout.tsx";
import { Clock, Lasting, type Moment } from "../moment.tsx";
import { servicePath } from "../service_address.tsx";
import { NoticeDeliveries } from "../service_incidents.tsx";
import { Sql } from "../sql_text.tsx";
import { UPDATE_WORDS, WrittenText } from "../written_text.tsx";
import type { IncidentPage } from "./incident_page.ts";
import { type Happening, timelineOf } from "./timeline.ts";

/** What the page of an incident is made of. */
export interface IncidentViewOptions {
  page: IncidentPage;
  live: boolean;
  signedIn: boolean;
  query: string;
}

const WITHHELD: Record<string, string> = {
  dependency: "Nobody is told of it while what the service depends on is down.",
  flapping: "Nobody is told of it while the service keeps going up and down.",
};

const CHECK_WORDS = { UP: "up", DEGRADED: "degraded", DOWN: "down", INCONCLUSIVE: "inconclusive" } as const;
const CHECK_ICONS: Record<keyof typeof CHECK_WORDS, IconName> = {
  UP: "up",
  DEGRADED: "degraded",
  DOWN: "down",
  INCONCLUSIVE: "unknown",
};

/** The page of one incident: how long, why, who was told, who looks after it, and everything in the order in which it happened. */
export function renderIncident({ page, live, signedIn, query }: IncidentViewOptions): ReturnType<typeof renderPage> {
  const postmortems = page.updates.filter(({ status }) => status === "postmortem");
  return renderPage({
    title: `${page.service}: incident ${page.incident_id}`,
    live,
    query,
    asOf: page.now,
    signedIn,
    children: (
      <>
        <p class="crumb">
          <a href="/">All services</a> /{" "}
          {page.removed ? <bdi>{page.service}</bdi> : (
            <a href={servicePath(page.service)}>
              <bdi>{page.service}</bdi>
            </a>
          )}
        </p>
        <Head page={page} />
        {postmortems.length > 0 && (
          <section aria-labelledby="postmortem" data-key="postmortem">
            <h2 id="postmortem">Postmortem</h2>
            {postmortems.map((update) => (
              <div class="card padded" data-key={`p:${update.update_id}`}>{<WrittenText text={update.body} />}</div>
            ))}
          </section>
        )}
        <section aria-labelledby="timeline" data-key="timeline">
          <h2 id="timeline">What happened</h2>
          <ol class="card rows timeline">
            {timelineOf(page).map((happening) => <HappeningRow happening={happening} now={page.now} />)}
          </ol>
        </section>
        <Writing page={page} />
      </>
    ),
  });
}

function Head({ page }: { page: IncidentPage }): JSX.Element {
  const { now, closed_at, closed_by, started_at } = page;
  const icon = closed_at === null ? "down" : closed_by === "withdrawn" ? "paused" : "up";
  return (
    <section class={`summary tint-${icon}`} data-key="head">
      <Icon name={icon} />
      <div role="status">
        <h1>
          <bdi>{page.reason ?? "No reason given"}</bdi>
        </h1>
        <p>
          {closed_at === null
            ? (
              <>
                <strong class="tone-down">Down</strong> for <Lasting since={started_at} now={now} />
              </>
            )
            : (
              <>
                <strong class={`tone-${icon}`}>{closed_by === "withdrawn" ? "Withdrawn" : "Recovered"}</strong> after
                {" "}
                {durationInWords(secondsBetween(started_at, closed_at))}
              </>
            )}
          {" · incident "}
          {page.incident_id}
          {page.region !== "default" && ` · ${page.region}`}
        </p>
        {page.acknowledged_by !== null && (
          <p>
            <bdi>{page.acknowledged_by}</bdi> looks after it.
          </p>
        )}
        {page.withheld_because !== null && <p>{WITHHELD[page.withheld_because] ?? "Nobody is told of it."}</p>}
      </div>
    </section>
  );
}

function HappeningRow({ happening, now }: { happening: Happening; now: Moment }): JSX.Element {
  return (
    <li class="row notice" data-key={keyOf(happening)}>
      <Icon name={iconOf(happening)} />
      <div class="row-main">
        <Happened happening={happening} now={now} />
      </div>
      <p class="row-end quiet">
        <Clock at={happening.at} now={now} />
      </p>
    </li>
  );
}

/** Several notices and updates may be of one moment. */
function keyOf(happening: Happening): string {
  const number = happening.kind === "notice"
    ? ` ${happening.notice.number}`
    : happening.kind === "update"
    ? ` ${happening.update.update_id}`
    : "";
  return `${happening.kind} ${happening.at}${number}`;
}

function iconOf(happening: Happening): IconName {
  switch (happening.kind) {
    case "check":
    case "checks":
      return CHECK_ICONS[happening.check.status];
    case "opened":
      return "down";
    case "closed":
      return "up";
    case "withdrawn":
      return "paused";
    case "left_out":
      return "unknown";
    default:
      return "said";
  }
}

function Happened({ happening, now }: { happening: Happening; now: Moment }): JSX.Element {
  switch (happening.kind) {
    case "opened":
      return <h3>The failure was sure: the incident was opened</h3>;
    case "closed":
      return <h3>It was over: the incident was closed</h3>;
    case "withdrawn":
      return <h3>It was withdrawn, since the service is watched no longer</h3>;
    case "left_out":
      return <h3>Other checks, which are not listed here</h3>;
    case "acknowledged":
      return (
        <>
          <h3>
            <bdi>{happening.by}</bdi> looks after it
          </h3>
          {happening.note !== null && <WrittenText text={happening.note} />}
        </>
      );
    case "check":
      return (
        <>
          <h3>A check was {CHECK_WORDS[happening.check.status]}</h3>
          <Reason reason={happening.check.reason} />
        </>
      );
    case "checks":
      return (
        <>
          <h3>
            {countInWords(happening.count, "check was", "checks were")} {CHECK_WORDS[happening.check.status]}, until
            {" "}
            <Clock at={happening.until} now={now} />
          </h3>
          <Reason reason={happening.check.reason} />
        </>
      );
    case "notice":
      return (
        <>
          <h3>
            Told: <code>{happening.notice.kind}</code>
            {happening.notice.deliveries.length === 0 && ", to nobody: there was no channel for it"}
          </h3>
          <NoticeDeliveries deliveries={happening.notice.deliveries} now={now} />
        </>
      );
    case "update":
      return (
        <>
          <h3>
            {UPDATE_WORDS[happening.update.status]}
            <span class="chip">{happening.update.public ? "public" : "internal"}</span>
          </h3>
          <WrittenText text={happening.update.body} />
          <p class="quiet">
            Written by <bdi>{happening.update.posted_by}</bdi>, update {happening.update.update_id}
          </p>
        </>
      );
  }
}

function Reason({ reason }: { reason: string | null }): JSX.Element | null {
  return reason === null ? null : (
    <p class="quiet">
      <bdi>{reason}</bdi>
    </p>
  );
}

/** What is written from psql: the page says how. */
function Writing({ page }: { page: IncidentPage }): JSX.Element {
  return (
    <section aria-labelledby="write" data-key="write">
      <h2 id="write">To say something</h2>
      <div class="card padded">
        <p class="quiet">In psql. What is public is on the status pages that show the service, and in their feeds.</p>
        {page.closed_at === null && page.acknowledged_by === null && (
          <Sql text={`select uptuple.acknowledge(incident_id => ${page.incident_id});`} />
        )}
        <Sql
          text={`select uptuple.post_update(${page.incident_id}, '${
            page.closed_at === null ? "investigating" : "postmortem"
          }', 'What people should know.');`}
        />
      </div>
    </section>
  );
}
