import type { Moment } from "../moment.tsx";
import type { IncidentNotice } from "../service_page.ts";
import type { IncidentCheck, IncidentPage, WrittenUpdate } from "./incident_page.ts";

/** Something that happened in the course of an incident. */
export type Happening =
  | { kind: "opened" | "closed" | "withdrawn"; at: Moment }
  /** Between the first and the last checks there are others, which are not in the page. */
  | { kind: "left_out"; at: Moment }
  | { kind: "check"; at: Moment; check: IncidentCheck }
  /** Checks in a row with the same verdict and reason. */
  | { kind: "checks"; at: Moment; until: Moment; count: number; check: IncidentCheck }
  | { kind: "notice"; at: Moment; notice: IncidentNotice }
  | { kind: "acknowledged"; at: Moment; by: string; note: string | null }
  | { kind: "update"; at: Moment; update: WrittenUpdate };

/** `uptuple.incident_page` gives so many of the first checks, and of the last. */
const CHECKS_AT_EACH_END = 50;

/** The course of an incident from its first failed check on, the oldest first; what is alike in a row is one entry. */
export function timelineOf(page: IncidentPage): Happening[] {
  const afterGap = page.checks.length < 2 * CHECKS_AT_EACH_END ? undefined : page.checks[CHECKS_AT_EACH_END];
  const happenings: Happening[] = [
    ...(afterGap === undefined ? [] : [{ kind: "left_out", at: afterGap.recorded_at } as const]),
    ...page.checks.map((check): Happening => ({ kind: "check", at: check.recorded_at, check })),
    ...page.updates.map((update): Happening => ({ kind: "update", at: update.posted_at, update })),
    { kind: "opened", at: page.opened_at },
  ];
  const notices = page.notices.map((notice): Happening => ({ kind: "notice", at: toldAt(notice, page), notice }));
  if (page.closed_at !== null) {
    happenings.push({ kind: page.closed_by === "withdrawn" ? "withdrawn" : "closed", at: page.closed_at });
  }
  if (page.acknowledged_at !== null) {
    happenings.push({
      kind: "acknowledged",
      at: page.acknowledged_at,
      by: page.acknowledged_by ?? "somebody",
      note: page.acknowledged_note,
    });
  }
  // A sort that keeps the order of what is of one moment: first the check, then what it led to, then who was told.
  return together([...happenings, ...notices].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)));
}

/** The beginning and the end of an incident are told in their own moment, give or take the microseconds of a transaction. */
function toldAt({ kind, occurred_at }: IncidentNotice, page: IncidentPage): Moment {
  if (kind === "service.failed") return page.opened_at;
  return kind === "service.recovered" && page.closed_at !== null ? page.closed_at : occurred_at;
}

function together(happenings: Happening[]): Happening[] {
  const joined: Happening[] = [];
  for (const happening of happenings) {
    const last = joined.at(-1);
    if (
      happening.kind === "check" && (last?.kind === "check" || last?.kind === "checks") &&
      alike(last.check, happening.check)
    ) {
      const count = last.kind === "checks" ? last.count + 1 : 2;
      joined[joined.length - 1] = { kind: "checks", at: last.at, until: happening.at, count, check: last.check };
    } else joined.push(happening);
  }
  return joined;
}

function alike(a: IncidentCheck, b: IncidentCheck): boolean {
  return a.status === b.status && a.reason === b.reason;
}
