import { join } from "node:path";
import { until } from "./wait.ts";

/** A process of the program, as a person starts it. */
export interface RunningProgram extends AsyncDisposable {
  pid: number;
  /** Everything it has written so far, logs and messages alike. */
  output(): string;
  /** Its name in the database. */
  worker(): string;
  /** Resolves when it works. */
  ready: Promise<void>;
  /** Resolves with its exit code. */
  exited: Promise<number>;
  /** Sends a signal and waits until it is gone. */
  end(signal: Deno.Signal): Promise<number>;
}

/** What it is started with. */
export interface ProgramOptions {
  /** Added to an environment without any of the program's variables. */
  env?: Record<string, string>;
  /** Default: the permissions of `deno task start`. */
  permissions?: string[];
}

const REPOSITORY = join(import.meta.dirname ?? ".", "..", "..");
const STARTED = /^Uptuple \d+ works as (\S+)/m;

/** Starts the program with no roles but probing and delivering, on a database. */
export function startWorker(url: string, env: Record<string, string> = {}): RunningProgram {
  return startProgram({
    env: { DATABASE_URL: url, UPTUPLE_ROLES: "probe,deliver", UPTUPLE_LOG: "debug,json", ...env },
  });
}

/** Starts the program with an environment of its own. */
export function startProgram({ env = {}, permissions = ["-P"] }: ProgramOptions = {}): RunningProgram {
  const kept = ["PATH", "HOME", "DENO_DIR", "TMPDIR", "XDG_CACHE_HOME"];
  const environment = Object.fromEntries(kept.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...permissions, "--cached-only", "main.ts"],
    cwd: REPOSITORY,
    clearEnv: true,
    env: { ...environment, NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  let text = "";
  let gone = false;
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) text += chunk;
  };
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const exited = child.status.then(async ({ code }) => {
    gone = true;
    await collected;
    return code;
  });
  const ready = until("the program works", () => {
    if (gone) throw new Error(`the program ended before it worked:\n${text}`);
    return STARTED.test(text);
  }, 60_000).then(() => {});
  ready.catch(() => {});

  const program: RunningProgram = {
    pid: child.pid,
    output: () => text,
    worker: () => STARTED.exec(text)?.[1] ?? "",
    ready,
    exited,
    async end(signal) {
      if (!gone) child.kill(signal);
      return await exited;
    },
    async [Symbol.asyncDispose]() {
      await program.end("SIGKILL");
    },
  };
  return program;
}
