import assert from "node:assert/strict";
import { maintenanceCalendar } from "../../../../src/web/status/calendar.ts";
import { HOSTILE, maintenance, statusPage } from "../../../support/status_pages.ts";

const ADDRESS = "https://example.com/status";

/** The lines of a calendar, put together again where they were folded. */
function linesOf(calendar: string): string[] {
  assert.ok(calendar.endsWith("\r\n"));
  assert.ok(!/[^\r]\n|\r[^\n]/.test(calendar), "every line ends with CR LF");
  for (const line of calendar.split("\r\n")) {
    assert.ok(new TextEncoder().encode(line).length <= 75, `too long: ${line}`);
  }
  return calendar.replaceAll("\r\n ", "").split("\r\n").slice(0, -1);
}

Deno.test("an occurrence is an event in UTC, with a stable UID and the sequence of its changes", () => {
  const lines = linesOf(maintenanceCalendar(statusPage({ maintenances: [maintenance()] }), ADDRESS));

  assert.equal(lines[0], "BEGIN:VCALENDAR");
  assert.equal(lines.at(-1), "END:VCALENDAR");
  for (
    const line of [
      "VERSION:2.0",
      "UID:m1-1796000000@uptuple",
      "SEQUENCE:2",
      "DTSTAMP:20261129T090000Z",
      "DTSTART:20261205T220000Z",
      "DTEND:20261206T023000Z",
      "SUMMARY:Move to the new hall",
      "DESCRIPTION:Expect breaks of a minute.\\n\\nAffects Shop.",
      "STATUS:CONFIRMED",
    ]
  ) assert.ok(lines.includes(line), line);
});

Deno.test("a cancelled occurrence stays in the calendar as cancelled", () => {
  const planned = maintenance({ state: "cancelled", sequence: 3 });
  const lines = linesOf(maintenanceCalendar(statusPage({ maintenances: [planned] }), ADDRESS));

  assert.ok(lines.includes("STATUS:CANCELLED"));
  assert.ok(lines.includes("UID:m1-1796000000@uptuple"));
  assert.ok(lines.includes("SEQUENCE:3"));
});

Deno.test("text is escaped, and long lines are folded between characters", () => {
  const planned = maintenance({ title: HOSTILE, description: `\u0007${"\u{1f525}é".repeat(60)}\r\nEND:VEVENT` });
  const lines = linesOf(maintenanceCalendar(statusPage({ maintenances: [planned] }), ADDRESS));

  assert.ok(lines.includes(`SUMMARY:<script>alert("1")</script> & 'it'\\, a\\\\b\\; \u202egnp.exe`));
  const description = lines.find((line) => line.startsWith("DESCRIPTION:")) ?? "";
  assert.ok(description.startsWith(`DESCRIPTION:\ufffd${"\u{1f525}é".repeat(60)}\\nEND:VEVENT\\n\\nAffects Shop.`));
  assert.equal(lines.filter((line) => line === "END:VEVENT").length, 1);
});

Deno.test("without maintenance there is a calendar without events", () => {
  const lines = linesOf(maintenanceCalendar(statusPage(), ADDRESS));
  assert.ok(!lines.includes("BEGIN:VEVENT"));
  assert.ok(lines.includes("NAME:Example status"));
});
