import { getLogger } from "@logtape/logtape";
import type { SecretStore } from "../secrets.ts";
import type { Transport } from "./http/transport.ts";
import type { NetworkPolicy } from "./network_policy.ts";
import type { ErrorCode, Observation } from "./observation.ts";
import { probe } from "./probe.ts";

/** What one canary answered, as `uptuple.report_worker` takes it. */
export interface CanaryAnswer {
  /** Host and port, without what else its URL may hold. */
  host: string;
  observation: Pick<Observation, "status" | "error" | "timings">;
}

/** What a runtime knows of how well it sees. SQL decides whether it is believed. */
export interface SightFacts {
  /** Probes in a row, up to now, that nothing answered. */
  unanswered: number;
  /** What its canaries answered when they were tried last, if that has not been reported yet. */
  canary: CanaryAnswer[] | null;
}

/** What it works with. */
export interface SightOptions {
  /** URLs that answer whenever this runtime's network is well. None: only probes are counted. */
  canaries: readonly string[];
  secrets: SecretStore;
  policy: NetworkPolicy;
  transport: () => Promise<Transport>;
  /** Aborts when the runtime stops. */
  signal: AbortSignal;
}

/** Watches how well this runtime sees. */
export interface Sight {
  /** Takes note of what a probe saw. */
  note(observation: Pick<Observation, "error">): void;
  /** Tries the canaries if they were last tried too long ago. */
  refresh(): Promise<void>;
  /**
   * For when failures are about to be reported: tries the canaries if nothing answers any more.
   *
   * @returns Whether what is known should reach the database before the failures do.
   */
  lookTwice(): Promise<boolean>;
  facts(): SightFacts;
  /** The facts have reached the database. */
  reported(facts: SightFacts): void;
}

const logger = getLogger(["uptuple", "jobs"]);
/** Canaries that answered are tried again after this many ms, to the next report, and those that did not after half of it. */
const REFRESH_MS = 18_000;
/** Past this many failures in a row, canaries must have answered within this many ms to vouch for the network; before, within more. */
const MANY_UNANSWERED = 3;
const FRESH_MS = 2000;
const FRESH_ENOUGH_MS = 10_000;
/** A canary answers within this many ms. The first failures wait for it, with their leases running. */
const TIMEOUT_MS = 3000;
/** They say something about this runtime's settings and nothing about its network. */
const NOT_SENT: ReadonlySet<ErrorCode> = new Set(["secret.missing", "policy.denied"]);

/** @param options What to look at, and how. */
export function createSight(options: SightOptions): Sight {
  const { canaries } = options;
  let unanswered = 0;
  let news: CanaryAnswer[] | null = null;
  let triedAt = -Infinity;
  /** Decides only how soon they are tried and reported again. */
  let isFailing = false;
  let trying: Promise<void> | null = null;

  async function tryCanary(url: string): Promise<CanaryAnswer[]> {
    const request = { kind: "http" as const, target: url, config: { method: "GET" }, timeoutMs: TIMEOUT_MS };
    const { signal, secrets, policy } = options;
    const outcome = await probe(request, { signal, secrets, policy, transport: await options.transport() });
    // A probe that stalled or was stopped says nothing about the network.
    if (!("observation" in outcome)) return [];
    const { status, error, timings } = outcome.observation;
    const seen: CanaryAnswer["observation"] = { timings };
    if (status !== undefined) seen.status = status;
    if (error !== undefined) seen.error = error;
    return [{ host: new URL(url).host, observation: seen }];
  }

  async function tryAll(): Promise<void> {
    triedAt = performance.now();
    try {
      const answers = (await Promise.all(canaries.map(tryCanary))).flat();
      if (answers.length === 0) return;
      news = answers;
      isFailing = answers.every(({ observation }) =>
        observation.error !== undefined || (observation.status ?? 0) >= 400
      );
    } catch (error) {
      logger.warn("The canaries could not be tried: {error}", { error });
    }
  }

  /** Those who ask while they are being tried share the answer. */
  async function tryUnlessWithin(ms: number): Promise<void> {
    if (canaries.length === 0 || trying === null && performance.now() - triedAt < ms) return;
    await (trying ??= tryAll().finally(() => trying = null));
  }

  return {
    note({ error }) {
      if (error === undefined) unanswered = 0;
      else if (!NOT_SENT.has(error.code)) unanswered += 1;
    },
    refresh: () => tryUnlessWithin(isFailing ? REFRESH_MS / 2 : REFRESH_MS),
    async lookTwice() {
      if (unanswered === 0 || canaries.length === 0) return false;
      const trial = tryUnlessWithin(unanswered >= MANY_UNANSWERED ? FRESH_MS : FRESH_ENOUGH_MS);
      // Known to fail, they hold nobody up: what they answered last still holds.
      if (!isFailing) await trial;
      return isFailing || news !== null;
    },
    facts: () => ({ unanswered, canary: news }),
    reported({ canary }) {
      if (news === canary) news = null;
    },
  };
}
