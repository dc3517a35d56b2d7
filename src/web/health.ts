import { Hono } from "hono";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import { verifySchema } from "../database/migrate.ts";
import { MigrationError } from "../database/migration_error.ts";
import { shareCalls } from "./shared_call.ts";
import type { WebEnvironment } from "./web_environment.ts";

/** Whoever asks usually waits no longer than a few seconds. */
const READY_DEADLINE_MS = 3_000;

/**
 * `/healthz` and `/readyz`, which are open to everybody.
 *
 * `/healthz` answers 200 as long as the process does: it asks nobody. `/readyz` answers 200 `{"ready": true}` only if the database
 * answers and has a schema that this program can run on, else 503 `{"ready": false, "problem": "..."}` with a sentence that
 * holds no address and no password.
 */
export function healthRoutes(database: Pick<Database, "query">): Hono<WebEnvironment> {
  const verify = shareCalls(() => verifySchema(database), READY_DEADLINE_MS);
  return new Hono<WebEnvironment>()
    .get("/healthz", (context) => {
      context.header("Cache-Control", "no-store");
      return context.json({ healthy: true });
    })
    .get("/readyz", async (context) => {
      context.header("Cache-Control", "no-store");
      try {
        await verify();
        return context.json({ ready: true });
      } catch (error) {
        return context.json({ ready: false, problem: describe(error) }, 503);
      }
    });
}

function describe(error: unknown): string {
  if (error instanceof MigrationError) return error.message;
  if (error instanceof DatabaseUnavailableError) return "The database does not answer.";
  const code = (error as { code?: unknown } | null)?.code;
  return `The database refused the question for its schema${typeof code === "string" ? ` (${code})` : ""}.`;
}
