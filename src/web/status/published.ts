import type { Database } from "../../database/connect.ts";
import { etagOf } from "../etag.ts";
import { type ComponentHistory, readStatusHistory, readStatusPage, type StatusPage } from "./status_page.ts";

/** A document that is ready to be sent: the same bytes to everybody until the page says something else. */
export interface Document {
  body: Uint8Array<ArrayBuffer>;
  /** The same, compressed; null where that is not worth it. */
  gzip: Uint8Array<ArrayBuffer> | null;
  /** Of the uncompressed bytes, weak, since both forms share it. */
  etag: string;
}

/** A status page as it was read last. */
export interface Reading {
  status: StatusPage;
  history: Record<string, ComponentHistory>;
}

/** Status pages, ready to be sent. */
export interface Published {
  /**
   * @param slug Of the page.
   * @param name Of the document among those of the page, together with whatever it depends on besides the page.
   * @param render Writes it, when it is not there yet for what was read last.
   * @returns Null if there is no such page.
   * @throws What reading threw, if there is nothing to show instead.
   */
  document(slug: string, name: string, render: (reading: Reading) => string): Promise<Document | null>;
}

/** A page is read again when it is asked for and this old, in ms. Whoever asks meanwhile gets the last one. */
const FRESH_MS = 2_000;
/** Its 90 days change slowly and take longer. */
const HISTORY_FRESH_MS = 60_000;
/** An older page is not shown even while the database is away, in ms. */
const USABLE_MS = 60 * 60_000;
/** How many pages, and how many documents of each, are kept. Whoever asks for more makes the oldest go. */
const MOST_PAGES = 100;
const MOST_DOCUMENTS = 60;
const WORTH_COMPRESSING = 1_000;

interface Entry {
  reading: Reading | null;
  readAt: number;
  historyAt: number;
  underWay: Promise<void> | null;
  /** JSON of `reading`, by which one that says the same is known, and its documents are kept. */
  text: string;
  documents: Map<string, Promise<Document>>;
}

/**
 * Keeps the pages that were asked for, so that any number of readers costs the database one query every two seconds and each of them
 * a few microseconds; and shows the last one while the database is away.
 */
export function publishedPages(database: Pick<Database, "query">): Published {
  const entries = new Map<string, Entry>();

  function entryOf(slug: string): Entry {
    const known = entries.get(slug);
    if (known !== undefined) return known;
    const entry: Entry = {
      reading: null,
      readAt: -Infinity,
      historyAt: -Infinity,
      underWay: null,
      text: "",
      documents: new Map(),
    };
    makeRoom(entries, MOST_PAGES);
    entries.set(slug, entry);
    return entry;
  }

  async function read(slug: string, entry: Entry): Promise<void> {
    const startedAt = performance.now();
    const isHistoryOld = startedAt - entry.historyAt > HISTORY_FRESH_MS;
    const [status, history] = await Promise.all([
      readStatusPage(database, slug),
      isHistoryOld ? readStatusHistory(database, slug) : entry.reading?.history ?? {},
    ]);
    entry.reading = status === null ? null : { status, history };
    entry.readAt = performance.now();
    if (isHistoryOld) entry.historyAt = entry.readAt;
    const text = JSON.stringify(entry.reading);
    if (text !== entry.text) entry.documents.clear();
    entry.text = text;
  }

  async function current(slug: string): Promise<Entry> {
    const entry = entryOf(slug);
    const age = performance.now() - entry.readAt;
    if (age < FRESH_MS) return entry;
    entry.underWay ??= read(slug, entry).finally(() => entry.underWay = null);
    if (age > USABLE_MS) await entry.underWay;
    // It is shown as it was; whether reading it anew fails concerns the next one who asks.
    else entry.underWay.catch(() => {});
    return entry;
  }

  return {
    async document(slug, name, render) {
      const entry = await current(slug);
      if (entry.reading === null) return null;
      const known = entry.documents.get(name);
      if (known !== undefined) return await known;
      const made = makeDocument(render(entry.reading));
      makeRoom(entry.documents, MOST_DOCUMENTS);
      entry.documents.set(name, made);
      return await made;
    },
  };
}

function makeRoom(kept: Map<string, unknown>, most: number): void {
  const [oldest] = kept.keys();
  if (kept.size >= most && oldest !== undefined) kept.delete(oldest);
}

async function makeDocument(text: string): Promise<Document> {
  const body = new TextEncoder().encode(text);
  const gzip = body.length < WORTH_COMPRESSING ? null : new Uint8Array(
    await new Response(new Blob([body]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer(),
  );
  return { body, gzip, etag: etagOf(body) };
}
