import type { JSX } from "hono/jsx/jsx-runtime";
import { latencyInWords } from "./in_words.ts";
import { servicePath } from "./service_address.tsx";
import { CHART_STRETCHES, type ChartStretch, type LatencyPoint } from "./service_page.ts";

/** The drawing's size in its own units. */
const WIDTH = 1000;
const HEIGHT = 200;
/** Points further apart than so many steps are not joined. */
const LONGEST_GAP = 1.5;

const LINES = ["p50", "p95", "p99"] as const;

/**
 * The latency of a service as three lines over time. Drawn here for whoever has no JavaScript; `chart.js` puts one in its place that can be
 * pointed at, and fetches another stretch without leaving the page.
 */
export function LatencyChart(
  { service, stretch, points }: { service: string; stretch: ChartStretch; points: LatencyPoint[] },
): JSX.Element {
  return (
    <section aria-labelledby="latency" data-key="latency">
      <div class="section-head">
        <h2 id="latency">Latency</h2>
        <nav class="stretch-choice" aria-label="How far the chart goes back">
          {Object.entries(CHART_STRETCHES).map(([value, word]) => (
            <a
              href={`${servicePath(service, value)}#latency`}
              data-stretch={value}
              aria-current={value === stretch ? "true" : null}
            >
              {word}
            </a>
          ))}
        </nav>
      </div>
      <figure class="card chart" data-chart={dataPath(service)} data-shown={stretch}>
        <div class="chart-place">{points.some(({ p50 }) => p50 !== null) && <Drawing points={points} />}</div>
        <figcaption class="quiet" aria-live="polite">{summaryOf(points)}</figcaption>
      </figure>
    </section>
  );
}

function Drawing({ points }: { points: LatencyPoint[] }): JSX.Element {
  const slowest = Math.max(...points.map(({ p99 }) => p99 ?? 0), Number.MIN_VALUE);
  const [first = 0, last = 1] = [points[0]?.at, points.at(-1)?.at];
  const step = stepOf(points);
  const x = (at: number) => ((at - first) / Math.max(step, last - first) * WIDTH).toFixed(1);
  const y = (ms: number) => (HEIGHT - ms / slowest * (HEIGHT - 6)).toFixed(1);
  const lineOf = (line: (typeof LINES)[number]) => {
    let lastAt = -Infinity;
    return points.map((point) => {
      const ms = point[line];
      if (ms === null) return "";
      const command = point.at - lastAt <= step * LONGEST_GAP ? "L" : "M";
      lastAt = point.at;
      return `${command}${x(point.at)} ${y(ms)}`;
    }).join("");
  };
  return (
    <>
      <p class="legend quiet">
        {LINES.map((line) => <span class={`legend-${line}`}>{line}</span>)}
        <span>0 to {latencyInWords(slowest)}</span>
      </p>
      <svg class="lines" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {points.filter(({ down }) => down > 0).map(({ at }) => <path class="line-down" d={`M${x(at)} ${HEIGHT}v-8`} />)}
        {LINES.toReversed().map((line) => <path class={`line-${line}`} d={lineOf(line)} />)}
      </svg>
    </>
  );
}

/** Where `chart.js` fetches points from. */
function dataPath(service: string): string {
  const [path, query] = servicePath(service).split("?");
  return `${path}/latency${query === undefined ? "" : `?${query}`}`;
}

/** Seconds between two points: the least there are. */
function stepOf(points: LatencyPoint[]): number {
  return points.slice(1).reduce((least, { at }, index) => Math.min(least, at - (points[index]?.at ?? at)), 86_400) || 1;
}

/** What the chart says, in words. */
export function summaryOf(points: LatencyPoint[]): string {
  const checks = points.reduce((sum, point) => sum + point.checks, 0);
  const down = points.reduce((sum, point) => sum + point.down, 0);
  const medians = points.flatMap(({ p50 }) => p50 === null ? [] : [p50]);
  if (medians.length === 0) return checks === 0 ? "Nothing was checked." : `${checks} checks, all failed.`;
  const slowest = Math.max(...points.map(({ p99 }) => p99 ?? 0));
  const range = `The median was between ${latencyInWords(Math.min(...medians))} and ${
    latencyInWords(Math.max(...medians))
  }`;
  return `${range}, the highest 99th percentile ${latencyInWords(slowest)}. ${checks} checks, ${down} failed.`;
}
