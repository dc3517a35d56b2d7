import type { JSX } from "hono/jsx/jsx-runtime";
import type { ServiceStatus } from "./dashboard.ts";
import { DayBars } from "./day_bars.tsx";
import { Icon } from "./icon.tsx";
import { countInWords, durationInWords, latencyInWords, percentInWords, secondsBetween } from "./in_words.ts";
import { LatencyChart } from "./latency_chart.tsx";
import { renderPage } from "./layout.tsx";
import { Ago, Clock, Lasting, type Moment } from "./moment.tsx";
import { PhasesSection } from "./phases_section.tsx";
import { changesIn } from "./revision_changes.ts";
import { ServiceUrl } from "./service_address.tsx";
import { type ServiceHistory, STRETCHES } from "./service_history.ts";
import { ServiceIncidents } from "./service_incidents.tsx";
import type {
  ChartStretch,
  Check,
  LatencyPoint,
  SeenCertificate,
  ServiceMaintenance,
  ServicePage,
  ServiceRevision,
} from "./service_page.ts";
import { remarkOn, Words } from "./services_section.tsx";
import { STATUSES } from "./statuses.ts";

/** A certificate that ends sooner is worth a look, in days. */
const SOON_DAYS = 21;

const CHECK_TONES: Record<Check["status"], { word: string; tone: string }> = {
  UP: { word: "Up", tone: "up" },
  DEGRADED: { word: "Degraded", tone: "degraded" },
  DOWN: { word: "Down", tone: "down" },
  INCONCLUSIVE: { word: "Inconclusive", tone: "unknown" },
};

const PURPOSES: Record<Check["purpose"], string | null> = {
  GRID: null,
  FIRST: "first check",
  REQUEST: "asked for",
  CONFIRM: "to confirm",
  MANUAL: "by hand",
  HEARTBEAT: null,
};

const MAINTENANCE_STATES: Record<ServiceMaintenance["state"], string> = {
  scheduled: "scheduled",
  in_progress: "under way",
  completed: "over",
};

/** What the page of a service is made of. */
export interface ServiceViewOptions {
  page: ServicePage;
  history: ServiceHistory | undefined;
  stretch: ChartStretch;
  points: LatencyPoint[];
  live: boolean;
  signedIn: boolean;
  query: string;
}

/** The page of one service. */
export function renderService(options: ServiceViewOptions): ReturnType<typeof renderPage> {
  const { page, history, stretch, points, live, signedIn, query } = options;
  const { now, checks, medians, incidents, revisions, certificate } = page;
  const [check] = checks;
  return renderPage({
    title: page.service,
    live,
    query,
    asOf: now,
    signedIn,
    libraries: ["uplotScript"],
    scripts: ["chart"],
    styles: ["uplotStyle"],
    children: (
      <>
        <p class="crumb">
          <a href="/">All services</a>
        </p>
        {page.states.map((state) => <Head state={state} page={page} />)}
        <Facts page={page} />
        <Past history={history} now={now} />
        {(page.probed || points.length > 0) && (
          <LatencyChart service={page.service} stretch={stretch} points={points} />
        )}
        {page.probed && check !== undefined && <PhasesSection check={check} medians={medians} now={now} />}
        <ServiceIncidents incidents={incidents} now={now} />
        {page.maintenance.length > 0 && <Maintenance maintenance={page.maintenance} now={now} />}
        {certificate !== null && <Certificate certificate={certificate} now={now} />}
        <Revisions revisions={revisions} now={now} />
        <Checks checks={checks} probed={page.probed} now={now} />
      </>
    ),
  });
}

function Head({ state, page }: { state: ServiceStatus; page: ServicePage }): JSX.Element {
  const { icon, word } = STATUSES[state.status];
  const remark = remarkOn(state, page.now);
  return (
    <section class={`summary tint-${icon}`} data-key={`state ${state.region}`}>
      <Icon name={icon} />
      <div role="status">
        <h1>
          <bdi>{state.service}</bdi>
        </h1>
        <p>
          <strong class={`tone-${icon}`}>{word}</strong> for <Lasting since={state.since} now={page.now} />
          {remark !== null && (
            <>
              {" · "}
              <Words remark={remark} />
            </>
          )}
        </p>
        <p class="chips">
          {page.group_name !== null && (
            <span class="chip">
              <bdi>{page.group_name}</bdi>
            </span>
          )}
          {state.region !== "default" && <span class="chip">{state.region}</span>}
          {page.tags.map((tag) => (
            <span class="chip">
              <bdi>{tag}</bdi>
            </span>
          ))}
        </p>
      </div>
    </section>
  );
}

