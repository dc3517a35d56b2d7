/** Counts the failures of each client, and says when one has had enough. */
export interface FailureLimit {
  /** Seconds until the client may try again; 0 if it may now. */
  waitSeconds(client: string): number;
  /** Notes that the client has failed. */
  failed(client: string): void;
}

/** How often a client may fail. */
export interface FailureLimitOptions {
  /** Failures allowed in one period. */
  failures: number;
  /** The period, in ms, from a client's first failure. */
  periodMs: number;
  /** Clients remembered at once; the longest known one is forgotten for a new one. */
  clients: number;
  /** A monotonic clock, in ms. */
  now: () => number;
}

/** Limits guesses: a client that failed too often in a period waits until the period's end, whatever it brings then. */
export function limitFailures({ failures, periodMs, clients, now }: FailureLimitOptions): FailureLimit {
  const known = new Map<string, { count: number; endsAt: number }>();

  function current(client: string): { count: number; endsAt: number } | undefined {
    const period = known.get(client);
    if (period === undefined || period.endsAt > now()) return period;
    known.delete(client);
    return undefined;
  }

  return {
    waitSeconds(client) {
      const period = current(client);
      return period === undefined || period.count < failures ? 0 : Math.ceil((period.endsAt - now()) / 1000);
    },
    failed(client) {
      const period = current(client);
      if (period !== undefined) {
        period.count++;
        return;
      }
      const [oldest] = known.keys();
      if (oldest !== undefined && known.size >= clients) known.delete(oldest);
      known.set(client, { count: 1, endsAt: now() + periodMs });
    },
  };
}

/**
 * Who a failure is counted against: an IPv4 address, or the /64 network that one IPv6 customer has at the least.
 *
 * @param address As the connection has it; undefined (not a TCP connection) counts as one client.
 */
export function clientOf(address: string | undefined): string {
  if (address === undefined) return "unknown";
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1];
  if (mapped !== undefined || !address.includes(":")) return mapped ?? address;
  const [head = "", tail] = address.split("%", 1).join("").split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  if (tail !== undefined) groups.push(...Array(Math.max(0, 8 - groups.length - behind.length)).fill("0"), ...behind);
  return groups.slice(0, 4).map((group) => parseInt(group, 16).toString(16)).join(":") + "::/64";
}
