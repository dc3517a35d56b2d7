import { Hono } from "hono";
import { accepts } from "hono/accepts";
import type { Database } from "../database/connect.ts";
import { shareCalls } from "./shared_call.ts";
import { bearerToken, tokenGate } from "./token_gate.ts";
import type { WebEnvironment } from "./web_environment.ts";

/** Prometheus gives up on a target after ten seconds. */
const SCRAPE_DEADLINE_MS = 8_000;

/** The formats of `/metrics` by their media types. */
const FORMATS = {
  "text/plain": "text/plain; version=0.0.4; charset=utf-8",
  "application/openmetrics-text": "application/openmetrics-text; version=1.0.0; charset=utf-8",
} as const;

type MediaType = keyof typeof FORMATS;

/**
 * `/metrics`: what `uptuple.metrics` says, as Prometheus text, or as OpenMetrics where `Accept` prefers that.
 *
 * @param token What a scraper brings as `Authorization: Bearer`; null if whoever gets here may read.
 */
export function metricsRoutes(database: Pick<Database, "query">, token: string | null): Hono<WebEnvironment> {
  const gate = token === null ? null : tokenGate(token, "metrics token");
  const read = {
    "text/plain": shareCalls(() => readMetrics(database, false), SCRAPE_DEADLINE_MS),
    "application/openmetrics-text": shareCalls(() => readMetrics(database, true), SCRAPE_DEADLINE_MS),
  };
  return new Hono<WebEnvironment>().get("/metrics", async (context) => {
    context.header("Cache-Control", "no-store");
    if (gate !== null) {
      const given = bearerToken(context);
      const refusal = given === undefined
        ? { status: 401, fault: "This asks for the metrics token: send it as Authorization: Bearer." } as const
        : gate.check(context, given);
      if (refusal !== null) {
        if (refusal.status === 401) context.header("WWW-Authenticate", 'Bearer realm="Uptuple metrics"');
        return context.text(`${refusal.fault}\n`, refusal.status);
      }
    }
    const type = accepts(context, {
      header: "Accept",
      supports: Object.keys(FORMATS),
      default: "text/plain",
    }) as MediaType;
    context.header("Vary", "Accept");
    context.header("Content-Type", FORMATS[type]);
    return context.body(await read[type]());
  });
}

async function readMetrics(database: Pick<Database, "query">, openMetrics: boolean): Promise<string> {
  const [row] = await database.query<{ metrics: string }>`select uptuple.metrics(${openMetrics}) as metrics`;
  if (row === undefined) throw new Error("A select without a table had no row.");
  return row.metrics;
}
