import { getLogger } from "@logtape/logtape";
import type { Database } from "../database/connect.ts";

/** A row of `uptuple.coverage`: the last day of one service. */
export interface ServiceCoverage {
  service: string;
  /** Fraction of the windows with a verdict that were up; null if none had one. */
  uptime: number | null;
  /** Fraction of the expected windows that had a verdict; null if none was expected. */
  coverage: number | null;
}

/** The last day of every service, by name. Services that are newer than the reading are missing. */
export type Coverage = ReadonlyMap<string, ServiceCoverage>;

const logger = getLogger(["uptuple", "web"]);
/** Figures of a whole day are read again after this long, in ms. */
const FRESH_MS = 60_000;
/** Older ones are not shown: nobody has looked meanwhile, or the reading fails. In ms. */
const USABLE_MS = 30 * 60_000;
/** Reading takes about 0.3 ms a service; it may take this share of the time. */
const SHARE_OF_TIME = 1 / 50;
/** How long a page waits for the figures before it goes out without new ones, in ms. */
const PATIENCE_MS = 250;

/**
 * Reads `uptuple.coverage` for pages. It counts every window of a day, so it is read while somebody looks, once a minute, and
 * more rarely where it takes long; between the readings pages show the last one.
 *
 * @returns A call that never fails: a page without uptime is better than none.
 */
export function coverageReader(database: Pick<Database, "query">): () => Promise<Coverage> {
  let latest: { coverage: Coverage; readAt: number } = { coverage: new Map(), readAt: -Infinity };
  let nextAt = -Infinity;

  async function read(): Promise<void> {
    const startedAt = performance.now();
    // Whoever looks meanwhile does not start another one.
    nextAt = Infinity;
    try {
      const rows = await database.query<ServiceCoverage>`
        select service, uptime::float8 as uptime, coverage::float8 as coverage from uptuple.coverage`;
      latest = { coverage: new Map(rows.map((row) => [row.service, row])), readAt: performance.now() };
    } catch (error) {
      logger.warn("Uptime was not read: {reason}", { reason: error instanceof Error ? error.message : String(error) });
    }
    const endedAt = performance.now();
    nextAt = endedAt + Math.max(FRESH_MS, (endedAt - startedAt) / SHARE_OF_TIME);
  }

  return async () => {
    if (performance.now() >= nextAt) await settledWithin(read(), PATIENCE_MS);
    return performance.now() - latest.readAt < USABLE_MS ? latest.coverage : new Map();
  };
}

async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([work, new Promise<void>((resolve) => timer = setTimeout(resolve, ms))]);
  clearTimeout(timer);
}
