import type { Moment } from "../moment.tsx";
import { UPDATE_WORDS } from "../written_text.tsx";
import type { Incident, Maintenance, StatusPage } from "./status_page.ts";

/** One thing that was said: by somebody about an incident, or by the monitor itself. An entry of a feed. */
export interface Announcement {
  /** Stays the same for ever, over releases and changes of wording. */
  id: string;
  title: string;
  /** Plain text, in paragraphs. */
  text: string;
  published: Moment;
  updated: Moment;
  /** The part of the page that it is about. */
  anchor: string;
}

/** What is called what was said, and when, of one incident; oldest first. The monitor speaks first and, when the failure is over, once more. */
export interface Saying {
  id: string;
  word: string;
  text: string;
  at: Moment;
  changed_at: Moment | null;
}

/** Everything that was said of an incident, oldest first. */
export function sayingsOf(incident: Incident): Saying[] {
  const { component: { name } } = incident;
  const sayings = incident.updates.map((update): Saying => ({
    id: update.id,
    word: UPDATE_WORDS[update.status],
    text: update.body,
    at: update.posted_at,
    changed_at: update.changed_at,
  }));
  sayings.push({
    id: `${incident.id}-opened`,
    word: "Outage",
    text: `${name} does not answer as it should.`,
    at: incident.opened_at,
    changed_at: null,
  });
  if (incident.closed_at !== null) {
    const text = `${name} answers as it should again.`;
    sayings.push({ id: `${incident.id}-closed`, word: "Recovered", text, at: incident.closed_at, changed_at: null });
  }
  return sayings.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** Everything that a page says, newest first: one entry for each update, each with an id of its own. */
export function announcementsOf({ incidents, maintenances }: StatusPage): Announcement[] {
  return [
    ...incidents.flatMap((incident) =>
      sayingsOf(incident).map((saying): Announcement => ({
        id: saying.id,
        title: `${saying.word}: ${incident.component.name}`,
        text: saying.text,
        published: saying.at,
        updated: saying.changed_at ?? saying.at,
        anchor: `incident-${incident.id}`,
      }))
    ),
    ...maintenances.map(announceMaintenance),
  ].sort((a, b) => Date.parse(b.published) - Date.parse(a.published));
}

function announceMaintenance(maintenance: Maintenance): Announcement {
  const names = maintenance.components.map(({ name }) => name).join(", ");
  const span = `${utc(maintenance.starts_at)} to ${utc(maintenance.ends_at)} UTC`;
  return {
    // What was changed is told anew, also by readers that know an entry by its id alone.
    id: `${maintenance.id}-${maintenance.sequence}`,
    title: `${maintenance.state === "cancelled" ? "Maintenance cancelled" : "Maintenance"}: ${maintenance.title}`,
    text: [`${span}. Affects ${names}.`, maintenance.description].filter((part) => part !== null).join("\n\n"),
    published: maintenance.changed_at,
    updated: maintenance.changed_at,
    anchor: `maintenance-${maintenance.id}`,
  };
}

/** `2026-11-30 14:05` */
function utc(at: Moment): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}
