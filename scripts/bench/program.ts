import { createInterface } from "node:readline";
import { dirname, join } from "node:path";
import process from "node:process";

/** A program of a benchmark's own process, which answers lines of JSON with lines of JSON. */
export interface Program<Hello> extends AsyncDisposable {
  pid: number;
  /** Its first line. */
  hello: Hello;
  /** One command at a time. */
  ask<Answer>(command: object): Promise<Answer>;
}

/** What a program is started with. */
export interface ProgramOptions {
  args?: string[];
  /** Added to the environment. */
  env?: Record<string, string>;
}

/**
 * Starts a program of this directory that calls {@link answerLines}, and waits for its first line.
 *
 * @param file Its name, such as `targets.ts`; its own directory is the one that it works in.
 * @throws {Error} If it ends before it has answered.
 */
export async function startProgram<Hello>(
  file: string,
  { args = [], env = {} }: ProgramOptions = {},
): Promise<Program<Hello>> {
  const path = join(import.meta.dirname ?? ".", file);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", path, ...args],
    // The configuration above its working directory is the one that counts: the rivals have one of their own.
    cwd: dirname(path),
    env,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let unread = "";

  async function readLine<Answer>(): Promise<Answer> {
    for (;;) {
      const end = unread.indexOf("\n");
      if (end >= 0) {
        const line = unread.slice(0, end);
        unread = unread.slice(end + 1);
        return JSON.parse(line);
      }
      const { value } = await answers.read();
      if (value === undefined) throw new Error(`${file} has ended: see above.`);
      unread += value;
    }
  }

  return {
    pid: child.pid,
    hello: await readLine<Hello>(),
    async ask<Answer>(command: object) {
      await input.write(new TextEncoder().encode(JSON.stringify(command) + "\n"));
      return await readLine<Answer>();
    },
    async [Symbol.asyncDispose]() {
      await input.close();
      await answers.cancel();
      await child.status;
    },
  };
}

/** Says hello, then answers each command until the standard input ends. */
export async function answerLines<Command>(
  hello: object,
  answer: (command: Command) => Promise<object>,
): Promise<void> {
  console.log(JSON.stringify(hello));
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  }
}
