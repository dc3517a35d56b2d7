/** Keeps a number and its unit on one line. */
const NBSP = "\u00a0";

/**
 * How long something takes, in its two largest units: `12 s`, `4 min`, `2 h 5 min`, `3 d 4 h`.
 *
 * @param seconds Rounded down; less than none counts as none.
 */
export function durationInWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole}${NBSP}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}${NBSP}min`;
  return whole < 86_400 ? twoUnits(whole, 3600, "h", 60, "min") : twoUnits(whole, 86_400, "d", 3600, "h");
}

/** How long before `now` a moment was, both in ISO 8601. */
export function agoInWords(moment: string, now: string): string {
  return `${durationInWords(secondsBetween(moment, now))} ago`;
}

/** Seconds from one moment to another, both in ISO 8601. */
export function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

/** A latency: `0.4 ms`, `23 ms`, `1.24 s`. */
export function latencyInWords(ms: number): string {
  if (ms >= 999.5) return `${(ms / 1000).toFixed(2)}${NBSP}s`;
  return `${ms < 9.95 ? Number(ms.toFixed(1)) : Math.round(ms)}${NBSP}ms`;
}

/**
 * A fraction as a percentage. Rounded down, so that only the whole is shown as 100 %.
 *
 * @param fraction From 0 to 1.
 * @param digits Behind the point.
 */
export function percentInWords(fraction: number, digits: number): string {
  const factor = 10 ** digits;
  // 0.999 * 100 is a little less than 99.9, and must not be rounded down from there.
  const rounded = Math.floor(Number((fraction * 100 * factor).toFixed(6))) / factor;
  return `${rounded}${NBSP}%`;
}

/** A moment in ISO 8601 as a clock in UTC shows it: `09:31:22 UTC`, with the date if it is not the day of `now`. */
export function clockInWords(moment: string, now: string): string {
  const iso = new Date(moment).toISOString();
  const date = iso.slice(0, 10);
  const clock = `${iso.slice(11, 19)}${NBSP}UTC`;
  return date === new Date(now).toISOString().slice(0, 10) ? clock : `${date}${NBSP}${clock}`;
}

/** `1 check`, `3 checks`. */
export function countInWords(count: number, one: string, many: string): string {
  return `${count}${NBSP}${count === 1 ? one : many}`;
}

function twoUnits(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const larger = `${Math.floor(seconds / large)}${NBSP}${largeUnit}`;
  const smaller = Math.floor((seconds % large) / small);
  return smaller === 0 ? larger : `${larger}${NBSP}${smaller}${NBSP}${smallUnit}`;
}
