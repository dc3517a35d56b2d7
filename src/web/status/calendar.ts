import type { Moment } from "../moment.tsx";
import type { Maintenance, StatusPage } from "./status_page.ts";

/** RFC 5545, 3.1: lines have at most 75 octets, without the line break. */
const LINE_OCTETS = 75;
const encoder = new TextEncoder();

/**
 * A page's maintenance as iCalendar (RFC 5545). An occurrence keeps its UID whatever of it is changed, and SEQUENCE grows with each
 * change, so that calendars that subscribe move an entry and do not add another one.
 */
export function maintenanceCalendar({ page, maintenances }: StatusPage, address: string): string {
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Uptuple//Status page//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `NAME:${escapeText(page.title)}`,
    `X-WR-CALNAME:${escapeText(page.title)}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    ...maintenances.flatMap((maintenance) => eventLines(maintenance, address)),
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

function eventLines(maintenance: Maintenance, address: string): string[] {
  const affects = `Affects ${maintenance.components.map(({ name }) => name).join(", ")}.`;
  return [
    "BEGIN:VEVENT",
    `UID:${escapeText(maintenance.id)}@uptuple`,
    `SEQUENCE:${maintenance.sequence}`,
    `DTSTAMP:${utc(maintenance.changed_at)}`,
    `LAST-MODIFIED:${utc(maintenance.changed_at)}`,
    `DTSTART:${utc(maintenance.starts_at)}`,
    `DTEND:${utc(maintenance.ends_at)}`,
    `SUMMARY:${escapeText(maintenance.title)}`,
    `DESCRIPTION:${escapeText([maintenance.description, affects].filter((part) => part !== null).join("\n\n"))}`,
    `URL:${address}`,
    `STATUS:${maintenance.state === "cancelled" ? "CANCELLED" : "CONFIRMED"}`,
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ];
}

/** RFC 5545, 3.3.11. Control characters cannot be written at all. */
function escapeText(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    // deno-lint-ignore no-control-regex -- these are what iCalendar excludes
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "\ufffd")
    .replace(/[\\;,]/g, (character) => `\\${character}`)
    .replaceAll("\n", "\\n");
}

/** `20261130T140500Z` */
function utc(at: Moment): string {
  return `${new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}

/** Breaks a line between characters and never within one; what follows a break begins with a space. */
function fold(line: string): string {
  let folded = "";
  let octets = 0;
  for (const character of line) {
    const size = encoder.encode(character).length;
    if (octets + size > LINE_OCTETS) {
      folded += "\r\n ";
      octets = 1;
    }
    folded += character;
    octets += size;
  }
  return folded;
}
