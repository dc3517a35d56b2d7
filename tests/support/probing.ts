import assert from "node:assert/strict";
import type { HttpConfig } from "../../src/jobs/http/request.ts";
import type { ErrorCode, Observation } from "../../src/jobs/observation.ts";
import { probe, type ProbeOptions, type ProbeOutcome } from "../../src/jobs/probe.ts";
import { secretStore } from "../../src/secrets.ts";

/** What a test may set beside the configuration. */
export interface ProbingOptions extends Partial<ProbeOptions> {
  timeoutMs?: number;
  /** The environment that secrets come from. Default: empty. */
  environment?: Record<string, string>;
}

/** Probes once, with a generous timeout. */
export function probeOnce(url: string, config: HttpConfig = {}, options: ProbingOptions = {}): Promise<ProbeOutcome> {
  const { timeoutMs = 5000, environment = {}, ...rest } = options;
  return probe({ kind: "http", target: url, config, timeoutMs }, {
    signal: new AbortController().signal,
    secrets: secretStore((name) => environment[name]),
    ...rest,
  });
}

/** Probes once and expects an observation. */
export async function observe(
  url: string,
  config: HttpConfig = {},
  options: ProbingOptions = {},
): Promise<Observation> {
  const outcome = await probeOnce(url, config, options);
  if (!("observation" in outcome)) assert.fail(`the probe gave no observation but ${JSON.stringify(outcome)}`);
  return outcome.observation;
}

/** Asserts that an observation has no error, and which status. */
export function assertAnswered(observation: Observation, status: number): void {
  assert.equal(observation.error, undefined, observation.error?.message);
  assert.equal(observation.status, status);
}

/** Asserts with which error an observation ended, and what its message says. */
export function assertFailed(observation: Observation, code: ErrorCode, message?: RegExp): void {
  assert.equal(observation.error?.code, code, `${observation.error?.code}: ${observation.error?.message}`);
  if (message !== undefined) assert.match(observation.error.message, message);
}