function Facts({ page }: { page: ServicePage }): JSX.Element {
  const { now, states, interval_seconds, failure_threshold, recovery_threshold, next_check_at, revisions } = page;
  const [state] = states;
  const [revision] = revisions;
  return (
    <section aria-label="Facts" data-key="facts">
      <dl class="facts card">
        <Fact term="Address" broad>
          {state === undefined ? "–" : page.probed ? <ServiceUrl url={state.url} /> : "None: it reports by itself"}
        </Fact>
        <Fact term={page.probed ? "Last check" : "Last report"}>
          {state === undefined || state.checked_at === null ? "none yet" : (
            <>
              <Ago at={state.checked_at} now={now} />
              {state.latency_ms !== null && `, ${latencyInWords(state.latency_ms)}`}
            </>
          )}
        </Fact>
        <Fact term={page.probed ? "Next check" : "Expected by"}>
          {next_check_at === null ? "none while it is paused" : <Clock at={next_check_at} now={now} />}
        </Fact>
        <Fact term={page.probed ? "Checked every" : "Reports every"}>{durationInWords(interval_seconds)}</Fact>
        {page.probed && revision !== undefined && <Fact term="Timeout">{timeoutInWords(revision.timeout_ms)}</Fact>}
        <Fact term="Down after">{countInWords(failure_threshold, "failure", "failures")}</Fact>
        <Fact term="Up again after">{countInWords(recovery_threshold, "success", "successes")}</Fact>
        <Fact term="Watched since">
          <Clock at={page.created_at} now={now} />
        </Fact>
      </dl>
    </section>
  );
}

function timeoutInWords(ms: number): string {
  return ms % 1000 === 0 ? durationInWords(ms / 1000) : latencyInWords(ms);
}

