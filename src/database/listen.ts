import { openClient } from "./client.ts";

/** What a listener needs. */
export interface ListenerOptions {
  url: string;
  applicationName: string;
  channel: string;
  onMessage: (payload: string) => void;
  /** Called each time that listening has begun. */
  onReady: () => void;
  /** Sends the listener its own test message, on another connection. */
  database: { query(text: TemplateStringsArray, ...values: unknown[]): Promise<unknown[]> };
}

/** How often the listener sends itself a message, and how long it waits for it, in ms. */
const TEST_EVERY_MS = 30_000;
const TEST_ANSWER_MS = 5_000;
/** The pauses between attempts to connect, in ms. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

/**
 * Listens to a channel until it is stopped. The driver listens again by itself after most losses; for the others, such as a
 * connection that a firewall forgot, the listener sends itself a message every 30 s and starts over if it does not arrive.
 */
export function keepListening(options: ListenerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const done = listenUntil(stopping.signal, options);
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

async function listenUntil(stopping: AbortSignal, options: ListenerOptions): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  while (!stopping.aborted) {
    const worked = await listenOnce(stopping, options);
    pauseMs = worked ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    await pause(pauseMs, stopping);
  }
}

/** Listens with one client until it fails its test. @returns Whether it passed one before. */
async function listenOnce(stopping: AbortSignal, options: ListenerOptions): Promise<boolean> {
  const { url, applicationName, channel, database } = options;
  const client = openClient(url, { maxConnections: 1, applicationName: `${applicationName} listen` });
  const testChannel = `uptuple_test_${crypto.randomUUID().replaceAll("-", "")}`;
  let arrived: (payload: string) => void = () => {};
  let worked = false;
  try {
    await within(client.listen(channel, options.onMessage, options.onReady), TEST_ANSWER_MS, stopping);
    await within(client.listen(testChannel, (payload) => arrived(payload)), TEST_ANSWER_MS, stopping);
    while (!stopping.aborted) {
      const sent = crypto.randomUUID();
      const answer = new Promise<void>((resolve) => {
        arrived = (payload) => payload === sent && resolve();
      });
      await database.query`select pg_catalog.pg_notify(${testChannel}, ${sent})`;
      await within(answer, TEST_ANSWER_MS, stopping);
      worked = true;
      await pause(TEST_EVERY_MS, stopping);
    }
  } catch {
    // Whatever went wrong, the next client starts afresh; the calls on the pool report what is wrong with the database.
  } finally {
    await client.end({ timeout: 0 });
  }
  return worked;
}

/** @throws If the work is not done in time, or the listener is stopped. */
async function within<Result>(work: Promise<Result>, timeoutMs: number, stopping: AbortSignal): Promise<Result> {
  work.catch(() => {});
  const over = new AbortController();
  const late = pause(timeoutMs, AbortSignal.any([stopping, over.signal])).then(() => {
    throw new Error("too late");
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

/** Waits, or stops waiting when the signal says so. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish);
  });
}
