import type { JSX } from "hono/jsx/jsx-runtime";
import { Icon, type IconName } from "./icon.tsx";
import { countInWords } from "./in_words.ts";
import { Ago, Clock, Lasting, type Moment } from "./moment.tsx";
import type { ChannelHealth, Worker } from "./dashboard.ts";

const CHANNEL_STATES: Record<ChannelHealth["state"], { icon: IconName; word: string }> = {
  OPEN: { icon: "up", word: "Open" },
  PAUSED: { icon: "paused", word: "Paused" },
  SUSPENDED: { icon: "down", word: "Suspended" },
  DISABLED: { icon: "paused", word: "Disabled" },
};

/** Who watches, and who is told. */
export function MonitorSection(
  { workers, channels, now }: { workers: Worker[]; channels: ChannelHealth[]; now: Moment },
): JSX.Element {
  return (
    <div class="columns">
      <section aria-labelledby="runtimes">
        <h2 id="runtimes">Runtimes</h2>
        <ul class="card rows">
          {workers.length === 0 && <li class="row empty quiet">None has reported here.</li>}
          {workers.map((worker) => <Runtime worker={worker} now={now} />)}
        </ul>
      </section>
      <section aria-labelledby="channels">
        <h2 id="channels">Channels</h2>
        <ul class="card rows">
          {channels.length === 0 && <li class="row empty quiet">None: nobody is told.</li>}
          {channels.map((channel) => <Channel channel={channel} now={now} />)}
        </ul>
      </section>
    </div>
  );
}

function Runtime({ worker, now }: { worker: Worker; now: Moment }): JSX.Element {
  const isAlive = worker.state === "ALIVE";
  const isBelieved = worker.quarantined_at === null;
  const tone = !isAlive ? "down" : isBelieved ? "up" : "unknown";
  return (
    <li class="row" data-key={worker.worker}>
      <Icon name={tone} />
      <div class="row-main">
        <p class="name">
          <bdi>{worker.worker}</bdi>
        </p>
        <p class="quiet">
          {worker.roles.join(", ")}
          {worker.region !== "default" && `, region ${worker.region}`}
        </p>
        {isAlive && worker.quarantine_reason !== null && (
          <p class="fault">
            <bdi>{worker.quarantine_reason}</bdi>
          </p>
        )}
      </div>
      <p class="figure">
        <strong class={`tone-${tone}`}>{!isAlive ? "Lost" : isBelieved ? "Alive" : "Not believed"}</strong>
        <small>
          release {worker.release}, {isAlive
            ? (
              <>
                for <Lasting since={worker.quarantined_at ?? worker.started_at} now={now} />
              </>
            )
            : (
              <>
                seen <Ago at={worker.seen_at} now={now} />
              </>
            )}
        </small>
      </p>
    </li>
  );
}

function Channel({ channel, now }: { channel: ChannelHealth; now: Moment }): JSX.Element {
  const { icon, word } = CHANNEL_STATES[channel.state];
  return (
    <li class="row" data-key={channel.name}>
      <Icon name={icon} />
      <div class="row-main">
        <p class="name">
          <bdi>{channel.name}</bdi>
        </p>
        <p class="quiet">
          {channel.last_success_at === null ? "nothing delivered yet" : (
            <>
              last delivered <Ago at={channel.last_success_at} now={now} />
            </>
          )}
        </p>
        {channel.suspended_reason !== null && (
          <p class="fault">
            <bdi>{channel.suspended_reason}</bdi>
          </p>
        )}
        {channel.state === "PAUSED" && channel.paused_until !== null && (
          <p class="quiet">
            as its receiver asked, until <Clock at={channel.paused_until} now={now} />
          </p>
        )}
      </div>
      <p class="figure">
        <strong class={`tone-${icon}`}>{word}</strong>
        {channel.unsent + channel.dead > 0 && <small>{queueInWords(channel)}</small>}
      </p>
    </li>
  );
}

function queueInWords({ unsent, dead }: ChannelHealth): string {
  const waiting = unsent > 0 ? `${unsent} waiting` : null;
  const given = dead > 0 ? countInWords(dead, "dead notice", "dead notices") : null;
  return [waiting, given].filter((part) => part !== null).join(", ");
}
