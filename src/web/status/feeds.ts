import { escapeXml } from "../escape_xml.ts";
import { paragraphsOf } from "../written_text.tsx";
import { type Announcement, announcementsOf } from "./announcements.ts";
import type { StatusPage } from "./status_page.ts";

/** Where a page and its parts are, for documents that are read elsewhere. */
export interface PageAddress {
  /** Of the page itself, absolute. */
  page: string;
  /** Of the feed that is being written, absolute. */
  self: string;
}

/** A page's announcements as Atom (RFC 4287), newest first. */
export function atomFeed(status: StatusPage, { page, self }: PageAddress): string {
  const entries = announcementsOf(status).map((entry) =>
    `<entry><id>urn:uptuple:${escapeXml(entry.id)}</id><title>${escapeXml(entry.title)}</title>` +
    `<published>${iso(entry.published)}</published><updated>${iso(entry.updated)}</updated>` +
    `<link rel="alternate" type="text/html" href="${escapeXml(linkTo(page, entry))}"/>` +
    `<content type="html">${escapeXml(paragraphs(entry.text))}</content></entry>\n`
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n` +
    `<id>urn:uuid:${status.page.id}</id><title>${escapeXml(status.page.title)}</title>` +
    `<updated>${iso(lastChange(status))}</updated><author><name>${escapeXml(status.page.title)}</name></author>` +
    `<link rel="self" type="application/atom+xml" href="${escapeXml(self)}"/>` +
    `<link rel="alternate" type="text/html" href="${escapeXml(page)}"/>\n${entries.join("")}</feed>\n`;
}

/** A page's announcements as RSS 2.0, newest first. */
export function rssFeed(status: StatusPage, { page, self }: PageAddress): string {
  const items = announcementsOf(status).map((entry) =>
    `<item><guid isPermaLink="false">urn:uptuple:${escapeXml(entry.id)}</guid><title>${
      escapeXml(entry.title)
    }</title>` +
    `<pubDate>${rfc822(entry.published)}</pubDate><link>${escapeXml(linkTo(page, entry))}</link>` +
    `<description>${escapeXml(paragraphs(entry.text))}</description></item>\n`
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>\n` +
    `<title>${escapeXml(status.page.title)}</title><link>${escapeXml(page)}</link>` +
    `<description>${escapeXml(status.page.description ?? status.page.title)}</description>` +
    `<lastBuildDate>${rfc822(lastChange(status))}</lastBuildDate><ttl>1</ttl>` +
    `<atom:link rel="self" type="application/rss+xml" href="${escapeXml(self)}"/>\n${items.join("")}</channel></rss>\n`;
}

/** When the feed last had something new, which is not when it was read: an unchanged feed is byte for byte the same. */
function lastChange(status: StatusPage): string {
  return announcementsOf(status).map(({ updated }) => updated)
    .reduce((latest, updated) => Date.parse(updated) > Date.parse(latest) ? updated : latest, status.page.updated_at);
}

function linkTo(page: string, { anchor }: Announcement): string {
  return `${page}#${anchor}`;
}

/** As HTML, which feed readers show; its text is escaped here, and all of it once more for XML. */
function paragraphs(text: string): string {
  return paragraphsOf(text).map((paragraph) => `<p>${escapeXml(paragraph).replaceAll("\n", "<br>")}</p>`)
    .join("");
}

function iso(at: string): string {
  return new Date(at).toISOString();
}

/** RFC 822 with four digits of the year and its zone: `Mon, 30 Nov 2026 14:05:00 GMT`. */
function rfc822(at: string): string {
  return new Date(at).toUTCString();
}
