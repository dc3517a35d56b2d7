import { join } from "node:path";
import type { ServerFiles } from "./files.ts";

/** For each of two ways to stop. */
const STOP_TIMEOUT_SECONDS = 4;

/** A user of the operating system, by number. */
export interface Account {
  uid: number;
  gid: number;
}

/** All that the steps of a start share. */
export interface Launch {
  files: ServerFiles;
  /** Who the server runs as; null for the user that this program runs as. */
  account: Account | null;
  durable: boolean;
}

/**
 * Runs pg_ctl, which starts everything else, as the server's user. It puts the server in a session of its own, so that
 * Ctrl-C reaches the program alone and the server is there until the program has finished. The only program we run.
 */
export async function control(launch: Launch, args: string[]): Promise<{ code: number; output: string }> {
  const { files, account } = launch;
  const windows = Deno.build.os === "windows";
  const { code, stdout, stderr } = await new Deno.Command(
    join(files.binaries, "bin", windows ? "pg_ctl.exe" : "pg_ctl"),
    {
      args,
      cwd: windows ? files.directory : "/",
      // Windows' programs need variables such as SystemRoot; elsewhere an LD_LIBRARY_PATH of ours would need all rights.
      clearEnv: !windows,
      env: { LC_ALL: "C", ...(windows ? {} : { PATH: "/usr/local/bin:/usr/bin:/bin" }) },
      ...(account ?? {}),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    },
  ).output();
  const decoder = new TextDecoder();
  return { code, output: (decoder.decode(stdout) + decoder.decode(stderr)).trim() };
}

/** Whether a process has the number that the server left in its postmaster.pid; it need not be the server. */
export async function isAlive(launch: Launch): Promise<boolean> {
  return (await control(launch, ["status", "-D", launch.files.data])).code === 0;
}

/** Fast, and if that takes too long without a goodbye: the next start then recovers, and nothing committed is lost. */
export async function stopServer(launch: Launch): Promise<void> {
  if (!await isAlive(launch)) return;
  const stop = (mode: string) =>
    control(launch, ["stop", "-s", "-w", "-t", String(STOP_TIMEOUT_SECONDS), "-m", mode, "-D", launch.files.data]);
  if ((await stop("fast")).code !== 0) await stop("immediate");
}

/** A directory of the server's user alone. */
export function makePrivateDirectory(launch: Launch, path: string): void {
  Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  own(launch, path);
}

/** Gives a file to the server's user. */
export function own(launch: Launch, path: string): void {
  if (launch.account !== null) Deno.chownSync(path, launch.account.uid, launch.account.gid);
}
