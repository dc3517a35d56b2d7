import type { JSX } from "hono/jsx/jsx-runtime";
import { Icon } from "./icon.tsx";
import { countInWords, durationInWords, latencyInWords, secondsBetween } from "./in_words.ts";
import { Clock, Lasting, type Moment } from "./moment.tsx";
import type { DeliveryAttempt, IncidentNotice, NoticeDelivery, ServiceIncident } from "./service_page.ts";

const DELIVERY_STATES: Record<NoticeDelivery["state"], { word: string; tone: string }> = {
  READY: { word: "about to be sent", tone: "unknown" },
  WAITING: { word: "waits its turn", tone: "unknown" },
  HELD: { word: "held back behind a dead one", tone: "degraded" },
  SENDING: { word: "being sent", tone: "unknown" },
  DELIVERED: { word: "delivered", tone: "up" },
  DEAD: { word: "dead", tone: "down" },
  DISCARDED: { word: "discarded", tone: "unknown" },
  SUPERSEDED: { word: "not sent", tone: "unknown" },
};

const OUTCOMES: Record<string, string> = {
  DELIVERED: "accepted",
  RETRY: "to be tried again",
  DEAD: "refused for good",
  SUSPENDED: "channel suspended",
  PAUSED: "asked to wait",
};

/** The incidents of a service, each with its notices, and of each notice every attempt with its answer. */
export function ServiceIncidents({ incidents, now }: { incidents: ServiceIncident[]; now: Moment }): JSX.Element {
  return (
    <section aria-labelledby="incidents" data-key="incidents">
      <h2 id="incidents">Incidents</h2>
      <ul class="card rows">
        {incidents.length === 0 && <li class="row empty quiet">None so far.</li>}
        {incidents.map((incident) => <Incident incident={incident} now={now} />)}
      </ul>
    </section>
  );
}

function Incident({ incident, now }: { incident: ServiceIncident; now: Moment }): JSX.Element {
  const { incident_id, region, started_at, closed_at, closed_by, reason, notices } = incident;
  return (
    <li class="row notice" data-key={`i:${incident_id}`}>
      <Icon name={closed_at === null ? "down" : closed_by === "withdrawn" ? "paused" : "up"} />
      <div class="row-main">
        <h3>
          <a href={`/incidents/${incident_id}`}>
            <bdi>{reason ?? "No reason given"}</bdi>
          </a>
          {region !== "default" && <span class="chip">{region}</span>}
        </h3>
        <p class="quiet">
          First failed at <Clock at={started_at} now={now} />
          {closed_at !== null && (
            <>
              , {closed_by === "withdrawn" ? "withdrawn" : "recovered"} at <Clock at={closed_at} now={now} />
            </>
          )}
        </p>
        {notices.length === 0 ? <p class="quiet">Nobody was told.</p> : <Notices notices={notices} now={now} />}
      </div>
      <p class="row-end">
        {closed_at === null ? "Down for " : "Was down for "}
        <strong>
          {closed_at === null
            ? <Lasting since={started_at} now={now} />
            : durationInWords(secondsBetween(started_at, closed_at))}
        </strong>
      </p>
    </li>
  );
}

function Notices({ notices, now }: { notices: IncidentNotice[]; now: Moment }): JSX.Element {
  return (
    <details class="notices" data-key="notices">
      <summary>{countInWords(notices.length, "notice", "notices")}</summary>
      <ul>
        {notices.map(({ number, kind, occurred_at, deliveries }) => (
          <li data-key={String(number)}>
            <p>
              <code>{kind}</code> at <Clock at={occurred_at} now={now} />
              {deliveries.length === 0 && <span class="quiet">: there was no channel</span>}
            </p>
            <NoticeDeliveries deliveries={deliveries} now={now} />
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Where a notice went: of each channel its state, and every attempt with its answer. */
export function NoticeDeliveries({ deliveries, now }: { deliveries: NoticeDelivery[]; now: Moment }): JSX.Element {
  return <ul class="deliveries">{deliveries.map((delivery) => <Delivery delivery={delivery} now={now} />)}</ul>;
}

function Delivery(
  { delivery: { channel, state, note, attempts }, now }: { delivery: NoticeDelivery; now: Moment },
): JSX.Element {
  const { word, tone } = DELIVERY_STATES[state];
  return (
    <li data-key={channel}>
      <p>
        <bdi>{channel}</bdi>: <span class={`tone-${tone}`}>{word}</span>
        {note !== null && (
          <>
            , <bdi>{note}</bdi>
          </>
        )}
      </p>
      {attempts.length > 0 && (
        <ol class="attempts">{attempts.map((attempt) => <Attempt attempt={attempt} now={now} />)}</ol>
      )}
    </li>
  );
}

function Attempt({ attempt, now }: { attempt: DeliveryAttempt; now: Moment }): JSX.Element {
  const { finished_at, outcome, status, latency_ms, answer } = attempt;
  return (
    <li class="quiet">
      <Clock at={finished_at} now={now} />: {status !== null && `HTTP ${status}, `}
      {OUTCOMES[outcome] ?? outcome.toLowerCase()}
      {latency_ms !== null && ` after ${latencyInWords(latency_ms)}`}
      {answer !== null && answer !== "" && (
        <>
          : <bdi>{answer}</bdi>
        </>
      )}
    </li>
  );
}
