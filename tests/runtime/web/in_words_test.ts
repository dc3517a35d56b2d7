import assert from "node:assert/strict";
import {
  agoInWords,
  clockInWords,
  durationInWords,
  latencyInWords,
  percentInWords,
} from "../../../src/web/in_words.ts";

/** The units stand behind a space that does not break the line. */
function plain(text: string): string {
  return text.replaceAll("\u00a0", " ");
}

Deno.test("a duration is told in its two largest units, rounded down", () => {
  const words = [0, 0.9, 59.9, 60, 3599, 3600, 7500, 86_399, 86_400, 273_600].map(durationInWords).map(plain);

  assert.deepEqual(words, [
    "0 s",
    "0 s",
    "59 s",
    "1 min",
    "59 min",
    "1 h",
    "2 h 5 min",
    "23 h 59 min",
    "1 d",
    "3 d 4 h",
  ]);
});

Deno.test("a moment a little ahead of now is now", () => {
  assert.equal(plain(agoInWords("2026-11-30T09:00:00.2Z", "2026-11-30T09:00:00+00:00")), "0 s ago");
});

Deno.test("a latency has no more digits than it means", () => {
  const words = [0, 0.42, 9.94, 9.96, 23.4, 999.4, 999.5, 1240].map(latencyInWords).map(plain);

  assert.deepEqual(words, ["0 ms", "0.4 ms", "9.9 ms", "10 ms", "23 ms", "999 ms", "1.00 s", "1.24 s"]);
});

Deno.test("only the whole is a hundred per cent", () => {
  const words = [1, 0.999999, 0.99995, 0.999, 0.5, 0].map((fraction) => plain(percentInWords(fraction, 2)));

  assert.deepEqual(words, ["100 %", "99.99 %", "99.99 %", "99.9 %", "50 %", "0 %"]);
});

Deno.test("a moment is told in UTC whatever its offset, with the date if it is another day", () => {
  const now = "2026-11-30T09:31:22.5+00:00";

  assert.equal(plain(clockInWords("2026-11-30T11:31:22+02:00", now)), "09:31:22 UTC");
  assert.equal(plain(clockInWords("2026-11-29T23:59:59.9Z", now)), "2026-11-29 23:59:59 UTC");
});
