import { Hono } from "hono";
import type { Database } from "../../database/connect.ts";
import { answerNotFound } from "../failure_page.tsx";
import type { WebEnvironment } from "../web_environment.ts";
import { readIncidentPage } from "./incident_page.ts";
import { renderIncident } from "./incident_view.tsx";

/** `/incidents/<number>`: the page of an incident. */
export function incidentRoutes(database: Pick<Database, "query">): Hono<WebEnvironment> {
  return new Hono<WebEnvironment>().get("/incidents/:id{[0-9]{1,18}}", async (context) => {
    const page = await readIncidentPage(database, context.req.param("id"));
    if (page === null) return await answerNotFound(context);
    return context.html(renderIncident({
      page,
      live: context.req.query("refresh") !== "off",
      signedIn: context.get("signedIn") === true,
      query: new URL(context.req.url).search,
    }));
  });
}
