import { getLogger } from "@logtape/logtape";

const logger = getLogger(["uptuple", "database"]);
const callbacks = new Set<() => void>();
let installed = false;

/**
 * Keeps the process alive through the errors that postgres.js 3.4.9 throws where nobody can catch them, when a connection
 * dies: the write to a socket that is gone (from a timer, in a client-side transaction), and the rejection of its own query
 * for array types (as a new connection is being set up). Every other uncaught error ends the process as usual.
 */
export function surviveDriverCrashes(): void {
  if (installed) return;
  installed = true;
  const guard = (event: Event, error: unknown) => {
    if (!isDriverCrash(error)) return;
    event.preventDefault();
    logger.warn("The database driver lost a connection where nobody waited for it: {message}", {
      message: (error as Error).message,
    });
    for (const callback of callbacks) callback();
  };
  globalThis.addEventListener("error", (event) => guard(event, event.error));
  globalThis.addEventListener("unhandledrejection", (event) => guard(event, event.reason));
}

/** Calls back after each such error, until the function that is returned is called. */
export function onDriverCrash(callback: () => void): () => void {
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

function isDriverCrash(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isLostWrite = error instanceof TypeError && /reading 'write'/.test(error.message) &&
    /[\\/]postgres[\\/].*[\\/]connection\.js/.test(error.stack ?? "");
  // The driver notes on each error which query it came from.
  const { query } = error as { query?: unknown };
  const isLostTypeQuery = typeof query === "string" &&
    /select b\.oid, b\.typarray\s+from pg_catalog\.pg_type a/.test(query);
  return isLostWrite || isLostTypeQuery;
}
