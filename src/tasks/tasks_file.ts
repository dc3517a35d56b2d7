import { getLogger } from "@logtape/logtape";
import { type Database, DatabaseUnavailableError } from "../database/connect.ts";
import { expandEnvironment } from "./expand_environment.ts";

/** What to load, and from where. */
export interface TasksFileOptions {
  database: Database;
  path: string;
  /** Reads an environment variable, for `${NAME}` in the file's strings. */
  variable(name: string): string | undefined;
}

/** The tasks file, applied to the database whenever it has changed. */
export interface TasksFile {
  /**
   * Looks at the file and, if it has changed since it was last applied or refused, applies it. A file that is not there, cannot
   * be read, or is refused changes nothing: the old tasks go on, and the log says why, once.
   *
   * @param stop Gives up a file that cannot be opened, such as one on a server that is gone.
   * @returns Whether the tasks have changed.
   */
  look(stop: AbortSignal): Promise<boolean>;
}

/** The answer of `uptuple.apply_tasks`. */
interface Application {
  outcome: "APPLIED" | "UNCHANGED" | "IGNORED";
  version: string;
  added: string[];
  changed: string[];
  removed: string[];
  shadowed: string[];
}

const logger = getLogger(["uptuple", "tasks"]);
/** A refused file is tried again after so long, in ms, although it is the same: a function that it names may be there by then. */
const RETRY_MS = 30_000;
/** More than any list of tasks that a person wrote, in bytes. */
const LONGEST_FILE = 1_000_000;
/** Some editors begin a file with it; JSON may not. */
const BYTE_ORDER_MARK = /^\uFEFF/;
/** Every refusal says so. */
const OLD_TASKS_GO_ON = "and the old tasks go on";

/** @param options What to load. */
export function createTasksFile({ database, path, variable }: TasksFileOptions): TasksFile {
  /** The text that is done with, be it applied or refused. */
  let settled: string | null = null;
  let retryAt = Infinity;
  let complaint: string | null = null;

  function complain(problem: string): void {
    if (problem === complaint) return;
    complaint = problem;
    logger.error("{path}: {problem}", { path, problem });
  }

  async function read(stop: AbortSignal): Promise<string | null> {
    try {
      const text = await Deno.readTextFile(path, { signal: stop });
      if (text.length > LONGEST_FILE) throw new Error(`it is longer than ${LONGEST_FILE} characters`);
      return text.replace(BYTE_ORDER_MARK, "");
    } catch (error) {
      if (stop.aborted) return null;
      if (!(error instanceof Deno.errors.NotFound)) {
        complain(`The file cannot be read, ${OLD_TASKS_GO_ON}: ${reason(error)}`);
      } else if (settled !== null) {
        complain("The file is gone, and its tasks go on: to remove them, put an empty list of groups into it.");
      }
      return null;
    }
  }

  async function apply(text: string): Promise<boolean> {
    const document = expandEnvironment(JSON.parse(text), variable);
    const [application] = await database.query<Application>`select * from uptuple.apply_tasks(${document})`;
    const complained = complaint !== null;
    complaint = null;
    if (application === undefined) return false;
    if (application.outcome === "UNCHANGED") {
      if (complained) logger.info("{path} version {version} is what is applied already", { path, ...application });
      return false;
    }
    if (application.outcome === "IGNORED") {
      logger.warn("{path} has version {version}, and a newer one is applied already: it is ignored.", {
        path,
        ...application,
      });
      return false;
    }
    logger.info("{path} version {version} is applied: {added} added, {changed} changed, {removed} removed", {
      path,
      ...application,
    });
    if (application.shadowed.length > 0) {
      logger.info("Rows of the database win over {shadowed} of {path}", { path, shadowed: application.shadowed });
    }
    return true;
  }

  return {
    async look(stop) {
      const text = await read(stop);
      if (text === null || (text === settled && performance.now() < retryAt)) return false;
      try {
        const changed = await apply(text);
        settled = text;
        retryAt = Infinity;
        return changed;
      } catch (error) {
        if (error instanceof DatabaseUnavailableError) return false;
        settled = text;
        retryAt = performance.now() + RETRY_MS;
        complain(refusal(error));
        return false;
      }
    },
  };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Everything that is wrong with a refused file, and what to do about the first of it. */
function refusal(error: unknown): string {
  if (error instanceof SyntaxError) return `The file is not JSON, ${OLD_TASKS_GO_ON}: ${error.message}`;
  const { detail, hint } = error as { detail?: string; hint?: string };
  const faults = (detail ?? "").split("\n").slice(1);
  const first = reason(error);
  return [
    first.includes(OLD_TASKS_GO_ON) ? first : `The file is refused, ${OLD_TASKS_GO_ON}: ${first}`,
    ...faults.map((fault) => `also ${fault}`),
    ...(hint ? [hint] : []),
  ].join("\n  ");
}
