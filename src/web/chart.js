// Puts a chart that can be pointed at in the place of the drawing, and fetches another stretch of time without leaving the page. Without
// this file the drawing stays, and each stretch is a page of its own. uPlot is there before this runs.

const LINES = ["p50", "p95", "p99"];
const HEIGHT = 240;
const ANOTHER_MS = 60_000;

let plot = null;
let shown = null;
let asked = 0;

const figure = () => document.querySelector("figure[data-chart]");

/** A colour of the present theme: a canvas does not know light-dark(). */
function colour(name) {
  const probe = figure();
  probe.style.color = `var(${name})`;
  const resolved = getComputedStyle(probe).color;
  probe.style.color = "";
  return resolved;
}

function latencyInWords(ms) {
  if (ms === null || ms === undefined) return "–";
  return ms >= 999.5 ? `${(ms / 1000).toFixed(2)} s` : `${ms < 9.95 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
}

/** The clock on a chart of hours, the date on one of days. */
function momentInWords(at, stretch) {
  // Swedes write both as ISO 8601 does.
  const text = new Date(at * 1000).toLocaleString("sv-SE");
  return stretch.endsWith("h") ? text.slice(11, 16) : text.slice(5, 10);
}

async function show(stretch) {
  const turn = ++asked;
  const place = figure();
  const url = new URL(place.dataset.chart, location.href);
  url.searchParams.set("range", stretch);
  let points;
  let summary;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    if (!answer.ok) return;
    ({ points, summary } = await answer.json());
  } catch {
    // What is shown stays; the page itself says when the server is lost.
    return;
  }
  // Somebody has chosen another one meanwhile.
  if (turn !== asked) return;
  shown = { stretch, points };
  place.querySelector("figcaption").textContent = summary;
  draw();
}

function draw() {
  const place = figure()?.querySelector(".chart-place");
  if (place === null || place === undefined || shown === null) return;
  plot?.destroy();
  plot = null;
  place.replaceChildren();
  // The words below say why.
  if (!shown.points.some(({ p50 }) => p50 !== null)) return;
  const { xs, lines, failures } = columns(shown.points);
  const text = colour("--quiet");
  const axis = {
    stroke: text,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px sans-serif",
  };
  plot = new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      cursor: { y: false, points: { size: 6 } },
      legend: { live: true },
      scales: {
        x: { range: (_, min, max) => max > min ? [min, max] : [min - 3600, max + 3600] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] },
        failures: { range: [0, 1] },
      },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((at) => momentInWords(at, shown.stretch)) }, {
        ...axis,
        size: 64,
        values: (_, ticks) => ticks.map(latencyInWords),
      }],
      series: [
        { value: (_, at) => at === null ? "–" : new Date(at * 1000).toLocaleString("sv-SE") },
        ...LINES.map((line) => ({
          label: line,
          stroke: colour(`--${line}`),
          width: 1.5,
          // A point alone makes no line.
          points: { show: xs.length === 1, size: 6, fill: colour(`--${line}`) },
          value: (_, ms) => latencyInWords(ms),
        })),
        {
          label: "failed",
          scale: "failures",
          stroke: colour("--down"),
          paths: () => null,
          points: { show: true, size: 5, fill: colour("--down") },
          value: (_, __, ___, index) => index === null ? "–" : failures.counts[index],
        },
      ],
    },
    [xs, ...lines, failures.marks],
    place,
  );
}

/** Columns as uPlot wants them, with a hole where points are missing. */
function columns(points) {
  const step = points.slice(1).reduce((least, { at }, index) => Math.min(least, at - points[index].at), Infinity);
  const filled = [];
  for (const point of points) {
    const last = filled.at(-1);
    if (last !== undefined && point.at - last.at > step * 1.5) {
      filled.push({ at: last.at + step, p50: null, p95: null, p99: null, down: 0 });
    }
    filled.push(point);
  }
  return {
    xs: filled.map(({ at }) => at),
    lines: LINES.map((line) => filled.map((point) => point[line])),
    failures: {
      marks: filled.map(({ down }) => down > 0 ? 0.02 : null),
      counts: filled.map(({ down }) => down),
    },
  };
}

function choose(stretch) {
  for (const link of document.querySelectorAll("[data-stretch]")) {
    if (link.dataset.stretch === stretch) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const query = new URLSearchParams(location.search);
  query.set("range", stretch);
  history.replaceState(null, "", `?${query}`);
  figure().dataset.shown = stretch;
  show(stretch);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-stretch]");
  if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link.dataset.stretch);
});
// A page that arrives has the drawing, which must not take the place of the chart.
document.addEventListener("uptuple:arriving", ({ detail }) => {
  const arriving = detail.querySelector(".chart-place");
  const present = figure()?.querySelector(".chart-place");
  if (plot !== null && arriving !== null && present) {
    arriving.replaceChildren(...[...present.childNodes].map((node) => node.cloneNode(true)));
  }
});
document.addEventListener("uptuple:theme", draw);
new ResizeObserver(() => {
  const width = figure()?.querySelector(".chart-place").clientWidth ?? 0;
  if (plot !== null && width > 0 && plot.width !== width) plot.setSize({ width, height: HEIGHT });
}).observe(document.body);
setInterval(() => document.hidden || figure() === null || show(figure().dataset.shown), ANOTHER_MS);
if (figure() !== null) show(figure().dataset.shown);
