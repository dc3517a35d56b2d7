import { type Context, Hono } from "hono";
import type { Database } from "../database/connect.ts";
import { summaryOf } from "./latency_chart.tsx";
import { renderMessage } from "./message_page.tsx";
import { readHistories } from "./service_history.ts";
import { CHART_STRETCHES, type ChartStretch, readLatencies, readServicePage } from "./service_page.ts";
import { renderService } from "./service_view.tsx";
import type { WebEnvironment } from "./web_environment.ts";

/** A chart of a day has hardly a point for a service that is younger than this, in ms. */
const YOUNG_MS = 6 * 3_600_000;

/**
 * `/services/<name>`, the page of a service, and `/services/<name>/latency`, the points of its chart as JSON; both take `range`.
 *
 * @param database Logged in with any role that may read the views.
 */
export function serviceRoutes(database: Pick<Database, "query">): Hono<WebEnvironment> {
  async function answerPage(context: Context<WebEnvironment>, service: string) {
    const page = await readServicePage(database, service);
    if (page === null) return noSuchService(context, service);
    const isYoung = Date.parse(page.now) - Date.parse(page.created_at) < YOUNG_MS;
    const stretch = stretchOf(context.req.query("range"), isYoung ? "1h" : "24h");
    const [histories, points] = await Promise.all([
      readHistories(database, [service]),
      readLatencies(database, service, stretch),
    ]);
    return context.html(renderService({
      page,
      history: histories.get(service),
      stretch,
      points,
      live: context.req.query("refresh") !== "off",
      signedIn: context.get("signedIn") === true,
      query: new URL(context.req.url).search,
    }));
  }

  async function answerLatencies(context: Context<WebEnvironment>, service: string) {
    const stretch = stretchOf(context.req.query("range"), "24h");
    try {
      const points = await readLatencies(database, service, stretch);
      return context.json({ range: stretch, summary: summaryOf(points), points });
    } catch (error) {
      if ((error as { code?: unknown }).code !== "UT001") throw error;
      return context.json({ error: "There is no service of that name." }, 404);
    }
  }

  return new Hono<WebEnvironment>()
    // Names that cannot stand in a path: servicePath knows them.
    .get("/services", (context) => answerPage(context, context.req.query("name") ?? ""))
    .get("/services/latency", (context) => {
      const name = context.req.query("name");
      return name === undefined ? answerPage(context, "latency") : answerLatencies(context, name);
    })
    .get("/services/:name", (context) => answerPage(context, context.req.param("name")))
    .get("/services/:name/latency", (context) => answerLatencies(context, context.req.param("name")));
}

function stretchOf(range: string | undefined, otherwise: ChartStretch): ChartStretch {
  return range !== undefined && Object.hasOwn(CHART_STRETCHES, range) ? range as ChartStretch : otherwise;
}

function noSuchService(context: Context<WebEnvironment>, service: string): Response | Promise<Response> {
  const page = renderMessage({
    icon: "unknown",
    heading: "There is no such service",
    text: [
      `Nothing is watched under the name ${service}. It may have been removed, or renamed.`,
      "All that are watched are on the first page.",
    ],
  });
  return context.html(page, 404);
}
