/**
 * `deno task bench:queue`: claim and complete, as Uptuple does it and as pg-boss 12 and graphile-worker 0.18 do, on the same server in
 * the same run, each in its best documented batches and one job at a time, with two clients each. Uptuple's part includes what the
 * others do not do: result, state, streak and the decision about an incident.
 *
 * A fresh embedded server, fsync on, in a temporary directory. Each contender is a process of its own with a database of its own; they
 * take turns, and a first round is not counted. About a minute.
 *
 * Options: --rounds 5, --jobs 20000 (a round, in batches), --single-jobs 1000 (a round, one at a time).
 */
import type { Drained, Mode } from "./bench/contender.ts";
import { median, numberOption, printTable, whole } from "./bench/numbers.ts";
import { type Program, startProgram } from "./bench/program.ts";
import { type BenchServer, startBenchServer } from "./bench/server.ts";

interface Competitor {
  name: string;
  /** Where its program is, from the directory bench, and thereby whose packages it sees. */
  program: string;
}

/** One whose program runs. */
interface Contender {
  name: string;
  program: Program<object>;
}

const COMPETITORS: Competitor[] = [
  { name: "uptuple", program: "uptuple.ts" },
  { name: "pg-boss", program: "rivals/pg_boss.ts" },
  { name: "graphile-worker", program: "rivals/graphile_worker.ts" },
];

/** One drain, with what it took on both sides. */
interface Measure extends Drained {
  serverCpuMs: number;
  walBytes: number;
}

async function main(args: string[]): Promise<void> {
  const rounds = numberOption(args, "rounds", 5);
  const sizes: Record<Mode, number> = {
    batch: numberOption(args, "jobs", 20_000),
    single: numberOption(args, "single-jobs", 1_000),
  };
  await using server = await startBenchServer();
  await using stack = new AsyncDisposableStack();
  const contenders: Contender[] = [];
  for (const [index, { name, program }] of COMPETITORS.entries()) {
    const url = await server.createDatabase(`contender_${index}`);
    contenders.push({ name, program: stack.use(await startProgram<object>(program, { args: [url] })) });
  }

  const [version] = await server.admin<{ version: string }[]>`select current_setting('server_version') as version`;
  console.log(
    `PostgreSQL ${version?.version}, fsync on, ${navigator.hardwareConcurrency} cores shared with the clients, ${rounds} rounds`,
  );
  // The few jobs first: what vacuum does after the many would count as theirs.
  for (const mode of ["single", "batch"] as const) {
    const measures = new Map(contenders.map((contender) => [contender, [] as Measure[]]));
    for (let round = 0; round <= rounds; round++) {
      for (const contender of rotate(contenders, round)) {
        const measure = await measureDrain(server, contender, mode, sizes[mode]);
        if (round > 0) measures.get(contender)?.push(measure);
      }
    }
    report(mode, sizes[mode], measures);
  }
}

async function measureDrain(
  server: BenchServer,
  { name, program }: Contender,
  mode: Mode,
  jobs: number,
): Promise<Measure> {
  await program.ask({ fill: jobs });
  const [cpu, wal] = [server.cpuMs(), await server.walBytes()];
  const drained = await program.ask<Drained>({ drain: mode });
  if (drained.jobs !== jobs) throw new Error(`${name} drained ${drained.jobs} jobs of ${jobs}.`);
  return { ...drained, serverCpuMs: server.cpuMs() - cpu, walBytes: await server.walBytes() - wal };
}

/** Whoever goes first has the cooler machine: it is another one in each round. */
function rotate<Item>(items: Item[], by: number): Item[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

function report(mode: Mode, jobs: number, measures: Map<Contender, Measure[]>): void {
  const rate = ({ jobs, ms }: Measure) => jobs / ms * 1000;
  const ours = [...measures.values()][0]?.map(rate) ?? [];
  console.log(
    `\n${mode === "batch" ? "In batches" : "One at a time"}, ${whole(jobs)} jobs a round: medians (lowest to highest)`,
  );
  printTable(
    ["", "jobs/s", "", "uptuple is", "server CPU us/job", "client CPU us/job", "WAL bytes/job"],
    [...measures].map(([{ name }, each]) => {
      const rates = each.map(rate);
      const perJob = (value: (measure: Measure) => number) =>
        whole(median(each.map((measure) => value(measure) / measure.jobs)));
      return [
        name,
        whole(median(rates)),
        `(${whole(Math.min(...rates))} to ${whole(Math.max(...rates))})`,
        `${(median(ours) / median(rates)).toFixed(2)} x`,
        perJob(({ serverCpuMs }) => serverCpuMs * 1000),
        perJob(({ clientCpuMs }) => clientCpuMs * 1000),
        perJob(({ walBytes }) => walBytes),
      ];
    }),
  );
}

if (import.meta.main) await main(Deno.args);
