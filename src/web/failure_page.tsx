import { getLogger } from "@logtape/logtape";
import type { Context } from "hono";
import { DatabaseUnavailableError } from "../database/connect.ts";
import { renderMessage } from "./message_page.tsx";
import { secure } from "./security_headers.ts";
import type { WebEnvironment } from "./web_environment.ts";

const logger = getLogger(["uptuple", "web"]);
/** SQLSTATEs of a schema that is not there yet, is not the one that this program knows, or may not be used. */
const SCHEMA_CODES: ReadonlySet<unknown> = new Set(["3F000", "42P01", "42703", "42883", "42501"]);
/** When to ask again, in seconds. */
const RETRY_AFTER = "5";

/** Answers a request for what does not exist. */
export function answerNotFound(context: Context<WebEnvironment>): Response | Promise<Response> {
  secure(context);
  context.header("Cache-Control", "no-store");
  const page = renderMessage({
    icon: "unknown",
    heading: "There is no such page",
    text: ["The address may have a slip in it. How the services are is on the first page."],
  });
  return context.html(page, 404);
}

/** Answers a request that failed, without anything of the program's inside; that goes to the log. */
export function answerFailure(error: Error, context: Context<WebEnvironment>): Response | Promise<Response> {
  secure(context);
  context.header("Cache-Control", "no-store");
  if (error instanceof DatabaseUnavailableError) {
    context.header("Retry-After", RETRY_AFTER);
    const page = renderMessage({
      icon: "down",
      heading: "The database does not answer",
      text: [
        "Uptuple keeps everything in PostgreSQL, so right now it cannot say how the services are. " +
        "It carries on by itself once the database is back, and so does this page.",
      ],
      live: true,
    });
    return context.html(page, 503);
  }
  if (SCHEMA_CODES.has((error as { code?: unknown }).code)) {
    logger.warn("The schema is not what this program needs: {error}", { error });
    context.header("Retry-After", RETRY_AFTER);
    const page = renderMessage({
      icon: "unknown",
      heading: "The schema is not ready",
      text: [
        "The database answers, but its schema is not the one that this program needs, or may not be read. " +
        "While it is being migrated this passes by itself; if it stays, /readyz says what is missing.",
      ],
      live: true,
    });
    return context.html(page, 503);
  }
  const reference = crypto.randomUUID();
  logger.error("A page failed: {error}", { error, reference, path: context.req.path });
  const page = renderMessage({
    icon: "down",
    heading: "Something went wrong",
    text: ["It is not your fault. The log of the program has it under this reference:", reference],
  });
  return context.html(page, 500);
}
