import { getLogger } from "@logtape/logtape";
import { type Context, Hono } from "hono";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import type { WebEnvironment } from "./web_environment.ts";

const logger = getLogger(["uptuple", "web"]);
/** Of a body no more is read than this, in bytes; SQL keeps the beginning of it. */
const BODY_LIMIT = 10_000;
/** How long the rest of a request may take to come, in ms: what a job has to say counts also without it. */
const BODY_DEADLINE_MS = 2_000;
/** SQL's word that a heartbeat changes too often. */
const TOO_OFTEN = "UT003";

const TOKEN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What a call says, by the last part of its path. */
interface Beat {
  event: "success" | "start" | "fail";
  exitCode: number | null;
}

/**
 * `POST`, `GET` or `HEAD` of `/heartbeat/<token>`, followed by nothing, `/start`, `/fail` or an exit code from 0 to 255: what a job calls to
 * report. The token is the secret, so these routes ask for nothing else and stand before those that do. The answer is a word for people
 * and a status for programs: 200, 404 for an unknown token, 429, and 503 when the database is away, upon which a job may try again.
 */
export function heartbeatRoutes(database: Pick<Database, "query">): Hono<WebEnvironment> {
  async function take(context: Context<WebEnvironment>) {
    context.header("Cache-Control", "no-store");
    const token = context.req.param("token") ?? "";
    const beat = beatOf(context.req.param("event"));
    if (beat === null || !TOKEN.test(token)) return unknown(context);
    const reason = await beginning(context.req.raw);
    try {
      const [row] = await database.query<{ status: string | null }>`
        select uptuple.heartbeat_by_token(${token}::uuid, ${beat.event}, ${beat.exitCode}::integer, ${reason}) as status`;
      if (row === undefined || row.status === null) return unknown(context);
      return context.text(`OK: ${row.status}\n`);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === TOO_OFTEN) return tooOften(context);
      if (!(error instanceof DatabaseUnavailableError)) logger.error("A heartbeat was not taken: {error}", { error });
      context.header("Retry-After", "5");
      return context.text("The database does not answer: try again.\n", 503);
    }
  }

  return new Hono<WebEnvironment>()
    // HEAD is answered as GET is.
    .on(["GET", "POST"], ["/heartbeat/:token", "/heartbeat/:token/:event"], take);
}

/** Guessing gets nobody anywhere: a token has 122 random bits. So nobody is kept waiting for the mistakes of another behind the same proxy. */
function unknown(context: Context<WebEnvironment>) {
  return context.text("There is no such heartbeat.\n", 404);
}

/** Null for a path that says nothing. */
function beatOf(event: string | undefined): Beat | null {
  if (event === undefined) return { event: "success", exitCode: null };
  if (event === "start" || event === "fail") return { event, exitCode: null };
  const exitCode = /^\d{1,3}$/.test(event) ? Number(event) : 256;
  return exitCode > 255 ? null : { event: exitCode === 0 ? "success" : "fail", exitCode };
}

function tooOften(context: Context<WebEnvironment>) {
  context.header("Retry-After", "5");
  return context.text("This heartbeat changes more often than once a second: call once for each run.\n", 429);
}

/** The beginning of a body as text, or null if there is none. What is wrong with the rest of it, or late, is not waited for. */
async function beginning(request: Request): Promise<string | null> {
  if (request.body === null) return null;
  const reader = request.body.getReader();
  const late = setTimeout(() => void reader.cancel().catch(() => {}), BODY_DEADLINE_MS);
  const decoder = new TextDecoder();
  let text = "";
  let left = BODY_LIMIT;
  try {
    while (left > 0) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, left), { stream: true });
      left -= value.length;
    }
  } catch {
    // A connection that broke: the job said what it said.
  } finally {
    clearTimeout(late);
    await reader.cancel().catch(() => {});
  }
  return text.trim() === "" ? null : text;
}
