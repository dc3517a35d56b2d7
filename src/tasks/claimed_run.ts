/** A row of `uptuple.claim_task`. */
export interface RunRow {
  run_id: string;
  token: string;
  task: string;
  fire_at: Date;
  function: string;
  statement_timeout_ms: string;
  lease_ms: string;
  trace_id: string;
}

/** A run of a task that this runtime has claimed. */
export interface ClaimedRun {
  runId: string;
  /** Fencing token, and the token of the task's lock. */
  token: string;
  task: string;
  fireAt: Date;
  function: string;
  statementTimeoutMs: number;
  /** When the lock runs out, by this process's monotonic clock, in ms: counted from before the claim, so never too late. */
  leaseEnd: number;
  /** Ties the lines of one run together; 32 hex digits, `trace_id` in `uptuple.task_runs`. */
  trace: string;
}

/**
 * @param row As SQL gave it.
 * @param askedAt `performance.now()` before the claim was sent.
 */
export function claimedRun(row: RunRow, askedAt: number): ClaimedRun {
  return {
    runId: row.run_id,
    token: row.token,
    task: row.task,
    fireAt: row.fire_at,
    function: row.function,
    statementTimeoutMs: Number(row.statement_timeout_ms),
    leaseEnd: askedAt + Number(row.lease_ms),
    trace: row.trace_id,
  };
}
