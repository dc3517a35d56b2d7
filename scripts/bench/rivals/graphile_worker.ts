/**
 * graphile-worker as a contender of `bench:queue`. Batches: as on its performance page, a local queue of 500 and completions that are
 * batched without delay. One at a time: two workers without either. Its jobs do nothing.
 */
import { Logger, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { type Contender, type Mode, serve } from "../contender.ts";

const TASK = "check";
const logger = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

async function open(url: string): Promise<Contender> {
  await runMigrations({ connectionString: url, logger });
  const filler = new pg.Client({ connectionString: url });
  await filler.connect();
  let filled = 0;
  return {
    async fill(jobs) {
      await filler.query(
        `select graphile_worker.add_jobs(array(
           select ($1, json_build_object('service', number), null, null, null, null, null, null)::graphile_worker.job_spec
           from generate_series(1, $2::integer) number
         ))`,
        [TASK, jobs],
      );
      filled = jobs;
    },
    drain: (mode, begun) => work(url, mode, filled, begun),
    close: () => filler.end(),
  };
}

/** The clock starts when the runner is up, by when it has jobs in hand already. */
async function work(url: string, mode: Mode, jobs: number, begun: () => void): Promise<number> {
  const batching = {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  };
  let left = jobs;
  const { promise: allRun, resolve } = Promise.withResolvers<void>();
  const runner = await run({
    preset: {
      worker: {
        connectionString: url,
        pollInterval: 100,
        ...(mode === "batch" ? batching : { concurrentJobs: 2, maxPoolSize: 3 }),
      },
    },
    logger,
    noHandleSignals: true,
    taskList: {
      [TASK]: () => {
        left -= 1;
        if (left === 0) resolve();
        return Promise.resolve();
      },
    },
  });
  begun();
  await allRun;
  await runner.stop();
  return jobs;
}

await serve(open);
