import type { Check } from "./kinds/check.ts";

/** A row of `uptuple.claim_jobs`. */
export type JobRow = Check & {
  job_id: string;
  scheduled_slot: string;
  owner_token: string;
  service: string;
  timeout_ms: number;
  attempt: number;
  lease_ms: number;
  /** Since it was due, in ms. */
  late_ms: number;
  /** Whether its last lease ended without an answer. */
  took_over: boolean;
};

/** A job that this runtime has leased. */
export type ClaimedJob = Check & {
  jobId: string;
  /** Start of the window, in epoch seconds. */
  scheduledSlot: string;
  ownerToken: string;
  service: string;
  timeoutMs: number;
  attempt: number;
  /** When the lease ends, by this process's monotonic clock, in ms: counted from before the claim, so never too late. */
  leaseEnd: number;
  /** Ties the lines of a claim to those of its completion; 32 hex digits. */
  trace: string;
};

/**
 * @param row As SQL gave it.
 * @param askedAt `performance.now()` before the claim was sent.
 */
export function claimedJob(row: JobRow, askedAt: number): ClaimedJob {
  // The cast holds what the row holds: a target and a configuration of its own kind.
  const { kind, target, config } = row;
  return {
    ...({ kind, target, config } as Check),
    jobId: row.job_id,
    scheduledSlot: row.scheduled_slot,
    ownerToken: row.owner_token,
    service: row.service,
    timeoutMs: row.timeout_ms,
    attempt: row.attempt,
    leaseEnd: askedAt + row.lease_ms,
    trace: row.owner_token.replaceAll("-", ""),
  };
}
