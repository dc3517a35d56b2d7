// Says times in the viewer's zone, and names the zone; keeps "8 min ago" true while the page stands. The server says them in UTC.

const TICK_MS = 5000;
const NBSP = "\u00a0";
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
// Swedes write dates as ISO 8601 does.
const date = new Intl.DateTimeFormat("sv-SE", { year: "numeric", month: "2-digit", day: "2-digit" });
const offset = new Intl.DateTimeFormat("en-GB", { timeZoneName: "shortOffset" });

let asOf = NaN;
let readAt = NaN;

function localise(page) {
  const read = page.querySelector("#as-of time");
  if (read !== null) {
    asOf = Date.parse(read.dateTime);
    readAt = performance.now();
  }
  for (const time of page.querySelectorAll("time[data-clock]")) {
    const at = new Date(time.dateTime);
    time.title = time.textContent;
    time.textContent = inWords(at, time.dataset.clock === "full") + (time === read ? `${NBSP}${offsetAt(at)}` : "");
  }
  for (const span of page.querySelectorAll("[data-zone]")) span.textContent = zoneInWords();
  const lost = page.querySelector("#lost");
  if (lost !== null && read !== null) {
    lost.dataset.text = lost.dataset.text.replace(/ at [^.]*\./, ` at ${read.textContent}.`);
  }
}

/** With the date if it is not that of the page, or if it always shall be. */
function inWords(at, isFull) {
  const isToday = !isFull && date.format(at) === date.format(asOf);
  return isToday ? clock.format(at) : `${date.format(at)}${NBSP}${clock.format(at)}`;
}

function offsetAt(at) {
  const name = offset.formatToParts(at).find(({ type }) => type === "timeZoneName").value;
  return name === "GMT" || name === "GMT+0" ? "UTC" : name.replace("GMT", "UTC");
}

function zoneInWords() {
  const offset = offsetAt(new Date());
  return zone === offset ? zone : `${zone} (${offset})`;
}

/** By the server's clock as the page brought it, and this machine's stopwatch: its own clock may be wrong. */
function tick() {
  if (document.hidden || Number.isNaN(asOf)) return;
  const now = asOf + performance.now() - readAt;
  for (const time of document.querySelectorAll("time[data-ago], time[data-lasting]")) {
    const seconds = Math.max(0, Math.floor((now - Date.parse(time.dateTime)) / 1000));
    const words = durationInWords(seconds) + ("ago" in time.dataset ? " ago" : "");
    if (time.textContent !== words) time.textContent = words;
  }
}

/** As the server says it, in the two largest units. */
function durationInWords(seconds) {
  if (seconds < 60) return `${seconds}${NBSP}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${NBSP}min`;
  return seconds < 86400 ? twoUnits(seconds, 3600, "h", 60, "min") : twoUnits(seconds, 86400, "d", 3600, "h");
}

function twoUnits(seconds, large, largeUnit, small, smallUnit) {
  const larger = `${Math.floor(seconds / large)}${NBSP}${largeUnit}`;
  const smaller = Math.floor((seconds % large) / small);
  return smaller === 0 ? larger : `${larger}${NBSP}${smaller}${NBSP}${smallUnit}`;
}

localise(document);
document.addEventListener("uptuple:arriving", ({ detail }) => localise(detail));
setInterval(tick, TICK_MS);
