import assert from "node:assert/strict";
import type { Check } from "../../src/jobs/kinds/check.ts";
import type { Observation } from "../../src/jobs/observation.ts";
import { probe, type ProbeOptions, type ProbeOutcome } from "../../src/jobs/probe.ts";
import { secretStore } from "../../src/secrets.ts";

/** What a test may set beside the check. */
export interface CheckOptions extends Partial<ProbeOptions> {
  timeoutMs?: number;
  /** The environment that secrets come from. Default: empty. */
  environment?: Record<string, string>;
}

/** Runs a check once, with a generous timeout. */
export function checkOnce(check: Check, options: CheckOptions = {}): Promise<ProbeOutcome> {
  const { timeoutMs = 5000, environment = {}, ...rest } = options;
  return probe({ ...check, timeoutMs }, {
    signal: new AbortController().signal,
    secrets: secretStore((name) => environment[name]),
    ...rest,
  });
}

/** Runs a check once and expects an observation. */
export async function observeCheck(check: Check, options: CheckOptions = {}): Promise<Observation> {
  const outcome = await checkOnce(check, options);
  if (!("observation" in outcome)) assert.fail(`the probe gave no observation but ${JSON.stringify(outcome)}`);
  return outcome.observation;
}

/** Asserts that an observation has no error. */
export function assertReached(observation: Observation): void {
  assert.equal(observation.error, undefined, observation.error?.message);
  assert.equal(observation.connected, true);
}
