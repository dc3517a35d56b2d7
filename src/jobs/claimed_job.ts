import type { HttpConfig } from "./http/request.ts";

/** A row of `uptuple.claim_jobs`. */
export interface JobRow {
  job_id: string;
  scheduled_slot: string;
  owner_token: string;
  service: string;
  kind: "http";
  target: string;
  config: HttpConfig;
  timeout_ms: number;
  attempt: number;
  lease_ms: number;
}

/** A job that this runtime has leased. */
export interface ClaimedJob {
  jobId: string;
  /** Start of the window, in epoch seconds. */
  scheduledSlot: string;
  ownerToken: string;
  service: string;
  kind: "http";
  target: string;
  config: HttpConfig;
  timeoutMs: number;
  attempt: number;
  /** When the lease ends, by this process's monotonic clock, in ms: counted from before the claim, so never too late. */
  leaseEnd: number;
  /** Ties the lines of a claim to those of its completion; 32 hex digits. */
  trace: string;
}

/**
 * @param row As SQL gave it.
 * @param askedAt `performance.now()` before the claim was sent.
 */
export function claimedJob(row: JobRow, askedAt: number): ClaimedJob {
  return {
    jobId: row.job_id,
    scheduledSlot: row.scheduled_slot,
    ownerToken: row.owner_token,
    service: row.service,
    kind: row.kind,
    target: row.target,
    config: row.config,
    timeoutMs: row.timeout_ms,
    attempt: row.attempt,
    leaseEnd: askedAt + row.lease_ms,
    trace: row.owner_token.replaceAll("-", ""),
  };
}
