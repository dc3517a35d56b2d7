import type { JSX } from "hono/jsx/jsx-runtime";
import type { ServiceHistory } from "./service_history.ts";

/** The hours that the line has room for: the present one and 24 before it. */
const HOURS = 25;
/** The drawing's height, in its own units, with the line's thickness above and below. */
const HEIGHT = 28;
const MARGIN = 3;
/** From one hour to the next. */
const STEP = 4;

/** The mean latency of each of the last hours as a line, from nothing up to the slowest. Broken where no check was up. */
export function Sparkline({ history }: { history: ServiceHistory | undefined }): JSX.Element | null {
  if (history === undefined || history.hour_ms.length === 0) return null;
  return (
    <svg class="spark" viewBox={`0 0 ${STEP * (HOURS - 1)} ${HEIGHT}`} aria-hidden="true">
      <path d={lineOf(history)} />
    </svg>
  );
}

function lineOf({ hours_ago, hour_ms }: ServiceHistory): string {
  const hours: (number | undefined)[] = Array(HOURS).fill(undefined);
  hours_ago.forEach((ago, index) => hours[HOURS - 1 - ago] = hour_ms[index]);
  const slowest = Math.max(...hour_ms, Number.MIN_VALUE);
  const heightOf = (ms: number) => Math.round(HEIGHT - MARGIN - ms / slowest * (HEIGHT - 2 * MARGIN));
  // Steps from one hour to the next, which are short to write.
  let before: number | undefined;
  return hours.map((ms, hour) => {
    const height = ms === undefined ? undefined : heightOf(ms);
    const from = before;
    before = height;
    if (height === undefined) return "";
    if (from !== undefined) return `l${STEP} ${height - from}`;
    // An hour on its own is a dot: a line of no length with round ends.
    return `M${STEP * hour} ${height}${hours[hour + 1] === undefined ? "h0" : ""}`;
  }).join("");
}
