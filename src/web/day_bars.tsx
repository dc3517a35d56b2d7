import type { JSX } from "hono/jsx/jsx-runtime";
import { countInWords, percentInWords } from "./in_words.ts";
import type { Moment } from "./moment.tsx";
import { HISTORY_DAYS, type ServiceHistory } from "./service_history.ts";

/** How tall a bar is, in the units of the drawing. */
const HEIGHT = 20;
/** The least that is drawn of failures, so that one in a thousand is seen. */
const LEAST_DOWN = 5;
/** The least that is drawn of what nobody looked at; less than half a percent is not drawn. */
const LEAST_GAP = 2;
const DAY_MS = 86_400_000;

/** What is said of a day in which every check was made, and up. */
export const ALL_WELL = `${percentInWords(1, 2)} up, ${percentInWords(1, 1)} covered`;

/** What bars are drawn from. */
type DayCounts = Pick<ServiceHistory, "days_ago" | "day_expected" | "day_up" | "day_down">;

/** One day of a service: what its bar shows. Null where nothing was expected. */
type Day = { expected: number; up: number; down: number } | null;

/** How much of a bar, from its top, nobody looked at, and how much, from its bottom, was down. */
interface Heights {
  gap: number;
  down: number;
}

/** A part of one bar or of several equal ones side by side. */
interface Block {
  day: number;
  days: number;
  top: number;
  height: number;
}

/** The words for a day, and for how many days in a row they hold. */
interface Remark {
  day: number;
  days: number;
  words: string;
}

/**
 * The last 90 days of a service as bars, the oldest first. Green is the share of a day that was up, red what was down, grey what nobody
 * looked at: a day without data is grey and never green. Equal days side by side are one shape, since a dashboard has 90,000 of them.
 *
 * @param props.titled Whether each bar says its date, uptime and coverage when pointed at, or leaves that to `titles.js`, which takes it from
 * `data-days`: with titles a page grows by up to 8 kB a service.
 */
export function DayBars(
  { history, now, titled }: { history: DayCounts | undefined; now: Moment; titled: boolean },
): JSX.Element {
  const days = daysOf(history);
  const heights = days.map(heightsOf);
  const remarks = remarksOn(days);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${HISTORY_DAYS} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={summaryOf(days)}
      data-days={titled ? null : codeOf(remarks)}
    >
      {/* Green beneath, and over it what was not: long stretches stay one shape. */}
      <Shape tone="up" path={pathOf(heights, ({ gap }) => ({ top: 0, height: gap === HEIGHT ? 0 : HEIGHT }))} />
      <Shape tone="gap" path={pathOf(heights, ({ gap }) => ({ top: 0, height: gap }))} />
      <Shape tone="down" path={pathOf(heights, ({ down }) => ({ top: HEIGHT - down, height: down }))} />
      {titled &&
        remarks.map(({ day, days, words }) => (
          <rect class="bar-touch" x={String(day)} y="0" width={String(days)} height={String(HEIGHT)}>
            <title>{`${datesInWords(now, day, days)}: ${words}`}</title>
          </rect>
        ))}
    </svg>
  );
}

function Shape({ tone, path }: { tone: "gap" | "up" | "down"; path: string }): JSX.Element | null {
  return path === "" ? null : <path class={`bar-${tone}`} d={path} />;
}

/** The last day that bars show, as `titles.js` counts back from it: `2026-11-30`. */
export function lastDayOf(now: Moment): string {
  return new Date(now).toISOString().slice(0, 10);
}

function daysOf(history: DayCounts | undefined): Day[] {
  const days: Day[] = Array(HISTORY_DAYS).fill(null);
  history?.days_ago.forEach((ago, index) => {
    days[HISTORY_DAYS - 1 - ago] = {
      expected: history.day_expected[index] ?? 0,
      up: history.day_up[index] ?? 0,
      down: history.day_down[index] ?? 0,
    };
  });
  return days;
}

function heightsOf(day: Day): Heights {
  if (day === null || day.up + day.down === 0) return { gap: HEIGHT, down: 0 };
  const missing = 1 - (day.up + day.down) / day.expected;
  const gap = missing < 0.005 ? 0 : Math.max(LEAST_GAP, Math.round(missing * HEIGHT));
  if (day.up === 0) return { gap, down: HEIGHT - gap };
  const failed = day.down / day.expected;
  const down = day.down === 0 ? 0 : Math.max(LEAST_DOWN, Math.round(failed * HEIGHT));
  return {
    gap: Math.min(gap, HEIGHT - LEAST_DOWN),
    down: Math.min(down, HEIGHT - 1 - Math.min(gap, HEIGHT - LEAST_DOWN)),
  };
}

function pathOf(heights: Heights[], part: (heights: Heights) => { top: number; height: number }): string {
  const blocks: Block[] = [];
  heights.forEach((each, index) => {
    const { top, height } = part(each);
    const last = blocks.at(-1);
    if (height <= 0) return;
    if (last !== undefined && last.top === top && last.height === height && last.day + last.days === index) last.days++;
    else blocks.push({ day: index, days: 1, top, height });
  });
  return blocks.map(({ day, days, top, height }) => `M${day} ${top}h${days}v${height}h-${days}z`).join("");
}

function remarksOn(days: Day[]): Remark[] {
  const remarks: Remark[] = [];
  days.forEach((day, index) => {
    const words = wordsOf(day);
    const last = remarks.at(-1);
    if (last !== undefined && last.words === words) last.days++;
    else remarks.push({ day: index, days: 1, words });
  });
  return remarks;
}

function wordsOf(day: Day): string {
  if (day === null) return "no data";
  const seen = day.up + day.down;
  if (seen === 0) return "no data, 0 % covered";
  return `${percentInWords(day.up / seen, 2)} up, ${percentInWords(seen / day.expected, 1)} covered`;
}

/** For `titles.js`: how many days in a row, and their words, left out where all was well and seen. */
function codeOf(remarks: Remark[]): string {
  return remarks.map(({ days, words }) => words === ALL_WELL ? days : `${days}:${shortened(words)}`).join(";");
}

/** `99.31/100` for `99.31 % up, 100 % covered`; a text without figures stays. */
function shortened(words: string): string {
  const [, uptime, coverage] = /^([\d.]+)\D+ up, ([\d.]+)\D+$/.exec(words) ?? [];
  return uptime === undefined ? words : `${uptime}/${coverage}`;
}

function datesInWords(now: Moment, day: number, days: number): string {
  const first = dateOf(now, day);
  return days === 1 ? first : `${first} to ${dateOf(now, day + days - 1)}`;
}

function dateOf(now: Moment, day: number): string {
  return new Date(Date.parse(now) - (HISTORY_DAYS - 1 - day) * DAY_MS).toISOString().slice(0, 10);
}

function summaryOf(days: Day[]): string {
  const failing = days.filter((day) => day !== null && day.down > 0).length;
  const dark = days.filter((day) => day === null || day.up + day.down === 0).length;
  const parts = [
    failing > 0 ? `${countInWords(failing, "day", "days")} with failures` : null,
    dark > 0 ? `${countInWords(dark, "day", "days")} without data` : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "90 days without a failure" : `Of 90 days: ${parts.join(", ")}`;
}
