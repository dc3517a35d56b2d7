/** Uptuple as a contender of `bench:queue`: through the functions and the client that the runtime uses. */
import { openClient, type Sql } from "../../src/database/client.ts";
import { migrate } from "../../src/database/migrate.ts";
import type { JobRow } from "../../src/jobs/claimed_job.ts";
import { type Contender, drainWithTwoClients, serve } from "./contender.ts";
import { fillDueJobs, fillServices } from "./fill.ts";
import { cannedObservation } from "./observations.ts";

/** The largest batch that the runtime sends. */
const BATCH_SIZE = 200;
const INTERVAL_SECONDS = 3600;

async function open(url: string): Promise<Contender> {
  await migrate(url);
  const connect = () => openClient(url, { maxConnections: 1, applicationName: "bench" });
  const clients: [Sql, Sql] = [connect(), connect()];
  return {
    async fill(jobs) {
      await fillServices(clients[0], jobs, INTERVAL_SECONDS);
      await fillDueJobs(clients[0], jobs);
    },
    drain(mode, begun) {
      begun();
      return drainWithTwoClients((client) => claimAndComplete(clients[client], mode === "batch" ? BATCH_SIZE : 1));
    },
    async close() {
      await Promise.all(clients.map((client) => client.end()));
    },
  };
}

async function claimAndComplete(sql: Sql, batchSize: number): Promise<number> {
  const jobs = await sql<JobRow[]>`
    select job_id, scheduled_slot, owner_token, service, kind, target, config, timeout_ms, attempt, lease_ms
    from uptuple.claim_jobs('bench', ${batchSize}, 'default')`;
  if (jobs.length === 0) return 0;
  const completions = jobs.map(({ job_id, scheduled_slot, owner_token }) => ({
    ...{ job_id, scheduled_slot, owner_token },
    observation: cannedObservation(Number(job_id)),
  }));
  const answers = await sql<{ outcome: string }[]>`select * from uptuple.complete_jobs(${
    sql.json(completions as never)
  })`;
  const refused = answers.find(({ outcome }) => outcome !== "ACCEPTED");
  if (refused !== undefined) throw new Error(`A completion was answered ${refused.outcome}.`);
  return jobs.length;
}

await serve(open);
