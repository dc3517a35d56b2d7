import { getLogger } from "@logtape/logtape";
import type { Config } from "./config.ts";
import type { Database } from "./database/connect.ts";
import type { EmbeddedServer } from "./database/embedded.ts";
import { lateDatabase } from "./database/late.ts";
import { type OpenDatabase, openDatabase, StartError } from "./database/open.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { createWake } from "./wake.ts";
import { welcome } from "./welcome.ts";

/** One process of Uptuple, from its start to its stop. */
export interface Program {
  /** Refuses calls as one that is down would, until `start` has opened it. */
  readonly database: Database;
  /**
   * Opens the database and begins to work.
   *
   * @throws {StartError} If the program cannot go on. On Deno Deploy it tries again instead.
   */
  start(): Promise<void>;
  /** What the crons call; each does nothing before the start is over. */
  tick(): Promise<void>;
  heartbeat(): Promise<void>;
  /** Gives back or finishes what is under way, and closes what was opened, within 5 s. */
  stop(): Promise<void>;
}

const logger = getLogger(["uptuple", "program"]);
/** Whoever asks a program to stop kills it 5 s later. */
const STOP_LIMIT_MS = 2_500;
/** A start that is under way may undo itself for this long, in ms, so that no server is left behind; nothing else is to be stopped then. */
const UNDO_LIMIT_MS = 4_500;
/** How often the program's own server is looked after while it does not answer, in ms. */
const REVIVE_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** @param config What to do. */
export function createProgram(config: Config): Program {
  const database = lateDatabase();
  const stopping = new AbortController();
  let runtime: Runtime | null = null;
  let opening: Promise<OpenDatabase> | null = null;

  async function open(): Promise<OpenDatabase> {
    for (let retryMs = 1000;; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
      try {
        return await openDatabase(config, stopping.signal);
      } catch (error) {
        if (!config.onDeploy || !(error instanceof StartError) || stopping.signal.aborted) throw error;
        logger.error("{message}", { message: error.message });
        await createWake().sleep(retryMs, stopping.signal);
      }
    }
  }

  async function keepServerAlive(own: EmbeddedServer): Promise<void> {
    const pause = createWake();
    while (!stopping.signal.aborted) {
      await pause.sleep(REVIVE_MS, stopping.signal);
      if (database.healthy || stopping.signal.aborted) continue;
      try {
        if (await own.revive()) logger.warn("The database server had died and was started again.");
      } catch (error) {
        logger.error("The database server died and cannot be started again: {error}", { error });
      }
    }
  }

  /** A cron's failure is a line in the log; the next tick tries again. */
  async function guarded(name: string, work: (runtime: Runtime) => Promise<void>): Promise<void> {
    if (runtime === null || stopping.signal.aborted) return;
    try {
      await work(runtime);
    } catch (error) {
      logger.warn("{name} failed: {error}", { name, error });
    }
  }

  const program: Program = {
    database,
    async start() {
      opening = open();
      const opened = await opening.catch((error) => {
        // Ctrl-C at a terminal also ends what a start runs.
        if (stopping.signal.aborted) return null;
        throw error;
      });
      if (opened === null || stopping.signal.aborted) return;
      database.open(opened.database);
      runtime = createRuntime(config, opened, (name) => Deno.env.get(name));
      void program.tick();
      if (opened.server !== null) void keepServerAlive(opened.server);
      await guarded("Setting the public URL", () => setPublicUrl(config, opened.database));
      await guarded("The welcome", () => welcome(config, opened));
    },
    tick: () => guarded("The work of a tick", (work) => work.tick()),
    heartbeat: () => guarded("The heartbeat", (work) => work.heartbeat()),
    async stop() {
      stopping.abort();
      const opened = await within(UNDO_LIMIT_MS, opening?.catch(() => undefined));
      await within(STOP_LIMIT_MS, runtime?.stop());
      await within(1000, opened?.database.close());
      await opened?.server?.stop();
    },
  };
  return program;
}

/** Says where people reach the pages, if the environment does. */
async function setPublicUrl({ publicUrl }: Config, database: Database): Promise<void> {
  if (publicUrl !== null) await database.query`select uptuple.set_public_url(${publicUrl})`;
}

/** What the work comes to; undefined if it fails, or is not done in time. */
async function within<Result>(limitMs: number, work: Promise<Result> | undefined): Promise<Result | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } catch (error) {
    logger.warn("Stopping: {error}", { error });
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
