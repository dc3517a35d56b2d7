/**
 * What is promised about incidents and notices, as a small model in memory, for histories that no person would think of. It shares no
 * idea with the SQL but the rules: it keeps lists, and asks of each notice what stands before it.
 */

export type ModelState = "READY" | "WAITING" | "HELD" | "SENDING" | "DELIVERED" | "DEAD" | "DISCARDED" | "SUPERSEDED";

export interface ModelService {
  name: string;
  failures: number;
  incident: number | null;
  enabled: boolean;
}

export interface ModelChannel {
  name: string;
  strict: boolean;
  enabled: boolean;
  suspended: boolean;
  transientFailures: number;
  maxAttempts: number;
}

export interface ModelEvent {
  kind: "FAILED" | "RECOVERED";
  service: ModelService;
  incident: number;
}

/** One event for one channel. LIVE: unsent and not being sent. */
export interface ModelDelivery {
  event: ModelEvent;
  channel: ModelChannel;
  fate: "LIVE" | "SENDING" | "DELIVERED" | "DEAD" | "DISCARDED" | "SUPERSEDED";
  attempts: number;
  leaseEnded: boolean;
}

export class AlertsModel {
  readonly services: ModelService[];
  readonly channels: ModelChannel[];
  readonly events: ModelEvent[] = [];
  readonly deliveries: ModelDelivery[] = [];
  private incidents = 0;

  constructor(
    services: string[],
    channels: { name: string; strict: boolean; maxAttempts: number }[],
    private readonly failureThreshold: number,
  ) {
    this.services = services.map((name) => ({ name, failures: 0, incident: null, enabled: true }));
    this.channels = channels.map((each) => ({ ...each, enabled: true, suspended: false, transientFailures: 0 }));
  }

  /** The state that a delivery must have, by what stands before it in its lane. */
  stateOf(delivery: ModelDelivery): ModelState {
    if (delivery.fate !== "LIVE") return delivery.fate;
    if (this.isHeld(delivery)) return "HELD";
    return this.before(delivery).some((older) =>
        older.fate === "SENDING" || older.fate === "LIVE" && !this.isHeld(older)
      )
      ? "WAITING"
      : "READY";
  }

  record(service: ModelService, up: boolean): void {
    if (!service.enabled) return;
    service.failures = up ? 0 : Math.min(service.failures + 1, this.failureThreshold);
    if (!up && service.incident === null && service.failures >= this.failureThreshold) {
      service.incident = ++this.incidents;
      this.happen("FAILED", service, service.incident);
    } else if (up) {
      this.close(service);
    }
  }

  disableService(service: ModelService): void {
    this.close(service);
    service.failures = 0;
    service.enabled = false;
  }

  /** Whether a claim may hand this delivery out, apart from when it is due. */
  mayBeClaimed(delivery: ModelDelivery): boolean {
    if (!delivery.channel.enabled) return false;
    if (this.stateOf(delivery) === "READY") return true;
    return delivery.fate === "SENDING" && delivery.leaseEnded && delivery.attempts < delivery.channel.maxAttempts &&
      !this.before(delivery).some((older) =>
        older.fate === "SENDING" || this.stateOf(older) === "READY" || this.stateOf(older) === "WAITING"
      );
  }

  claim(delivery: ModelDelivery): void {
    delivery.fate = "SENDING";
    delivery.leaseEnded = false;
    delivery.attempts++;
  }

  release(delivery: ModelDelivery): void {
    delivery.fate = "LIVE";
    delivery.attempts--;
  }

  /** Answers what a receiver's status means for a notice that is being sent. */
  answer(delivery: ModelDelivery, status: 200 | 401 | 422 | 429 | 503): string {
    const { channel } = delivery;
    const wasSuspended = channel.suspended;
    if (status === 200 || status === 422) {
      delivery.fate = status === 200 ? "DELIVERED" : "DEAD";
      channel.suspended = false;
      channel.transientFailures = 0;
      return delivery.fate;
    }
    delivery.fate = "LIVE";
    if (status === 503 && !wasSuspended && delivery.attempts >= channel.maxAttempts) delivery.fate = "DEAD";
    if (status !== 503 || wasSuspended) delivery.attempts--;
    if (status === 503) channel.transientFailures++;
    if (status === 401 || status === 503 && channel.transientFailures >= 5) channel.suspended = true;
    if (delivery.fate === "DEAD") return "DEAD";
    return status === 503 ? "RETRY" : status === 401 ? "SUSPENDED" : "PAUSED";
  }

  /** All leases end, and what had its last one is found. */
  endLeases(): void {
    for (const delivery of this.deliveries.filter((each) => each.fate === "SENDING")) {
      delivery.leaseEnded = true;
      if (delivery.attempts >= delivery.channel.maxAttempts) delivery.fate = "DEAD";
    }
  }

  /** @returns Whether the rules allow it. */
  requeue(delivery: ModelDelivery): boolean {
    if (!["DEAD", "DISCARDED", "SUPERSEDED"].includes(delivery.fate)) return false;
    delivery.fate = "LIVE";
    delivery.attempts = 0;
    return true;
  }

  /** @returns Whether the rules allow it. */
  discard(delivery: ModelDelivery): boolean {
    if (!["LIVE", "DEAD"].includes(delivery.fate) && !(delivery.fate === "SENDING" && delivery.leaseEnded)) {
      return false;
    }
    delivery.fate = "DISCARDED";
    return true;
  }

  enableChannel(channel: ModelChannel): void {
    if (channel.enabled) return;
    this.reopen(channel);
    channel.enabled = true;
    for (const delivery of this.deliveries.filter((each) => each.channel === channel)) {
      const isOpen = delivery.event.kind === "FAILED" && delivery.event.service.incident === delivery.event.incident;
      const waits = delivery.fate === "LIVE" || delivery.fate === "SENDING" && delivery.leaseEnded;
      if (waits && !isOpen) delivery.fate = "SUPERSEDED";
      if (delivery.fate === "SUPERSEDED" && isOpen) delivery.fate = "LIVE";
    }
  }

  /** A change of a channel ends its suspension. */
  reopen(channel: ModelChannel): void {
    channel.suspended = false;
    channel.transientFailures = 0;
  }

  private close(service: ModelService): void {
    if (service.incident === null) return;
    const incident = service.incident;
    service.incident = null;
    this.happen("RECOVERED", service, incident);
  }

  private happen(kind: ModelEvent["kind"], service: ModelService, incident: number): void {
    const event = { kind, service, incident };
    this.events.push(event);
    for (const channel of this.channels) {
      const wasTold = this.deliveries.some((each) =>
        each.channel === channel && each.event.incident === incident && each.fate !== "SUPERSEDED"
      );
      if (!channel.enabled) this.deliver(event, channel, "SUPERSEDED");
      else if (kind === "FAILED" || wasTold) this.deliver(event, channel, "LIVE");
    }
  }

  private deliver(event: ModelEvent, channel: ModelChannel, fate: "LIVE" | "SUPERSEDED"): void {
    this.deliveries.push({ event, channel, fate, attempts: 0, leaseEnded: false });
  }

  private before(delivery: ModelDelivery): ModelDelivery[] {
    return this.deliveries.filter((each) =>
      each.channel === delivery.channel && each.event.service === delivery.event.service &&
      this.events.indexOf(each.event) < this.events.indexOf(delivery.event)
    );
  }

  private isHeld(delivery: ModelDelivery): boolean {
    return this.before(delivery).some((older) =>
      older.fate === "DEAD" && (delivery.channel.strict || older.event.incident === delivery.event.incident)
    );
  }
}
