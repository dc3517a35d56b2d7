import { getLogger } from "@logtape/logtape";
import { openClient, type Sql } from "./client.ts";
import { classifyConnectionError, DatabaseUnavailableError } from "./connection_errors.ts";
import { onDriverCrash } from "./driver_crash.ts";
import { keepListening } from "./listen.ts";
import { safeJson } from "./safe_text.ts";
import { parseDatabaseUrl } from "./url.ts";

export { DatabaseUnavailableError, explainConnectionError } from "./connection_errors.ts";

/** The database, as the runtime sees it: single statements on a pool that repairs itself. */
export interface Database {
  /**
   * Runs one statement, in one round trip, with a deadline. Values become bound parameters; strings in them are made safe
   * to store. A `jsonb` parameter takes the value itself and not its JSON. bigint columns come as strings, timestamptz as
   * Date, jsonb parsed.
   *
   * @throws {DatabaseUnavailableError} If there is no connection, it broke, or the deadline passed.
   * @throws The server's error, with its `code`, if the statement itself failed.
   */
  query<Row extends object = Record<string, unknown>>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>;
  /**
   * Listens on a connection of its own, and again whenever that is lost. A hint only: what was sent meanwhile is lost, and
   * behind a transaction pooler nothing arrives. Does not wait for the database.
   *
   * @param onReady Called each time that listening has begun, so also after each loss.
   */
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    onReady?: () => void,
  ): Promise<{ unlisten(): Promise<void> }>;
  /** Whether the last call that had an answer from a connection, or none, had one. False before the first. */
  readonly healthy: boolean;
  /** Lets statements in flight finish for a second, then closes all connections. */
  close(): Promise<void>;
}

/** How to connect. */
export interface ConnectOptions {
  url: string;
  /** Default 10. */
  maxConnections?: number;
  /** Shown in `pg_stat_activity`. Default `uptuple`. */
  applicationName?: string;
  /** The server ends a statement after this long, in ms. Default 15000. */
  statementTimeoutMs?: number;
  /** A call fails after this long, in ms; longer than the statement's timeout. Default 5000 more than that. */
  deadlineMs?: number;
}

const logger = getLogger(["uptuple", "database"]);
/** Statements that are in flight when the pool is replaced may finish for this long, in seconds. */
const FAREWELL_SECONDS = 5;

/**
 * Opens the database. Nothing connects before the first call, and no failure is final: each call tries anew.
 *
 * It guards against the faults of postgres.js 3.4.9. A socket that dies while a write waits in its buffer leaves a slot of
 * the pool that never sends again: so each call has a deadline, and any sign of a broken connection replaces the whole
 * pool. A socket that dies in a client-side transaction throws where nobody can catch it: so there are no such
 * transactions, and `surviveDriverCrashes` knows that stack.
 *
 * @throws {DatabaseUrlError} If the URL cannot be used.
 */
export function connect(options: ConnectOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? 15_000;
  const deadlineMs = options.deadlineMs ?? statementTimeoutMs + 5_000;
  if (deadlineMs <= statementTimeoutMs) {
    throw new RangeError(
      `deadlineMs is ${deadlineMs} and statementTimeoutMs ${statementTimeoutMs}: the deadline must be longer, ` +
        `so that the server has given up a statement when we do.`,
    );
  }
  const target = parseDatabaseUrl(options.url);
  const applicationName = options.applicationName ?? "uptuple";
  const open = () =>
    openClient(options.url, {
      maxConnections: options.maxConnections ?? 10,
      applicationName,
      statementTimeoutMs,
      connectTimeoutMs: Math.min(10_000, deadlineMs),
      idleTimeoutMs: 5 * 60_000,
    });
  const listeners = new Set<{ unlisten(): Promise<void> }>();
  let pool = open();
  let healthy = false;
  let closed = false;

  const replace = (broken: Sql) => {
    if (broken !== pool || closed) return;
    pool = open();
    broken.end({ timeout: FAREWELL_SECONDS }).catch(() => {});
  };
  const ignoreCrashes = onDriverCrash(() => replace(pool));

  const database: Database = {
    async query<Row extends object>(text: TemplateStringsArray, ...values: unknown[]) {
      if (closed) throw new DatabaseUnavailableError("The database was closed.");
      const used = pool;
      try {
        const rows = await withDeadline<Row[]>(used(text, ...values.map(safeJson) as never[]), deadlineMs);
        if (!healthy) logger.info("The database answers.");
        healthy = true;
        return rows;
      } catch (error) {
        const kind = classifyConnectionError(error);
        if (kind === null) {
          healthy = true;
          throw error;
        }
        if (kind === "broken") replace(used);
        const reason = error instanceof Error ? error.message : String(error);
        if (healthy) logger.warn("The database is unavailable: {reason}", { reason });
        healthy = false;
        throw new DatabaseUnavailableError(`The database is unavailable: ${reason}`, { cause: error });
      }
    },
    listen(channel, onMessage, onReady = () => {}) {
      if (target.transactionPooler) return Promise.resolve({ unlisten: () => Promise.resolve() });
      const listener = keepListening({ url: options.url, applicationName, channel, onMessage, onReady, database });
      const handle = {
        async unlisten() {
          listeners.delete(handle);
          await listener.stop();
        },
      };
      listeners.add(handle);
      return Promise.resolve(handle);
    },
    get healthy() {
      return healthy;
    },
    async close() {
      if (closed) return;
      await Promise.all([...listeners].map((listener) => listener.unlisten()));
      closed = true;
      ignoreCrashes();
      await pool.end({ timeout: 1 });
    },
  };
  return database;
}

/** Rejects with a connection error when the time is over; the driver may never settle its promise. */
export async function withDeadline<Result>(work: PromiseLike<Result>, deadlineMs: number): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(Object.assign(new Error(`no answer within ${deadlineMs} ms`), { code: "DEADLINE" }));
    }, deadlineMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
    // Whatever the driver says after the deadline has nobody to hear it.
    Promise.resolve(work).catch(() => {});
  }
}
