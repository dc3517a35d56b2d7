import { getLogger } from "@logtape/logtape";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import { retryUntilLeaseEnds } from "../database/retry.ts";
import type { Transport } from "../jobs/http/transport.ts";
import type { NetworkPolicy } from "../jobs/network_policy.ts";
import type { SecretStore } from "../secrets.ts";
import type { Shift } from "../shift.ts";
import { createWake } from "../wake.ts";
import { type ClaimedNotice, claimedNotice, type DeliveryAnswer, type NoticeRow } from "./notice.ts";
import { PostStoppedError } from "./post_notice.ts";
import { sendNotice } from "./send_notice.ts";

/** What the loop works with. */
export interface AlertLoopOptions {
  database: Database;
  worker: string;
  secrets: SecretStore;
  /** Chooses how requests are carried. */
  transport: () => Promise<Transport>;
  /** What may be connected to. */
  policy: NetworkPolicy;
}

/** Claims notices that are ready, posts them, and reports what their receivers said, until its shift is over. */
export interface AlertLoop {
  run(shift: Shift): Promise<void>;
  /** Looks for ready notices now; called when NOTIFY hints at one. */
  wake(): void;
}

const logger = getLogger(["uptuple", "alerts"]);
/** Posts under way at once, over all channels; SQL allows four for each. */
const SLOTS = 32;
/** The longest sleep between two looks, in ms: NOTIFY is a hint only. */
const POLL_MS = 1000;
/** How long posts may still be answered when the program stops, in ms; then their leases run out. */
const FAREWELL_MS = 2000;

/** @param options What to work with. */
export function createAlertLoop({ database, worker, secrets, transport, policy }: AlertLoopOptions): AlertLoop {
  const wake = createWake();
  const running = new Set<Promise<void>>();

  async function claim(free: number): Promise<ClaimedNotice[]> {
    const askedAt = performance.now();
    const rows = await database.query<NoticeRow>`select * from uptuple.claim_alerts(${worker}, ${free})`;
    return rows.map((row) => claimedNotice(row, askedAt));
  }

  async function deliver(notice: ClaimedNotice, stop: AbortSignal): Promise<void> {
    const answer = await sendNotice(notice, { secrets, signal: stop, transport: await transport(), policy });
    const outcome = await finish(notice, answer);
    const facts = {
      channel: notice.channel,
      kind: notice.kind,
      event: notice.eventId,
      attempt: notice.attempt,
      trace: notice.trace,
      answered: "error" in answer ? answer.error.code : answer.status,
      latencyMs: answer.latency_ms,
      outcome,
    };
    const line = "{kind} to {channel}, attempt {attempt}: {outcome} ({answered}, {latencyMs} ms)";
    if (outcome === "DELIVERED") logger.info(line, facts);
    else logger.warn(line, facts);
  }

  async function finish(notice: ClaimedNotice, answer: DeliveryAnswer): Promise<string> {
    const [row] = await retryUntilLeaseEnds(notice.leaseEnd, "finish_alert", () =>
      database.query<{ outcome: string }>`
        select uptuple.finish_alert(${notice.deliveryId}, ${notice.claimToken}, ${answer}) as outcome`);
    return row?.outcome ?? "REFUSED";
  }

  async function giveBack(notice: ClaimedNotice): Promise<void> {
    await database.query`select uptuple.release_alerts(${[notice.deliveryId]}, ${[notice.claimToken]})`;
  }

  function start(notice: ClaimedNotice, stop: AbortSignal): void {
    const task = deliver(notice, stop)
      .catch(async (error) => {
        if (!(error instanceof PostStoppedError) || error.sent) throw error;
        await giveBack(notice);
      })
      .catch((error) => {
        // Whether it arrived is not known. The lease runs out, and whoever claims the notice then sends it again under the same id.
        const facts = { channel: notice.channel, trace: notice.trace, error };
        logger.warn("A notice to {channel} was left to its lease: {error}", facts);
      })
      .finally(() => {
        running.delete(task);
        wake.now();
      });
    running.add(task);
  }

  async function run(shift: Shift): Promise<void> {
    const stop = new AbortController();
    while (!shift.over) {
      try {
        const free = SLOTS - running.size;
        const notices = free > 0 ? await claim(free) : [];
        for (const notice of notices) start(notice, stop.signal);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError)) logger.error("Claiming notices failed: {error}", { error });
      }
      await wake.sleep(POLL_MS, shift.stopped);
    }
    const farewell = shift.stopped.aborted ? setTimeout(() => stop.abort(), FAREWELL_MS) : undefined;
    await Promise.all(running);
    clearTimeout(farewell);
  }

  return { run, wake: wake.now };
}
