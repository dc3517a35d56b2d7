import process from "node:process";
import { answerLines } from "./program.ts";

/** How a contender takes its jobs: in its best batches, or one at a time. */
export type Mode = "batch" | "single";

/** A queue under test, as `bench:queue` drives it. */
export interface Contender {
  /** Puts jobs into the queue, all of them due. Not measured. */
  fill(jobs: number): Promise<void>;
  /**
   * Claims and completes all jobs in the queue, with two clients, and says how many there were.
   *
   * @param begun To be called once its clients are ready and the first claim may go out: the clock starts then.
   */
  drain(mode: Mode, begun: () => void): Promise<number>;
  close(): Promise<void>;
}

/** What one drain took. */
export interface Drained {
  jobs: number;
  /** From the first claim to the last acknowledged completion, in ms. */
  ms: number;
  /** CPU that the client's process took, in ms. */
  clientCpuMs: number;
}

/** Told to a contender, a line of JSON each. */
export type Command = { fill: number } | { drain: Mode };

/**
 * Runs a contender as a program of its own: the URL of the database is its argument, commands come in as lines of JSON, answers go
 * out likewise. It ends with its standard input.
 *
 * @param open Prepares the queue in an empty database.
 */
export async function serve(open: (url: string) => Promise<Contender>): Promise<void> {
  const [url] = Deno.args;
  if (url === undefined) throw new Error("The first argument is the URL of an empty database.");
  const contender = await open(url);
  await answerLines<Command>({ ready: true }, (command) => obey(contender, command));
  await contender.close();
}

async function obey(contender: Contender, command: Command): Promise<Drained | { filled: number }> {
  if ("fill" in command) {
    await contender.fill(command.fill);
    return { filled: command.fill };
  }
  let cpuBefore = process.cpuUsage();
  let startedAt = performance.now();
  const jobs = await contender.drain(command.drain, () => {
    cpuBefore = process.cpuUsage();
    startedAt = performance.now();
  });
  const ms = performance.now() - startedAt;
  const cpu = process.cpuUsage(cpuBefore);
  return { jobs, ms, clientCpuMs: (cpu.user + cpu.system) / 1000 };
}

/**
 * Runs a loop on each of two clients until both say that nothing is left.
 *
 * @param next Claims and completes once, and says how many jobs that were.
 */
export async function drainWithTwoClients(next: (client: 0 | 1) => Promise<number>): Promise<number> {
  const loop = async (client: 0 | 1) => {
    let total = 0;
    for (;;) {
      const jobs = await next(client);
      if (jobs === 0) return total;
      total += jobs;
    }
  };
  const [first, second] = await Promise.all([loop(0), loop(1)]);
  return first + second;
}
