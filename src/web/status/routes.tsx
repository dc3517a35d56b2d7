import { type Context, Hono } from "hono";
import type { Database } from "../../database/connect.ts";
import { matchesEtag } from "../etag.ts";
import { answerNotFound } from "../failure_page.tsx";
import { renderMessage } from "../message_page.tsx";
import { secure, SECURITY_HEADERS } from "../security_headers.ts";
import type { WebEnvironment } from "../web_environment.ts";
import { maintenanceCalendar } from "./calendar.ts";
import { atomFeed, rssFeed } from "./feeds.ts";
import { type Document, type Published, publishedPages, type Reading } from "./published.ts";
import { DEFAULT_SLUG } from "./status_page.ts";
import { API_DOCUMENTS, apiDocument } from "./statuspage_api.ts";
import { renderStatusPage } from "./status_view.tsx";

/** What the routes of status pages work with. */
export interface StatusRoutesOptions {
  database: Pick<Database, "query">;
  /** Where people reach the pages, without a slash at its end; null: where the request says that it went. */
  publicUrl: string | null;
}

/** One form in which a page is sent. */
interface Form {
  type: string;
  /** How long others may keep it, in seconds. */
  maxAge: number;
  /** Whether pages of other sites may read it. */
  shared: boolean;
  /** @param base Without a slash at its end. @param path Of the page, below the base. */
  render(reading: Reading, base: string, path: string, self: string): string;
}

const SLUG = "[a-z0-9]+(?:-[a-z0-9]+)*";
const JSON_TYPE = "application/json; charset=utf-8";

const FORMS: Record<string, Form> = {
  "": {
    type: "text/html; charset=utf-8",
    maxAge: 10,
    shared: false,
    render: (reading, _base, path) => renderStatusPage(reading, path),
  },
  "/feed.atom": {
    type: "application/atom+xml; charset=utf-8",
    maxAge: 60,
    shared: true,
    render: ({ status }, base, path, self) => atomFeed(status, { page: base + path, self: base + self }),
  },
  "/feed.rss": {
    type: "application/rss+xml; charset=utf-8",
    maxAge: 60,
    shared: true,
    render: ({ status }, base, path, self) => rssFeed(status, { page: base + path, self: base + self }),
  },
  "/maintenance.ics": {
    type: "text/calendar; charset=utf-8",
    maxAge: 300,
    shared: true,
    render: ({ status }, base, path) => maintenanceCalendar(status, base + path),
  },
  ...Object.fromEntries(API_DOCUMENTS.map((document): [string, Form] => [`/api/v2/${document}.json`, {
    type: JSON_TYPE,
    maxAge: 10,
    shared: true,
    render: ({ status }, base, path) => JSON.stringify(apiDocument(document, status, base + path)),
  }])),
};

/**
 * The public status pages: `/status` and `/status/<slug>`, and below each `feed.atom`, `feed.rss`, `maintenance.ics`, `logo` and
 * `api/v2/*.json`; the API of the page at `/status` is at `/api/v2/*.json` too. Open to everybody, with what was chosen and nothing else.
 */
export function statusRoutes({ database, publicUrl }: StatusRoutesOptions): Hono<WebEnvironment> {
  const published = publishedPages(database);
  const routes = new Hono<WebEnvironment>()
    .get("/status/logo", (context) => sendLogo(context, database, DEFAULT_SLUG))
    .get(`/status/:slug{${SLUG}}/logo`, (context) => sendLogo(context, database, context.req.param("slug")));
  for (const [path, form] of Object.entries(FORMS)) {
    const send = (slug: string, page: string, context: Context<WebEnvironment>) =>
      sendDocument(context, { published, form, name: path, slug, page, base: publicUrl ?? originOf(context) });
    routes.get(`/status${path}`, (context) => send(DEFAULT_SLUG, "/status", context));
    if (path.startsWith("/api/")) routes.get(path, (context) => send(DEFAULT_SLUG, "/status", context));
    routes.get(`/status/:slug{${SLUG}}${path}`, (context) => {
      const slug = context.req.param("slug") ?? "";
      return slug === DEFAULT_SLUG ? answerNotFound(context) : send(slug, `/status/${slug}`, context);
    });
  }
  return routes;
}

interface Wanted {
  published: Published;
  form: Form;
  name: string;
  slug: string;
  /** The path of the page. */
  page: string;
  base: string;
}

async function sendDocument(context: Context<WebEnvironment>, wanted: Wanted): Promise<Response> {
  const { published, form, name, slug, page, base } = wanted;
  // A page that is the same at every address is kept once.
  const key = form.shared ? `${name} ${base}` : name;
  const document = await published.document(slug, key, (reading) => form.render(reading, base, page, page + name));
  if (document === null) return name === "" && slug === DEFAULT_SLUG ? answerNoPage(context) : answerNotFound(context);

  const headers = headersOf(document, form);
  if (matchesEtag(context.req.header("if-none-match"), document.etag)) {
    return new Response(null, { status: 304, headers });
  }
  if (document.gzip !== null && takesGzip(context.req.header("accept-encoding"))) {
    return new Response(document.gzip, { headers: [...headers, ["Content-Encoding", "gzip"]] });
  }
  return new Response(document.body, { headers });
}

/** What a newcomer finds at `/status`. */
function answerNoPage(context: Context<WebEnvironment>): Response | Promise<Response> {
  secure(context);
  context.header("Cache-Control", "no-store");
  const page = renderMessage({
    icon: "unknown",
    heading: "There is no status page yet",
    text: [
      "Whoever looks after the services makes one in SQL, and chooses what everybody may see:",
      "select uptuple.add_status_page(title => 'Our services', services => '{inventory}');",
    ],
  });
  return context.html(page, 404);
}

/** The headers of documents: each is sent many times. */
const headersMade = new WeakMap<Document, [string, string][]>();

function headersOf(document: Document, form: Form): [string, string][] {
  let headers = headersMade.get(document);
  if (headers === undefined) {
    headers = Object.entries({
      ...SECURITY_HEADERS,
      "Content-Type": form.type,
      "Cache-Control": `public, max-age=${form.maxAge}, stale-while-revalidate=60`,
      "ETag": document.etag,
      "Vary": "Accept-Encoding",
      ...(form.shared && { "Access-Control-Allow-Origin": "*" }),
    });
    headersMade.set(document, headers);
  }
  return headers;
}

/** Whoever says `gzip;q=0` does not. */
function takesGzip(accepted: string | undefined): boolean {
  return accepted !== undefined && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted);
}

async function sendLogo(
  context: Context<WebEnvironment>,
  database: Pick<Database, "query">,
  slug: string,
): Promise<Response> {
  const [logo] = await database.query<{ image: Uint8Array<ArrayBuffer>; type: string }>`
    select image, type from uptuple.status_page_logo(${slug})`;
  if (logo === undefined) return await answerNotFound(context);
  // Its address names its content.
  return context.newResponse(new Uint8Array(logo.image), 200, {
    ...SECURITY_HEADERS,
    "Content-Type": logo.type,
    "Cache-Control": context.req.query("v") === undefined ? "no-cache" : "public, max-age=31536000, immutable",
  });
}

/** What a reader's address bar has before the path; behind a proxy only the proxy knows the scheme. */
function originOf(context: Context<WebEnvironment>): string {
  const url = new URL(context.req.url);
  const scheme = context.req.header("x-forwarded-proto")?.split(",")[0]?.trim() === "https" ? "https:" : url.protocol;
  return `${scheme}//${url.host}`;
}
