import { getLogger } from "@logtape/logtape";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import type { Shift } from "../shift.ts";
import { createWake } from "../wake.ts";

const logger = getLogger(["uptuple", "jobs"]);
/** Windows are made 3 s ahead, so one call a second is early enough, also if one is late. */
const PERIOD_MS = 1000;

/**
 * Has the jobs of windows that are about to begin made, and the heartbeats that are overdue found, once a second, until the shift is over.
 * Every runtime does so: whichever comes first does the work, and the others are told that there is nothing to do.
 *
 * @param onEnqueued Called when jobs were made.
 */
export async function enqueueJobs(database: Database, shift: Shift, onEnqueued: () => void): Promise<void> {
  const pause = createWake();
  while (!shift.over) {
    await attempt("Enqueueing jobs", async () => {
      const [made] = await database.query<{ count: number }>`select uptuple.enqueue_jobs() as count`;
      if ((made?.count ?? 0) > 0) onEnqueued();
    });
    await attempt("Looking for overdue heartbeats", async () => {
      for (let found = 1; found > 0 && !shift.over;) {
        const [row] = await database.query<{ found: number }>`select uptuple.check_heartbeats() as found`;
        found = row?.found ?? 0;
      }
    });
    await pause.sleep(PERIOD_MS, shift.stopped);
  }
}

/** Neither kind of work stops the other, and both are tried again in a second. */
async function attempt(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DatabaseUnavailableError)) logger.error("{what} failed: {error}", { what, error });
  }
}
