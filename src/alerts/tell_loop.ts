import { getLogger } from "@logtape/logtape";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import type { Shift } from "../shift.ts";
import { createWake } from "../wake.ts";

const logger = getLogger(["uptuple", "alerts"]);
/** SQL knows what is due; a second late is early enough for a reminder. */
const PERIOD_MS = 1000;

/**
 * Has notices written that no result causes, such as reminders and escalations, once a second, until the shift is over. Every runtime does
 * so: each notice is written by whichever comes first.
 */
export async function tellDue(database: Database, shift: Shift): Promise<void> {
  const pause = createWake();
  while (!shift.over) {
    try {
      while (await tellSome(database) > 0 && !shift.over);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) logger.error("Telling what is due failed: {error}", { error });
    }
    await pause.sleep(PERIOD_MS, shift.stopped);
  }
}

/** Returns how many notices were written: while there are any, there may be more. */
async function tellSome(database: Database): Promise<number> {
  const [row] = await database.query<{ told: number }>`select uptuple.tell_due() as told`;
  return row?.told ?? 0;
}
