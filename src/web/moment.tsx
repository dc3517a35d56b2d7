import type { JSX } from "hono/jsx/jsx-runtime";
import { agoInWords, clockInWords, durationInWords, secondsBetween } from "./in_words.ts";

/** A moment in ISO 8601 with its offset, as JSON from PostgreSQL has it. */
export type Moment = string;

/** When something was. The server says it in UTC; `times.js` says it in the viewer's zone. */
export function Clock({ at, now }: { at: Moment; now: Moment }): JSX.Element {
  return <time datetime={attribute(at)} data-clock="">{clockInWords(at, now)}</time>;
}

/** How long ago something was: `8 min ago`. `times.js` keeps it true while the page stands. */
export function Ago({ at, now }: { at: Moment; now: Moment }): JSX.Element {
  return <time datetime={attribute(at)} data-ago="">{agoInWords(at, now)}</time>;
}

/** How long something has lasted: `2 h 5 min`. `times.js` keeps it true while the page stands. */
export function Lasting({ since, now }: { since: Moment; now: Moment }): JSX.Element {
  return <time datetime={attribute(since)} data-lasting="">{durationInWords(secondsBetween(since, now))}</time>;
}

/** To the second and in UTC: a page has thousands of them. */
function attribute(at: Moment): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
