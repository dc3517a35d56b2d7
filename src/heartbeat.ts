import { getLogger } from "@logtape/logtape";
import type { Database } from "./database/connect.ts";

const logger = getLogger(["uptuple", "heartbeat"]);
/** The watcher's watcher must answer within this many ms. */
const TIMEOUT_MS = 10_000;

/**
 * Calls who watches the watcher, if the monitor vouches for itself: `uptuple.unwell()` decides. Silence is the alarm.
 *
 * @param url Called with GET. It may hold a secret and is never logged.
 */
export async function callHeartbeat(url: string, database: Database): Promise<void> {
  const [verdict] = await database.query<{ unwell: string | null }>`select uptuple.unwell() as unwell`;
  if (verdict?.unwell !== null) {
    logger.warn("The heartbeat is held back: {reason}", { reason: verdict?.unwell });
    return;
  }
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    if (response.ok) logger.debug("The heartbeat was answered {status}", { status: response.status });
    else logger.warn("The heartbeat was answered {status}", { status: response.status });
  } catch (error) {
    const reason = error instanceof DOMException && error.name === "TimeoutError"
      ? "no answer in time"
      : "it cannot be reached";
    logger.warn("UPTUPLE_HEARTBEAT_URL was called in vain: {reason}", { reason });
  }
}
