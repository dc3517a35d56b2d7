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
 * @param pending What the backend works on, if it may also have its answer without waiting.
 */
export async function untilBlocked(observer: TestSql, pid: number, pending?: Promise<unknown>): Promise<void> {
  let answered = false;
  const noteAnswer = () => {
    answered = true;
  };
  pending?.then(noteAnswer, noteAnswer);
  await until(`backend ${pid} waits for a lock`, async () => {
    const [row] = await observer<[{ blocked: boolean }]>`select cardinality(pg_blocking_pids(${pid})) > 0 as blocked`;
    return answered || row.blocked;
  });
}

/** Makes a connection fail when it waits for a lock for more than five seconds: for tests of what must not wait. */
export async function neverWait(connection: TestSql): Promise<void> {
  await connection`select set_config('lock_timeout', '5s', false)`;
}
