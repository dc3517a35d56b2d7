/**
 * pg-boss as a contender of `bench:queue`. Its fastest documented way to drain a queue is `fetch` with a `batchSize` and `complete`
 * with all ids of the batch; supervision and schedules are off, so that nothing else runs.
 */
import { PgBoss } from "pg-boss";
import { type Contender, drainWithTwoClients, serve } from "../contender.ts";

const QUEUE = "checks";
const BATCH_SIZE = 200;

async function open(url: string): Promise<Contender> {
  const connect = async () => {
    const boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false });
    boss.on("error", (error) => console.error(error));
    await boss.start();
    return boss;
  };
  const clients: [PgBoss, PgBoss] = [await connect(), await connect()];
  await clients[0].createQueue(QUEUE);
  return {
    async fill(jobs) {
      for (let made = 0; made < jobs; made += 1000) {
        const batch = Array.from(
          { length: Math.min(1000, jobs - made) },
          (_, index) => ({ data: { service: made + index } }),
        );
        await clients[0].insert(QUEUE, batch);
      }
    },
    drain(mode, begun) {
      begun();
      return drainWithTwoClients(async (client) => {
        const jobs = await clients[client].fetch(QUEUE, { batchSize: mode === "batch" ? BATCH_SIZE : 1 });
        if (jobs.length > 0) await clients[client].complete(QUEUE, jobs.map(({ id }) => id));
        return jobs.length;
      });
    },
    async close() {
      await Promise.all(clients.map((client) => client.stop({ graceful: false })));
    },
  };
}

await serve(open);
