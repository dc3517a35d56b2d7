import { getLogger } from "@logtape/logtape";
import type { Database } from "../database/connect.ts";

/** How many days pages look back, today included. */
export const HISTORY_DAYS = 90;

/** The stretches that uptime is told for, in the order of `uptimes` and `coverages`. */
export const STRETCHES = ["24 h", "7 d", "30 d", "90 d"] as const;

/** A row of `uptuple.dashboard_history`: the past of one service. */
export interface ServiceHistory {
  service: string;
  /** For each of STRETCHES the fraction of the windows with a verdict that were up; null if none had one. */
  uptimes: (number | null)[];
  /** Likewise the fraction of the expected windows that had a verdict; null if none was expected. */
  coverages: (number | null)[];
  /** For each day (UTC) in which something was expected, how many days ago it was: 0 is today. In no order. */
  days_ago: number[];
  /** Windows of each of those days. */
  day_expected: number[];
  day_up: number[];
  day_down: number[];
  /** For each of the last hours with a latency, how many hours ago it was. In no order. */
  hours_ago: number[];
  /** Mean latency of each of those hours, in ms. */
  hour_ms: number[];
}

/** The past of every service, by name. Services that are newer than the reading are missing. */
export type Histories = ReadonlyMap<string, ServiceHistory>;

const logger = getLogger(["uptuple", "web"]);
/** The past is read again after this long, in ms. */
const FRESH_MS = 60_000;
/** An older one is not shown: nobody has looked meanwhile, or the reading fails. In ms. */
const USABLE_MS = 30 * 60_000;
/** Reading may take this share of the time; it takes about 0.6 ms a service. */
const SHARE_OF_TIME = 1 / 50;
/** How long a page waits for the past when there is none to show yet, in ms; after that it goes out without. */
const PATIENCE_MS = 1_000;

/**
 * Reads the past of all services for pages. It changes slowly and takes long, so it is read while somebody looks, once a minute, and
 * more rarely where it takes longer; meanwhile pages show the last one, and none waits.
 *
 * @returns A call that never fails: a page without its past is better than none. It gives null where there is none to show yet.
 */
export function historyReader(database: Pick<Database, "query">): () => Promise<Histories | null> {
  let latest: { histories: Histories; readAt: number } = { histories: new Map(), readAt: -Infinity };
  let nextAt = -Infinity;
  let underWay: Promise<void> | null = null;

  async function read(): Promise<void> {
    const startedAt = performance.now();
    try {
      latest = { histories: await readHistories(database), readAt: performance.now() };
    } catch (error) {
      logger.warn("The past was not read: {reason}", {
        reason: error instanceof Error ? error.message : String(error),
      });
    }
    const endedAt = performance.now();
    nextAt = endedAt + Math.max(FRESH_MS, (endedAt - startedAt) / SHARE_OF_TIME);
    underWay = null;
  }

  const isUsable = () => performance.now() - latest.readAt < USABLE_MS;
  return async () => {
    if (performance.now() >= nextAt) underWay ??= read();
    if (!isUsable() && underWay !== null) await settledWithin(underWay, PATIENCE_MS);
    return isUsable() ? latest.histories : null;
  };
}

/**
 * Reads the past of services.
 *
 * @param services Their names; left out, of all.
 */
export async function readHistories(
  database: Pick<Database, "query">,
  services: string[] | null = null,
): Promise<Map<string, ServiceHistory>> {
  // As JSON, since the driver makes NaN of the nulls in an array of numbers.
  const rows = await database.query<ServiceHistory>`
    select service, to_jsonb(uptimes) as uptimes, to_jsonb(coverages) as coverages, days_ago, day_expected, day_up, day_down, hours_ago, hour_ms
    from uptuple.dashboard_history(${services})`;
  return new Map(rows.map((row) => [row.service, row]));
}

async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([work, new Promise<void>((resolve) => timer = setTimeout(resolve, ms))]);
  clearTimeout(timer);
}
