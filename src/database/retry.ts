import { getLogger } from "@logtape/logtape";
import { DatabaseUnavailableError } from "./connect.ts";

const logger = getLogger(["uptuple", "database"]);
/** Wait before a call that the database did not answer is made again, in ms. */
const RETRY_MS = 500;

/**
 * Repeats a call that reports the end of leased work, until it is answered or the lease is over. The token of the lease makes a call that
 * is made again harmless: a lost acknowledgement is answered as a duplicate.
 *
 * @param leaseEnd When the lease ends, by `performance.now()`.
 * @param name Of the function, for the log.
 * @throws What the last call threw, when no further one would come in time.
 */
export async function retryUntilLeaseEnds<Answer>(
  leaseEnd: number,
  name: string,
  call: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() + RETRY_MS >= leaseEnd) throw error;
      if (!(error instanceof DatabaseUnavailableError)) logger.warn("{name} failed: {error}", { name, error });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
