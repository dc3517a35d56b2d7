import type { TestSql } from "./database.ts";
import { until } from "./wait.ts";

/** The process that serves a connection, as `untilBlocked` wants it. */
export async function backendOf(connection: TestSql): Promise<number> {
  const [row] = await connection<[{ pid: number }]>`select pg_backend_pid() as pid`;
  return row.pid;
}

/**
 * Waits until a backend waits for a lock that another one holds: then it has come as far as it can, and the interleaving that
 * a test wants is there.
 *
 * @param observer A third connection.
 */
export async function untilBlocked(observer: TestSql, pid: number): Promise<void> {
  await until(`backend ${pid} waits for a lock`, async () => {
    const [row] = await observer<[{ blocked: boolean }]>`select cardinality(pg_blocking_pids(${pid})) > 0 as blocked`;
    return row.blocked;
  });
}
