/**
 * What is promised about routes, reminders, acknowledgement and escalation, as a small model in memory. It shares no idea with the SQL but
 * the rules: it remembers who was told what and when, in minutes, and asks that.
 */

export interface RoutedService {
  name: string;
  tag: string;
  incident: RoutedIncident | null;
}

export interface RoutedIncident {
  service: RoutedService;
  acknowledged: boolean;
  waitingSince: number;
}

export interface RoutedChannel {
  name: string;
  /** Tags; empty: everything. */
  routes: Set<string>;
  /** Minutes without an acknowledgement after which everything is escalated to it. */
  escalateAfter: number | null;
  remindEvery: number | null;
  enabled: boolean;
}

interface Told {
  channel: RoutedChannel;
  incident: RoutedIncident;
  kind: "FAILED" | "RECOVERED" | "REMINDER" | "ESCALATED" | "ACKNOWLEDGED";
  at: number;
  /** It was written while the channel was off. */
  superseded: boolean;
  sent: boolean;
}

export class RoutingModel {
  now = 0;
  readonly told: Told[] = [];

  constructor(readonly services: RoutedService[], readonly channels: RoutedChannel[]) {}

  /** Every delivery, each as "channel service KIND", in the order of their writing. */
  lines(): string[] {
    return this.told.map(({ channel, incident, kind, superseded }) =>
      `${channel.name} ${incident.service.name} ${kind}${superseded ? " superseded" : ""}`
    );
  }

  record(service: RoutedService, up: boolean): void {
    if (!up && service.incident === null) {
      const incident = { service, acknowledged: false, waitingSince: this.now };
      service.incident = incident;
      for (const channel of this.channels) {
        const hasNoRoute = channel.routes.size === 0 && channel.escalateAfter === null;
        if (hasNoRoute || channel.routes.has(service.tag)) this.tell(channel, incident, "FAILED");
      }
    } else if (up && service.incident !== null) {
      this.tellFollowers(service.incident, "RECOVERED");
      service.incident = null;
    }
  }

  acknowledge(incident: RoutedIncident): void {
    if (incident.acknowledged) return;
    incident.acknowledged = true;
    this.tellFollowers(incident, "ACKNOWLEDGED");
  }

  unacknowledge(incident: RoutedIncident): void {
    if (!incident.acknowledged) return;
    incident.acknowledged = false;
    incident.waitingSince = this.now;
  }

  /** Everything that waits is sent. */
  send(): void {
    for (const each of this.told) {
      if (each.channel.enabled && !each.superseded) each.sent = true;
    }
  }

  /** What is due now is written, incident by incident. */
  tellDue(): void {
    const open = [...new Set(this.told.map((each) => each.incident))].filter((each) => each.service.incident === each);
    for (const { incident } of this.services) if (incident !== null && !open.includes(incident)) open.push(incident);
    for (const incident of open) {
      if (incident.acknowledged) continue;
      const before = this.told.filter((each) => each.incident === incident);
      for (const channel of this.channels.filter((each) => each.enabled)) {
        const mine = before.filter((each) => each.channel === channel && each.kind !== "ACKNOWLEDGED");
        const escalated = mine.some((each) => each.kind === "ESCALATED");
        if (channel.escalateAfter !== null && !escalated && this.now >= incident.waitingSince + channel.escalateAfter) {
          this.tell(channel, incident, "ESCALATED");
        }
        const known = mine.filter((each) => !each.superseded);
        if (channel.remindEvery === null || known.length === 0 || known.some((each) => !each.sent)) continue;
        const last = Math.max(incident.waitingSince, ...known.map((each) => each.at));
        if (this.now >= last + channel.remindEvery) this.tell(channel, incident, "REMINDER");
      }
    }
  }

  /** Only what is addressed to it and still open is sent to a channel that is enabled again. */
  enable(channel: RoutedChannel): void {
    if (channel.enabled) return;
    channel.enabled = true;
    for (const each of this.told.filter((told) => told.channel === channel)) {
      const isBeginning = each.kind === "FAILED" || each.kind === "ESCALATED";
      const isOpen = each.incident.service.incident === each.incident && isBeginning;
      if (isOpen) each.superseded = false;
      else if (!each.sent) each.superseded = true;
    }
    for (const { incident } of this.services) {
      if (incident === null) continue;
      const hasNoRoute = channel.routes.size === 0 && channel.escalateAfter === null;
      const isLed = hasNoRoute || channel.routes.has(incident.service.tag);
      const isKnown = this.told.some((each) =>
        each.channel === channel && each.incident === incident && each.kind === "FAILED"
      );
      if (isLed && !isKnown) this.tell(channel, incident, "FAILED", this.failedAt(incident));
    }
  }

  private failedAt(incident: RoutedIncident): number {
    return Math.min(
      ...this.told.filter((each) => each.incident === incident && each.kind === "FAILED").map((each) => each.at),
      incident.waitingSince,
    );
  }

  private tellFollowers(incident: RoutedIncident, kind: "RECOVERED" | "ACKNOWLEDGED"): void {
    for (const channel of this.channels) {
      const beginnings = this.told.filter((each) =>
        each.channel === channel && each.incident === incident && (each.kind === "FAILED" || each.kind === "ESCALATED")
      );
      if (beginnings.some((each) => !each.superseded || !channel.enabled)) this.tell(channel, incident, kind);
    }
  }

  private tell(channel: RoutedChannel, incident: RoutedIncident, kind: Told["kind"], at = this.now): void {
    this.told.push({ channel, incident, kind, at, superseded: !channel.enabled, sent: false });
  }
}