function Fact({ term, broad, children }: { term: string; broad?: boolean; children: unknown }): JSX.Element {
  return (
    <div class={broad === true ? "broad" : undefined}>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Past({ history, now }: { history: ServiceHistory | undefined; now: Moment }): JSX.Element {
  return (
    <section aria-labelledby="uptime" data-key="past">
      <h2 id="uptime">Uptime</h2>
      <div class="card padded past">
        <dl class="stretch-figures">
          {STRETCHES.map((stretch, index) => {
            const uptime = history?.uptimes[index] ?? null;
            const coverage = history?.coverages[index] ?? null;
            return (
              <div>
                <dt>{stretch}</dt>
                <dd>
                  <strong>{uptime === null ? "–" : percentInWords(uptime, 3)}</strong>
                  <small>{coverage === null ? "no data" : `${percentInWords(coverage, 1)} covered`}</small>
                </dd>
              </div>
            );
          })}
        </dl>
        <DayBars history={history} now={now} titled />
        <p class="bars-scale quiet" aria-hidden="true">
          <span>90 days ago</span>
          <span>today</span>
        </p>
      </div>
    </section>
  );
}

function Maintenance({ maintenance, now }: { maintenance: ServiceMaintenance[]; now: Moment }): JSX.Element {
  return (
    <section aria-labelledby="maintenance" data-key="maintenance">
      <h2 id="maintenance">Maintenance</h2>
      <ul class="card rows">
        {maintenance.map(({ uid, title, state, starts_at, ends_at }) => (
          <li class="row plain" data-key={`m:${uid}`}>
            <div class="row-main">
              <h3>
                <bdi>{title}</bdi>
              </h3>
              <p class="quiet">{MAINTENANCE_STATES[state]}</p>
            </div>
            <p>
              <Clock at={starts_at} now={now} /> to <Clock at={ends_at} now={now} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Certificate({ certificate, now }: { certificate: SeenCertificate; now: Moment }): JSX.Element {
  const { subject, issuer, not_after, names, first_seen_at } = certificate;
  const daysLeft = Math.floor(secondsBetween(now, not_after) / 86_400);
  return (
    <section aria-labelledby="certificate" data-key="certificate">
      <h2 id="certificate">Certificate</h2>
      <dl class="facts card">
        <Fact term="Valid until">
          <Clock at={not_after} now={now} />
          {", "}
          <span class={daysLeft < 0 ? "tone-down" : daysLeft < SOON_DAYS ? "tone-degraded" : undefined}>
            {daysLeft < 0 ? "expired" : `${countInWords(daysLeft, "day", "days")} left`}
          </span>
        </Fact>
        <Fact term="First seen">
          <Clock at={first_seen_at} now={now} />
        </Fact>
        {subject !== null && <Fact term="Subject">{<bdi>{subject}</bdi>}</Fact>}
        {issuer !== null && <Fact term="Issuer">{<bdi>{issuer}</bdi>}</Fact>}
        {names.length > 0 && <Fact term="Names" broad>{<bdi>{names.join(", ")}</bdi>}</Fact>}
      </dl>
    </section>
  );
}

function Checks({ checks, probed, now }: { checks: Check[]; probed: boolean; now: Moment }): JSX.Element {
  const words = probed ? "checks" : "reports";
  return (
    <section data-key="checks">
      <h2 id="checks">
        {checks.length < 2 ? (probed ? "Checks" : "Reports") : `Last ${checks.length} ${words}`}
      </h2>
      <div class="card scroll" tabindex={0} role="region" aria-labelledby="checks">
        {checks.length === 0 ? <p class="row empty quiet">None so far.</p> : (
          <table class="checks">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Verdict</th>
                <th scope="col">Reason</th>
                <th scope="col" class="number">{probed ? "Latency" : "Run"}</th>
                {probed && <th scope="col">Worker</th>}
              </tr>
            </thead>
            <tbody>
              {checks.map((check) => {
                const { word, tone } = CHECK_TONES[check.status];
                const purpose = PURPOSES[check.purpose];
                return (
                  <tr data-key={`${check.recorded_at} ${check.region} ${check.purpose}`}>
                    <td>
                      <Clock at={check.recorded_at} now={now} />
                    </td>
                    <td class={`tone-${tone}`}>{word}</td>
                    <td>
                      <bdi>{check.reason ?? "–"}</bdi>
                      {purpose !== null && <span class="chip">{purpose}</span>}
                    </td>
                    <td class="number">{check.latency_ms === null ? "–" : latencyInWords(check.latency_ms)}</td>
                    {probed && (
                      <td>
                        <bdi>{check.worker ?? "–"}</bdi>
                      </td>
                    )}
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
      </div>
    </section>
  );
}

function Revisions({ revisions, now }: { revisions: ServiceRevision[]; now: Moment }): JSX.Element {
  return (
    <section aria-labelledby="revisions" data-key="revisions">
      <h2 id="revisions">Configuration</h2>
      <ul class="card rows">
        {revisions.map((revision, index) => (
          <li class="row plain" data-key={`r:${revision.revision}`}>
            <div class="row-main">
              <h3>Revision {revision.revision}</h3>
              <p class="quiet">
                <Clock at={revision.created_at} now={now} /> by <bdi>{revision.created_by}</bdi>
              </p>
            </div>
            <Changes revision={revision} before={revisions[index + 1] ?? null} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Changes({ revision, before }: { revision: ServiceRevision; before: ServiceRevision | null }): JSX.Element {
  if (before === null) {
    return (
      <p class="quiet">{revision.revision === 1 ? "As it was added" : "Older ones are in uptuple.service_revision"}</p>
    );
  }
  const changes = changesIn(revision, before);
  if (changes.length === 0) return <p class="quiet">Nothing that a check uses has changed</p>;
  return (
    <dl class="changes">
      {changes.map((change) => (
        <div>
          <dt>{change.setting}</dt>
          <dd>
            <del>
              <span class="visually-hidden">from</span>
              <bdi>{change.before ?? "not set"}</bdi>
            </del>{" "}
            <ins>
              <span class="visually-hidden">to</span>
              <bdi>{change.after ?? "not set"}</bdi>
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}
