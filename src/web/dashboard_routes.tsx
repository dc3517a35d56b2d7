import { Hono } from "hono";
import type { Database } from "../database/connect.ts";
import { readDashboard, readDashboardMark } from "./dashboard.ts";
import { renderDashboard } from "./dashboard_page.tsx";
import { liveFeed } from "./live_feed.ts";
import { changedParts } from "./live_parts.tsx";
import { readFilter } from "./service_filter.ts";
import { historyReader } from "./service_history.ts";
import { shareCalls } from "./shared_call.ts";
import type { WebEnvironment } from "./web_environment.ts";

/** How long a page waits for the database, in ms. */
const PAGE_DEADLINE_MS = 5_000;
/** How soon viewers are told of a change, in ms. */
const LOOK_MS = 1_000;

/**
 * `/`, the current status of everything, and `/live`, which tells browsers what changes on it as server-sent events.
 *
 * @param database Logged in with any role that may read the views.
 */
export function dashboardRoutes(database: Pick<Database, "query">): Hono<WebEnvironment> {
  const current = shareCalls(() => readDashboard(database), PAGE_DEADLINE_MS);
  const history = historyReader(database);
  const feed = liveFeed({
    lookMs: LOOK_MS,
    readMark: () => readDashboardMark(database),
    readView: async () => {
      const [dashboard, histories] = await Promise.all([current(), history()]);
      return { mark: dashboard.mark, view: { dashboard, histories } };
    },
    difference: (before, after) => {
      const parts = changedParts(before.dashboard, after.dashboard, after.histories ?? new Map());
      return parts === null ? null : JSON.stringify(parts);
    },
  });

  return new Hono<WebEnvironment>()
    .get("/", async (context) => {
      const [dashboard, histories] = await Promise.all([current(), history()]);
      return context.html(renderDashboard({
        dashboard,
        histories,
        filter: readFilter((name) => context.req.query(name)),
        live: context.req.query("refresh") !== "off",
        signedIn: context.get("signedIn") === true,
        query: new URL(context.req.url).search,
      }));
    })
    .get("/live", (context) => {
      const stream = feed.join(context.req.header("last-event-id") ?? context.req.query("mark") ?? "");
      if (stream === null) {
        context.header("Retry-After", "30");
        return context.text("Too many viewers are here already.\n", 503);
      }
      context.header("Content-Type", "text/event-stream; charset=utf-8");
      // Proxies that gather answers before they pass them on would keep the news to themselves.
      context.header("X-Accel-Buffering", "no");
      return context.body(stream);
    });
}
