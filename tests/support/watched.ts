import type { TestDatabase, TestSql } from "./database.ts";
import { until } from "./wait.ts";

/** A target on loopback whose health a test decides, as a server of people's own would be. */
export interface SwitchableTarget extends AsyncDisposable {
  url: string;
  /** The status that it answers from now on. */
  answer(status: number): void;
  /** It takes requests from now on and does not answer them until it is told to `answer`. */
  hang(): void;
}

/** Starts one that answers 200. */
export function switchableTarget(): SwitchableTarget {
  let status = 200;
  let held = Promise.withResolvers<void>();
  held.resolve();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async () => {
    await held.promise;
    return new Response(null, { status });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/health`,
    answer(next) {
      status = next;
      held.resolve();
    },
    hang() {
      held = Promise.withResolvers();
    },
    async [Symbol.asyncDispose]() {
      held.resolve();
      await server.shutdown();
    },
  };
}

/** Watches the target every second under the name `inventory`, and tells the receiver through the channel `ops`. */
export async function watch(sql: TestSql, target: string, receiver: string): Promise<void> {
  await sql`select uptuple.add_service(name => 'inventory', url => ${target}, every => '1 second', timeout => '900 ms')`;
  await sql`select uptuple.add_channel(name => 'ops', url => ${receiver})`;
}

/** Waits until `uptuple.status` shows the service so. */
export async function untilStatus(sql: TestSql, status: string): Promise<void> {
  await until(`inventory is ${status}`, async () => {
    const [row] = await sql`select status from uptuple.status where service = 'inventory'`;
    return row.status === status;
  }, 30_000);
}

/** Waits until nothing waits to be sent. */
export async function untilDelivered(sql: TestSql, count: number): Promise<void> {
  await until(`${count} notices are delivered`, async () => {
    const [row] = await sql`select count(*)::integer as n from uptuple.delivery where state = 'DELIVERED'`;
    return row.n === count;
  }, 30_000);
}

/** What the promises of a monitor come down to. */
export interface Outcome {
  violations: { invariant: string; breach: string }[];
  /** Windows of the grid that have neither a verdict nor the name of a gap. */
  unexplained: number;
  /** Windows with a verdict. */
  verdicts: number;
}

/** Asks the database whether every promise was kept. */
export async function outcome(database: Pick<TestDatabase, "owner">): Promise<Outcome> {
  const violations = await database.owner<{ invariant: string; breach: string }[]>`
    select * from uptuple.invariant_violations`;
  const [windows] = await database.owner`
    select
      count(*) filter (where verdict is null and gap is null)::integer as unexplained,
      count(verdict)::integer as verdicts
    from uptuple.windows('inventory')`;
  return {
    violations: [...violations].map((row) => ({ invariant: row?.invariant ?? "", breach: row?.breach ?? "" })),
    unexplained: windows.unexplained,
    verdicts: windows.verdicts,
  };
}
