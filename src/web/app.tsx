import { Hono } from "hono";
import { compress } from "hono/compress";
import type { Database } from "../database/connect.ts";
import type { AccessPolicy } from "./access.ts";
import { assetRoutes } from "./assets.ts";
import { badgeRoutes } from "./badges.ts";
import { dashboardRoutes } from "./dashboard_routes.tsx";
import { answerFailure, answerNotFound } from "./failure_page.tsx";
import { guardRoutes, viewerCheck } from "./guard.tsx";
import { healthRoutes } from "./health.ts";
import { heartbeatRoutes } from "./heartbeat.ts";
import { incidentRoutes } from "./incident/routes.ts";
import { metricsRoutes } from "./metrics.ts";
import { securityHeaders } from "./security_headers.ts";
import { serviceRoutes } from "./service_routes.tsx";
import { statusRoutes } from "./status/routes.tsx";
import type { WebEnvironment } from "./web_environment.ts";

/** What the web role is made of. */
export interface AppOptions {
  /** Logged in with any role that may read the views. It need not be reachable yet. */
  database: Pick<Database, "query">;
  /** Who may see the pages, as `accessPolicy` decided. */
  access: AccessPolicy;
  /** What asks for `/metrics` brings; null, the default, if whoever may see the pages may read the metrics. */
  metricsToken?: string | null;
  /** Where people reach the pages, for links in feeds; null, the default, for where each request says that it went. */
  publicUrl?: string | null;
}

/**
 * The web role: `/` with the current status of everything, a page for each service and incident, the public status pages and badges,
 * `/healthz` and `/readyz`, `/heartbeat/` for jobs that report by themselves, `/metrics`, and what asks for the viewer token.
 *
 * @returns The application. Serve it with `Deno.serve(options, app.fetch)`: the client's address comes as the second argument.
 */
export function createApp(options: AppOptions): Hono<WebEnvironment> {
  const { database, access, metricsToken = null, publicUrl = null } = options;
  const metrics = metricsRoutes(database, metricsToken);
  const nothing = new Hono<WebEnvironment>();

  return new Hono<WebEnvironment>()
    // Their documents are compressed and have their headers before anybody asks.
    .route("/", statusRoutes({ database, publicUrl: publicUrl?.replace(/\/+$/, "") ?? null }))
    .use(compress())
    .use(securityHeaders())
    .route("/", healthRoutes(database))
    .route("/", assetRoutes())
    .route("/", heartbeatRoutes(database))
    .route("/", badgeRoutes({ database, seesAll: viewerCheck(access) }))
    // A scraper with a token of its own needs nothing else.
    .route("/", metricsToken === null ? nothing : metrics)
    // What comes after this is nobody's who has no business here.
    .route("/", guardRoutes(access))
    .route("/", metrics)
    .route("/", dashboardRoutes(database))
    .route("/", serviceRoutes(database))
    .route("/", incidentRoutes(database))
    .notFound(answerNotFound)
    .onError(answerFailure);
}
