import type { JobRow } from "./claimed_job.ts";

/** What a runtime has done since it last reported. */
export interface WorkDone {
  /** How late each claim was, in ms. */
  lateMs: number[];
  /** Claims of jobs whose last lease had ended without an answer. */
  leasesExpired: number;
  /** Completions by what they were answered. */
  outcomes: Record<string, number>;
}

/** Counts what a runtime does, until the database has taken it for the metrics. */
export interface WorkTally {
  claimed(row: Pick<JobRow, "late_ms" | "took_over">): void;
  completed(outcome: string): void;
  /** What was counted since the last call; counting begins anew. */
  take(): WorkDone;
  /** Counts what was taken and could not be reported. */
  giveBack(done: WorkDone): void;
}

/** While the database is away no more claims than this are remembered; then nothing is claimed either. */
const MOST_CLAIMS = 100_000;

/** Counts nothing yet. */
export function workTally(): WorkTally {
  let done = nothing();
  return {
    claimed({ late_ms, took_over }) {
      if (done.lateMs.length < MOST_CLAIMS) done.lateMs.push(late_ms);
      if (took_over) done.leasesExpired += 1;
    },
    completed(outcome) {
      done.outcomes[outcome] = (done.outcomes[outcome] ?? 0) + 1;
    },
    take() {
      const taken = done;
      done = nothing();
      return taken;
    },
    giveBack({ lateMs, leasesExpired, outcomes }) {
      done.lateMs = [...lateMs, ...done.lateMs].slice(0, MOST_CLAIMS);
      done.leasesExpired += leasesExpired;
      for (const [outcome, count] of Object.entries(outcomes)) {
        done.outcomes[outcome] = (done.outcomes[outcome] ?? 0) + count;
      }
    },
  };
}

function nothing(): WorkDone {
  return { lateMs: [], leasesExpired: 0, outcomes: {} };
}
