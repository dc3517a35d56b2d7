import { html } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { RELEASE } from "../release.ts";
import { ASSETS } from "./assets.ts";
import { clockInWords } from "./in_words.ts";
import type { Moment } from "./overview.ts";

/** How often a page renews itself, in seconds. */
const REFRESH_SECONDS = 10;

/** What all pages have in common. */
export interface PageFrame {
  /** Of the browser's tab, before the name of the product. */
  title: string;
  /** Whether the page renews itself. */
  live: boolean;
  /** When its content was read; absent from a page that only says something. */
  asOf?: Moment;
  /** Whether there is a cookie to give back. */
  signedIn?: boolean;
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

function Page({ title, live, asOf, signedIn, children }: PropsWithChildren<PageFrame>): JSX.Element {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} – Uptuple`}</title>
        <link rel="icon" type="image/svg+xml" href={ASSETS.icon.href} />
        <link rel="stylesheet" href={ASSETS.style.href} />
        {live && (
          <noscript>
            <meta http-equiv="refresh" content={String(REFRESH_SECONDS)} />
          </noscript>
        )}
        <script src={ASSETS.live.href} defer></script>
      </head>
      <body data-refresh-seconds={live ? String(REFRESH_SECONDS) : null}>
        <header class="top">
          <a class="brand" href="/">
            <img src={ASSETS.icon.href} alt="" width="24" height="24" />Uptuple
          </a>
          <div class="top-side">
            {asOf !== undefined && <AsOf asOf={asOf} />}
            {asOf !== undefined && <LiveSwitch live={live} />}
            {signedIn === true && (
              <form method="post" action="/logout">
                <button type="submit" class="link">Sign out</button>
              </form>
            )}
          </div>
        </header>
        <p class="lost" id="lost" role="alert" data-text={lostText(asOf)} hidden></p>
        <main>{children}</main>
        {asOf !== undefined && <footer class="bottom">Uptuple, release {RELEASE}. Times are in UTC.</footer>}
      </body>
    </html>
  );
}

function AsOf({ asOf }: { asOf: Moment }): JSX.Element {
  return (
    <span>
      As of <time datetime={asOf}>{clockInWords(asOf, asOf)}</time>
    </span>
  );
}

function LiveSwitch({ live }: { live: boolean }): JSX.Element {
  return live
    ? (
      <span class="live">
        <span class="live-word">Live</span>
        <a href="?refresh=off">Pause</a>
      </span>
    )
    : (
      <span class="live">
        Paused <a href="?">Go live</a>
      </span>
    );
}

function lostText(asOf: Moment | undefined): string {
  return asOf === undefined
    ? "Uptuple does not answer."
    : `Uptuple does not answer. This is how things were at ${clockInWords(asOf, asOf)}.`;
}
