import { getLogger } from "@logtape/logtape";
import type { Config } from "./config.ts";
import type { Database } from "./database/connect.ts";
import type { EmbeddedServer } from "./database/embedded.ts";
import { lateDatabase } from "./database/late.ts";
import { openDatabase, StartError } from "./database/open.ts";
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
/** How often the program's own server is looked after while it does not answer, in ms. */
const REVIVE_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;

/** @param config What to do. */
export function createProgram(config: Config): Program {
  const database = lateDatabase();
  const stopping = new AbortController();
  let runtime: Runtime | null = null;
  let server: EmbeddedServer | null = null;

  async function open(): ReturnType<typeof openDatabase> {
    for (let retryMs = 1000;; retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)) {
      try {
        return await openDatabase(config);
      } catch (error) {
        if (!config.onDeploy || !(error instanceof StartError)) throw error;
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
      const opened = await open();
      server = opened.server;
      if (stopping.signal.aborted) {
        await opened.database.close();
        return await server?.stop();
      }
      database.open(opened.database);
      runtime = createRuntime(config, opened, (name) => Deno.env.get(name));
      void program.tick();
      if (server !== null) void keepServerAlive(server);
      await welcome(config, opened);
    },
    tick: () => guarded("The work of a tick", (work) => work.tick()),
    heartbeat: () => guarded("The heartbeat", (work) => work.heartbeat()),
    async stop() {
      stopping.abort();
      await within(STOP_LIMIT_MS, runtime?.stop());
      await within(1000, database.close());
      await server?.stop();
    },
  };
  return program;
}

async function within(limitMs: number, work: Promise<void> | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([work, limit]).catch((error) => logger.warn("Stopping: {error}", { error }));
  clearTimeout(timer);
}
