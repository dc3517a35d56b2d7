/** The probe of the runtime, as a program of its own that probes one URL at a steady rate. */
import { probe } from "../../src/jobs/probe.ts";
import { secretStore } from "../../src/secrets.ts";
import { atRate } from "./pace.ts";
import { answerLines } from "./program.ts";

/** Told to the prober. */
export interface ProberCommand {
  url: string;
  perSecond: number;
  seconds: number;
}

/** What became of it. */
export interface Probed {
  up: number;
  /** What was wrong with the first one that was not up. */
  failure?: string;
}

const options = { signal: new AbortController().signal, secrets: secretStore(() => undefined) };

async function run({ url, perSecond, seconds }: ProberCommand): Promise<Probed> {
  const probed: Probed = { up: 0 };
  await atRate(perSecond, seconds, async () => {
    const outcome = await probe({ kind: "http", target: url, config: {}, timeoutMs: 5000 }, options);
    if ("observation" in outcome && outcome.observation.status === 200) probed.up += 1;
    else probed.failure ??= JSON.stringify(outcome);
  });
  return probed;
}

await answerLines({}, run);
