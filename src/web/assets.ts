import { createHash } from "node:crypto";
import { Hono } from "hono";
import uplotScript from "uplot/dist/uPlot.iife.min.js" with { type: "text" };
import uplotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import chart from "./chart.js" with { type: "text" };
import filter from "./filter.js" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import live from "./live.js" with { type: "text" };
import statusStyle from "./status/status.css" with { type: "text" };
import style from "./style.css" with { type: "text" };
import theme from "./theme.js" with { type: "text" };
import times from "./times.js" with { type: "text" };
import titles from "./titles.js" with { type: "text" };
import type { WebEnvironment } from "./web_environment.ts";

/** A file that pages refer to. */
interface Asset {
  /** Its address, with the digest of its content, so that browsers may keep it for ever. */
  href: string;
  path: string;
  digest: string;
  type: string;
  text: string;
}

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** The files that pages refer to. */
export const ASSETS = {
  icon: asset("/assets/icon.svg", "image/svg+xml", icon),
  style: asset("/assets/style.css", STYLE, style),
  statusStyle: asset("/assets/status.css", STYLE, statusStyle),
  theme: asset("/assets/theme.js", SCRIPT, theme),
  times: asset("/assets/times.js", SCRIPT, times),
  live: asset("/assets/live.js", SCRIPT, live),
  filter: asset("/assets/filter.js", SCRIPT, filter),
  titles: asset("/assets/titles.js", SCRIPT, titles),
  chart: asset("/assets/chart.js", SCRIPT, chart),
  uplotScript: asset("/assets/uplot.js", SCRIPT, uplotScript),
  uplotStyle: asset("/assets/uplot.css", STYLE, uplotStyle),
} as const;

/** The name of a file that pages refer to. */
export type AssetName = keyof typeof ASSETS;

/** Serves the files that pages refer to, to everybody: the page that asks for the token needs them too. */
export function assetRoutes(): Hono<WebEnvironment> {
  const routes = new Hono<WebEnvironment>();
  for (const { path, digest, type, text } of Object.values(ASSETS)) {
    routes.get(path, (context) => {
      // While releases differ, a page of the other one may ask here: it gets ours, and asks again next time.
      const isOurs = context.req.query("v") === digest;
      context.header("Cache-Control", isOurs ? "public, max-age=31536000, immutable" : "no-cache");
      context.header("Content-Type", type);
      return context.body(text);
    });
  }
  return routes;
}

function asset(path: string, type: string, text: string): Asset {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { href: `${path}?v=${digest}`, path, digest, type, text };
}
