import assert from "node:assert/strict";
import { testDatabase } from "../../support/database.ts";

/**
 * cron_vectors.csv has what the test suites of other schedulers expect. They contradict each other on days when clocks change, and in what a date
 * and a weekday mean together. Ours is the family of Debian's cron: column `cronsim` has its answer, `=` where it agrees with `next`.
 */
interface Vector {
  n: number;
  fields: number;
  expression: string;
  zone: string;
  after: string;
  /** What its own suite expects; NEVER for no fire at all. */
  next: string;
  /** `=`, an instant of its own, refused, or – for syntax that it lacks. */
  cronsim: string;
}

const GAP =
  "another family shifts by the gap's length, or skips the day: here it runs at the first instant after the gap";
const OVERLAP = "another family runs a fixed time in both passes of an overlap: here it runs in the first";
const STAR = "a star before minute or hour means real time: neither moved out of a gap nor kept from a second pass";

/** Rows whose suite is of another family, and why; what we answer is in column `cronsim`. */
const OTHER_FAMILY: Record<number, string> = {
  20: "five fields where date AND weekday must fit: in Vixie's cron either does",
  42: GAP,
  50: GAP,
  52: OVERLAP,
  56: OVERLAP,
  66: STAR,
  70: STAR,
  72: GAP,
  74: GAP,
  80: GAP,
  81: GAP,
  84: GAP,
  88: "an every-minute job that is silent for an hour: here it follows real time",
  114: STAR,
};

/** Six fields are Spring's, where date and weekday must both fit, so here its own suite is right and cronsim is of another family. */
const SPRING_DAYS = new Set([25]);

/** Not cron at all: an instant of systemd's calendar. */
const NOT_CRON = new Set([129]);

function readVectors(csv: string): Vector[] {
  const [, ...lines] = csv.trim().split("\n");
  return lines.map((line) => {
    const cells = Array.from(line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g), (cell) => cell[1] ?? cell[2] ?? "");
    const [n, , fields, expression, zone, after, next, cronsim] = cells as [string, ...string[]];
    return { n: Number(n), fields: Number(fields), expression, zone, after, next, cronsim } as Vector;
  });
}

const vectors = readVectors(await Deno.readTextFile(new URL("cron_vectors.csv", import.meta.url)))
  .filter(({ n }) => !NOT_CRON.has(n));

Deno.test("the vectors of our family give the answers of their suites", async () => {
  await using database = await testDatabase();
  const ours = vectors.filter(({ n }) => OTHER_FAMILY[n] === undefined);
  assert.equal(ours.length, 82);

  for (const { n, expression, zone, after, next } of ours) {
    const [row] = await database.owner`select uptuple.cron_next(${expression}, ${zone}, ${after}::timestamptz) as next`;
    const expected = next === "NEVER" ? null : new Date(next);
    assert.deepEqual(row.next, expected, `vector ${n}: ${expression} in ${zone} after ${after}`);
  }
});

Deno.test("the vectors of other families give the answers of Debian's cron", async () => {
  await using database = await testDatabase();
  const others = vectors.filter(({ n }) => OTHER_FAMILY[n] !== undefined);
  assert.equal(others.length, Object.keys(OTHER_FAMILY).length);

  for (const { n, expression, zone, after, next, cronsim } of others) {
    const [row] = await database.owner`select uptuple.cron_next(${expression}, ${zone}, ${after}::timestamptz) as next`;
    assert.notEqual(cronsim, "=", `vector ${n} is of our family after all`);
    assert.notDeepEqual(row.next, new Date(next), `vector ${n}: ${expression} in ${zone} after ${after}`);
    assert.deepEqual(row.next, new Date(cronsim), `vector ${n}: ${expression} in ${zone} after ${after}`);
  }
});

Deno.test("no vector outside the lists has an answer of cronsim's own", () => {
  const unlisted = vectors.filter(({ n, cronsim }) => {
    return /^\d{4}-/.test(cronsim) && OTHER_FAMILY[n] === undefined && !SPRING_DAYS.has(n);
  });
  assert.deepEqual(unlisted.map(({ n }) => n), []);
});
