import type { ProbeFailure } from "../failure.ts";
import type { Observation } from "../observation.ts";

/** What a probe has to say beyond its trail. */
export interface Facts {
  /** Already without secrets. */
  observed: Partial<Observation>;
  /** What is wrong although there was an answer. */
  failure?: ProbeFailure;
  /** When the last byte that was needed came, in ms since the start. Default: now. */
  totalMs?: number;
}
