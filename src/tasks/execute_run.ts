import { getLogger } from "@logtape/logtape";
import { openClient, type Sql } from "../database/client.ts";
import { withDeadline } from "../database/connect.ts";
import { parseDatabaseUrl } from "../database/url.ts";
import type { ClaimedRun } from "./claimed_run.ts";

/** What came of an execution: what the function gave, or why there is nothing. */
export type Execution = { rows: number | null; value: unknown } | { error: string; code: string | null };

const logger = getLogger(["uptuple", "tasks"]);
/** The server has given a statement up when this long has passed after its timeout, in ms, or will not answer any more. */
const ANSWER_MS = 3000;
/** A run that has less than this left of its lock, in ms, is not begun: what it did might overlap with the next. */
const LEAST_MS = 100;
/** How much earlier than the lock runs out a statement is cut, in ms. */
const MARGIN_MS = 300;
/** The longest wait for a connection, in ms. */
const CONNECT_MS = 10_000;
/** How often the server looks whether the client of a running statement is still there, in ms. */
const CLIENT_CHECK_MS = 1000;
const TOO_LATE: Execution = { error: "the task's lock was about to run out before it could begin", code: null };
const INTEGER = /^\d+$/;
const UUID = /^[0-9a-f-]{36}$/;

/**
 * Runs a claimed task's function, on a connection of its own that is closed afterwards. Nothing is thrown: a failure is an outcome.
 *
 * The statement is cut by the server at the task's timeout or, if that comes first, before the task's lock runs out. When this process
 * dies the server notices within a second or so, and cuts it as well.
 *
 * @param url Where to connect; also through a transaction pooler, since everything is in one message.
 * @param run What to run.
 * @param stop Cancels it when the runtime stops.
 */
export async function executeRun(url: string, run: ClaimedRun, stop: AbortSignal): Promise<Execution> {
  if (timeLeft(run) < LEAST_MS) return TOO_LATE;
  const client = openClient(url, {
    maxConnections: 1,
    applicationName: "uptuple task",
    connectTimeoutMs: Math.min(CONNECT_MS, timeLeft(run)),
    onNotice: ({ severity, message }) => {
      logger.info("{task}: {severity} {message}", { task: run.task, trace: run.trace, severity, message });
    },
  });
  try {
    return await execute(client, url, run, stop);
  } catch (error) {
    const { message, code } = error as { message?: string; code?: string };
    const reason = stop.aborted ? "the runtime was stopped" : null;
    return { error: [reason, message ?? String(error)].filter(Boolean).join(": "), code: code ?? null };
  } finally {
    client.end({ timeout: 1 }).catch(() => {});
  }
}

/** How long the run's statement may take if it begins now, in ms. */
function timeLeft(run: ClaimedRun): number {
  return Math.floor(Math.min(run.statementTimeoutMs, run.leaseEnd - performance.now() - MARGIN_MS));
}

async function execute(client: Sql, url: string, run: ClaimedRun, stop: AbortSignal): Promise<Execution> {
  if (!INTEGER.test(run.runId) || !UUID.test(run.token)) throw new TypeError("a claimed run has a number and a uuid");
  await withDeadline(connected(client, parseDatabaseUrl(url).transactionPooler), CONNECT_MS + ANSWER_MS);
  // Counted from here, since connecting takes time of the lock.
  const timeoutMs = timeLeft(run);
  if (timeoutMs < LEAST_MS) return TOO_LATE;
  // One message of several statements, which cannot have parameters: so the timeout holds through a transaction pooler too.
  const query = client.unsafe(`
    begin;
    set local statement_timeout = ${timeoutMs};
    select row_count, value from uptuple.execute_task(${run.runId}, '${run.token}');
    commit`).simple();
  const cancel = () => query.cancel();
  stop.addEventListener("abort", cancel);
  if (stop.aborted) cancel();
  try {
    const results = await withDeadline(query, timeoutMs + ANSWER_MS) as unknown as {
      row_count: string | null;
      value: unknown;
    }[][];
    const row = results.flat().find((each) => "row_count" in each);
    return { rows: row?.row_count == null ? null : Number(row.row_count), value: row?.value ?? null };
  } finally {
    stop.removeEventListener("abort", cancel);
  }
}

/**
 * Connects, and asks the server to cut the statement when this process is gone. Some systems cannot, and behind a transaction pooler
 * the setting would stay for others; the statement's timeout is there still.
 */
async function connected(client: Sql, transactionPooler: boolean): Promise<void> {
  if (transactionPooler) {
    await client.unsafe("select 1");
    return;
  }
  try {
    await client.unsafe(`set client_connection_check_interval = ${CLIENT_CHECK_MS}`);
  } catch (error) {
    if ((error as { code?: string }).code !== "22023") throw error;
  }
}
