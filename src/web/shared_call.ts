import { DatabaseUnavailableError } from "../database/connect.ts";

/**
 * Makes calls that begin while one is under way share its answer, so that a crowd of viewers asks the database once. No
 * answer outlives its call.
 *
 * @param call What to do; it asks the database.
 * @param deadlineMs Nobody looks at an empty page for longer, in ms.
 * @returns The shared call. It throws {DatabaseUnavailableError} when the deadline passes, and what `call` throws.
 */
export function shareCalls<Answer>(call: () => Promise<Answer>, deadlineMs: number): () => Promise<Answer> {
  let underWay: Promise<Answer> | null = null;
  return () => {
    underWay ??= answerInTime(call(), deadlineMs).finally(() => underWay = null);
    return underWay;
  };
}

async function answerInTime<Answer>(answer: Promise<Answer>, deadlineMs: number): Promise<Answer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new DatabaseUnavailableError(`The database is unavailable: no answer within ${deadlineMs} ms`));
  }, deadlineMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
