import { type Context, Hono } from "hono";
import type { Database } from "../database/connect.ts";
import { escapeXml } from "./escape_xml.ts";
import { etagOf, matchesEtag } from "./etag.ts";
import { answerNotFound } from "./failure_page.tsx";
import type { WebEnvironment } from "./web_environment.ts";

/** What badges are made of. */
export interface BadgeRoutesOptions {
  database: Pick<Database, "query">;
  /** Whether a request may see every service, and not only those on a status page. */
  seesAll(context: Context<WebEnvironment>): Promise<boolean>;
}

/** A row of `uptuple.badge`. */
export interface Badge {
  label: string;
  message: string;
  color: keyof typeof COLORS;
}

/** The colours of shields.io by their names. */
const COLORS = {
  brightgreen: "#4c1",
  green: "#97ca00",
  yellowgreen: "#a4a61d",
  yellow: "#dfb317",
  orange: "#fe7d37",
  red: "#e05d44",
  lightgrey: "#9f9f9f",
} as const;

const KINDS = ["status", "uptime", "latency"];
const STRETCHES = ["24h", "7d", "30d", "90d"];
const MAX_AGE_SECONDS = 60;
/** A label of one's own is cut to this many characters. */
const LABEL_LENGTH = 60;

/**
 * `/badge/<service>/status.svg`, `/badge/<service>/uptime.svg` and `/badge/<service>/latency.svg`, the last two with `?range=` 24h (default), 7d, 30d or
 * 90d, and each also as `.json`, which shields.io takes as an endpoint. `?label=` sets what stands on the left. Open to everybody for services that
 * a status page shows; all others are the grey `unknown` that services are which do not exist.
 */
export function badgeRoutes({ database, seesAll }: BadgeRoutesOptions): Hono<WebEnvironment> {
  return new Hono<WebEnvironment>().get("/badge/:service/:file{[a-z]+\\.(svg|json)}", async (context) => {
    const [kind = "", form = ""] = context.req.param("file").split(".");
    const stretch = context.req.query("range") ?? "24h";
    if (!KINDS.includes(kind) || !STRETCHES.includes(stretch)) return await answerNotFound(context);

    const onlyPublic = !await seesAll(context);
    const [badge] = await database.query<Badge>`
      select label, message, color from uptuple.badge(${
      context.req.param("service")
    }, ${kind}, ${stretch}, ${onlyPublic})`;
    if (badge === undefined) throw new Error("A badge had no row.");
    const label = context.req.query("label")?.slice(0, LABEL_LENGTH);
    if (label !== undefined) badge.label = label;

    const text = form === "svg" ? badgeSvg(badge) : JSON.stringify(shieldsEndpoint(badge));
    const etag = etagOf(text);
    context.header("ETag", etag);
    // What a signed-in viewer sees is no proxy's to keep.
    context.header("Cache-Control", `${onlyPublic ? "public" : "private"}, max-age=${MAX_AGE_SECONDS}`);
    context.header("Access-Control-Allow-Origin", "*");
    // Badges are shown in pages of other sites.
    context.header("Cross-Origin-Resource-Policy", "cross-origin");
    if (matchesEtag(context.req.header("if-none-match"), etag)) return context.body(null, 304);
    context.header("Content-Type", form === "svg" ? "image/svg+xml; charset=utf-8" : "application/json; charset=utf-8");
    return context.body(text);
  });
}

/** shields.io/endpoint */
function shieldsEndpoint({ label, message, color }: Badge) {
  return { schemaVersion: 1, label, message, color, isError: false, cacheSeconds: MAX_AGE_SECONDS };
}

/** A flat badge in the manner of shields.io. Without a font to measure, widths are those of Verdana at 11 px, character by character. */
export function badgeSvg({ label, message, color }: Badge): string {
  const left = Math.round(widthOf(label)) + 10;
  const right = Math.round(widthOf(message)) + 10;
  const title = escapeXml(`${label}: ${message}`);
  const text = (words: string, middle: number) =>
    `<text x="${middle}" y="15" fill="#010101" fill-opacity=".3" aria-hidden="true">${escapeXml(words)}</text>` +
    `<text x="${middle}" y="14">${escapeXml(words)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${
    left + right
  }" height="20" role="img" aria-label="${title}">` +
    `<title>${title}</title><clipPath id="r"><rect width="${
      left + right
    }" height="20" rx="3" fill="#fff"/></clipPath>` +
    `<g clip-path="url(#r)"><rect width="${left}" height="20" fill="#555"/>` +
    `<rect x="${left}" width="${right}" height="20" fill="${COLORS[color]}"/></g>` +
    `<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">` +
    `${text(label, left / 2)}${text(message, left + right / 2)}</g></svg>`;
}

const NARROW = new Set("fijlrtI.,:;!|'()[] ");
const WIDE = new Set("mwMW%@");

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    // Beyond Latin letters nothing is known; most are as wide as the font is high.
    if (character > "\u024f") width += 11;
    else width += NARROW.has(character) ? 4.4 : WIDE.has(character) ? 10.5 : 7;
  }
  return width;
}
