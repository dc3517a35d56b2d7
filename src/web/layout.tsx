import { html } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { RELEASE } from "../release.ts";
import { type AssetName, ASSETS } from "./assets.ts";
import { clockInWords } from "./in_words.ts";
import { IconShapes } from "./icon.tsx";
import { Clock, type Moment } from "./moment.tsx";

/** How often a page renews itself, in seconds; what changes meanwhile, the stream brings at once, where there is one. */
const REFRESH_SECONDS = 30;

/** What all pages have in common. */
export interface PageFrame {
  /** Of the browser's tab, before the name of the product. */
  title: string;
  /** Whether the page renews itself. */
  live: boolean;
  /** How often, in seconds. */
  refreshSeconds?: number;
  /** Where the page hears of changes at once: a path that answers with server-sent events. */
  stream?: string;
  /** The query that the page was asked for with, such as `?q=shop`, so that pausing keeps it. */
  query?: string;
  /** When its content was read; absent from a page that only says something. */
  asOf?: Moment;
  /** Whether there is a cookie to give back. */
  signedIn?: boolean;
  /** Whether the page has use for a wide screen. */
  wide?: boolean;
  /** Scripts and styles beyond those of every page; `libraries` are no modules, and are there before those run. */
  libraries?: AssetName[];
  scripts?: AssetName[];
  styles?: AssetName[];
}

/**
 * A whole page: head, header, `<main>` around the children, footer.
 *
 * A live page is renewed in place by `live.js`, so that focus, selection and a screen reader stay where they are. Without JavaScript it
 * reloads itself, which would pull the page from under a reader's feet: so it can be paused.
 */
export function renderPage(frame: PropsWithChildren<PageFrame>): ReturnType<typeof html> {
  return html`<!DOCTYPE html>${<Page {...frame} />}`;
}

function Page(frame: PropsWithChildren<PageFrame>): JSX.Element {
  const { title, live, refreshSeconds = REFRESH_SECONDS, stream, asOf, signedIn, children } = frame;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} – Uptuple`}</title>
        <link rel="icon" type="image/svg+xml" href={ASSETS.icon.href} />
        {/* Not deferred: it sets the theme before anything is painted. */}
        <script src={ASSETS.theme.href}></script>
        <link rel="stylesheet" href={ASSETS.style.href} />
        {frame.styles?.map((name) => <link rel="stylesheet" href={ASSETS[name].href} />)}
        {live && (
          <noscript>
            <meta http-equiv="refresh" content={String(refreshSeconds)} />
          </noscript>
        )}
        {frame.libraries?.map((name) => <script src={ASSETS[name].href} defer></script>)}
        <script type="module" src={ASSETS.times.href}></script>
        {frame.scripts?.map((name) => <script type="module" src={ASSETS[name].href}></script>)}
        <script type="module" src={ASSETS.live.href}></script>
      </head>
      <body
        class={frame.wide === true ? "wide" : undefined}
        data-refresh-seconds={live ? String(refreshSeconds) : null}
        data-stream={live && stream !== undefined ? stream : null}
      >
        <IconShapes />
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/">
            <img src={ASSETS.icon.href} alt="" width="24" height="24" />Uptuple
          </a>
          <div class="top-side">
            {asOf !== undefined && (
              <span id="as-of">
                As of <Clock at={asOf} now={asOf} />
              </span>
            )}
            {asOf !== undefined && <LiveSwitch live={live} query={frame.query ?? ""} />}
            <button type="button" class="link" data-theme-switch hidden>Theme</button>
            {signedIn === true && (
              <form method="post" action="/logout">
                <button type="submit" class="link">Sign out</button>
              </form>
            )}
          </div>
        </header>
        <p class="lost" id="lost" role="alert" data-text={lostText(asOf)} hidden></p>
        <p class="visually-hidden" id="said" role="status"></p>
        <main id="main" tabindex={-1}>{children}</main>
        {asOf !== undefined && (
          <footer class="bottom">
            Uptuple, release {RELEASE}. Times are in <span data-zone>UTC</span>, days are those of UTC.
          </footer>
        )}
      </body>
    </html>
  );
}

function LiveSwitch({ live, query }: { live: boolean; query: string }): JSX.Element {
  return live
    ? (
      <span class="live">
        <span class="live-word">Live</span>
        <a href={withRefresh(query, "off")}>Pause</a>
      </span>
    )
    : (
      <span class="live">
        Paused <a href={withRefresh(query, null)}>Go live</a>
      </span>
    );
}

function withRefresh(query: string, refresh: "off" | null): string {
  const parameters = new URLSearchParams(query);
  parameters.delete("refresh");
  if (refresh !== null) parameters.set("refresh", refresh);
  return `?${parameters}`;
}

function lostText(asOf: Moment | undefined): string {
  return asOf === undefined
    ? "Uptuple does not answer."
    : `Uptuple does not answer. This is how things were at ${clockInWords(asOf, asOf)}.`;
}
