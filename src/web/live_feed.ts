import { getLogger } from "@logtape/logtape";

/** What a feed is made of. */
export interface LiveFeedOptions<View> {
  /** Reads a text that changes when there is something new; cheap. */
  readMark: () => Promise<string>;
  /** Reads what is shown, with its own mark. */
  readView: () => Promise<{ mark: string; view: View }>;
  /** The data of the event that takes a viewer from one view to another; null if he has to fetch the page anew. */
  difference: (before: View, after: View) => string | null;
  /** How often the mark is read while anybody looks, in ms. */
  lookMs: number;
}

/** Tells any number of viewers what changes, and asks the database once for all of them. */
export interface LiveFeed {
  /**
   * A stream of server-sent events: `parts` with the data of the difference, or `refetch` where the page has to be fetched anew.
   *
   * @param mark The mark of what the viewer has; he is told at once if it is no longer that.
   * @returns Null if there are too many viewers.
   */
  join(mark: string): ReadableStream<Uint8Array> | null;
}

/** A viewer, and the mark of what he has been told. */
interface Viewer {
  controller: ReadableStreamDefaultController<Uint8Array>;
  mark: string;
}

const logger = getLogger(["uptuple", "web"]);
/** Reading it may take this share of the time. */
const SHARE_OF_TIME = 1 / 20;
/** How often something is sent, so that no proxy takes the connection for dead, in ms. */
const HEARTBEAT_MS = 15_000;
/** How soon a browser comes back when it has lost the connection, in ms. */
const RETRY_MS = 2_000;
const MOST_VIEWERS = 10_000;
/** A viewer who has so many events waiting is let go; he comes back and fetches the page. */
const MOST_WAITING = 64;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");

/** Nothing is read, and no timer runs, while nobody looks. */
export function liveFeed<View>({ readMark, readView, difference, lookMs }: LiveFeedOptions<View>): LiveFeed {
  const viewers = new Set<Viewer>();
  let latest: { mark: string; view: View } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  let isLost = false;
  // Counts the times that somebody came where nobody was, so that a look from before ends there.
  let turn = 0;

  function send(viewer: Viewer, bytes: Uint8Array): void {
    if ((viewer.controller.desiredSize ?? 0) > 0) return viewer.controller.enqueue(bytes);
    viewer.controller.close();
    leave(viewer);
  }

  function leave(viewer: Viewer): void {
    viewers.delete(viewer);
    if (viewers.size > 0) return;
    turn++;
    clearTimeout(timer);
    clearInterval(heartbeat);
    // Nobody is left who knows it.
    latest = null;
  }

  /** Brings every viewer to what there is now. */
  function tell(before: { mark: string; view: View } | null, now: { mark: string; view: View }): void {
    let parts: Uint8Array | null | undefined;
    const refetch = eventOf(now.mark, "refetch", "");
    for (const viewer of viewers) {
      if (viewer.mark === now.mark) continue;
      if (viewer.mark === before?.mark) {
        // Drawn once for all.
        if (parts === undefined) {
          const data = difference(before.view, now.view);
          parts = data === null ? null : eventOf(now.mark, "parts", data);
        }
        send(viewer, parts ?? refetch);
      } else {
        send(viewer, refetch);
      }
      viewer.mark = now.mark;
    }
  }

  async function look(mine: number): Promise<void> {
    const startedAt = performance.now();
    try {
      const mark = await readMark();
      if (latest?.mark !== mark || isLost || [...viewers].some((viewer) => viewer.mark !== mark)) {
        const now = await readView();
        if (mine !== turn) return;
        tell(latest, now);
        latest = viewers.size > 0 ? now : null;
      }
      isLost = false;
    } catch (error) {
      if (mine !== turn) return;
      if (!isLost) {
        logger.warn("Changes were not read: {reason}", {
          reason: error instanceof Error ? error.message : String(error),
        });
        // The page that they fetch says what is the matter.
        for (const viewer of viewers) send(viewer, eventOf("", "refetch", ""));
      }
      isLost = true;
    }
    if (mine !== turn) return;
    const took = performance.now() - startedAt;
    timer = setTimeout(() => look(mine), Math.max(lookMs, took / SHARE_OF_TIME));
  }

  return {
    join(mark) {
      if (viewers.size >= MOST_VIEWERS) return null;
      let viewer: Viewer;
      return new ReadableStream<Uint8Array>({
        start(controller) {
          viewer = { controller, mark };
          viewers.add(viewer);
          controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
          if (viewers.size > 1) return;
          heartbeat = setInterval(() => viewers.forEach((each) => send(each, HEARTBEAT)), HEARTBEAT_MS);
          timer = setTimeout(look, 0, turn);
        },
        cancel: () => leave(viewer),
      }, new CountQueuingStrategy({ highWaterMark: MOST_WAITING }));
    },
  };
}

/** The id comes back as Last-Event-ID when a browser comes back. */
function eventOf(mark: string, event: string, data: string): Uint8Array {
  return encoder.encode(`id: ${mark}\nevent: ${event}\ndata: ${data}\n\n`);
}
