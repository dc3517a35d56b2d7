import { join } from "node:path";
import { readTextIfExists } from "./binaries.ts";

/** Who owns the cluster, and whom the server's URLs log in. */
export const SUPERUSER = "postgres";

/** The database that the server's URLs name. */
export const DATABASE = "uptuple";

/** Linux and the BSDs cut a socket's path at 108 and 104 bytes. */
const SOCKET_PATH_LIMIT = 103;

/** The paths of one server. */
export interface ServerFiles {
  /** What holds the next four. */
  directory: string;
  binaries: string;
  data: string;
  socket: string;
  log: string;
  password: string;
  port: string;
}

/**
 * @param directory Where the server's user has its files.
 * @param home Where the program has its own, which only this program's user reads.
 */
export function filesBelow(directory: string, home: string): ServerFiles {
  return {
    directory,
    binaries: join(directory, "postgres"),
    data: join(directory, "data"),
    socket: join(directory, "socket"),
    log: join(directory, "log"),
    password: join(home, "password"),
    port: join(home, "port"),
  };
}

/** Over loopback, with the password. */
export function serverUrl(port: number, password: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}

/** Through the private socket, or null if there is none. */
export function socketUrl(files: ServerFiles, port: number): string | null {
  if (!hasSocket(files, port)) return null;
  return `postgres://${SUPERUSER}@/${DATABASE}?host=${encodeURIComponent(files.socket)}&port=${port}`;
}

/** Whether the server has a unix socket: not on Windows, and not where its path would be too long. */
export function hasSocket(files: ServerFiles, port: number): boolean {
  const path = `${files.socket}/.s.PGSQL.${port}`;
  return Deno.build.os !== "windows" && new TextEncoder().encode(path).length <= SOCKET_PATH_LIMIT;
}

/**
 * What a server writes about itself while it runs; null if there is none. `ready`: it listens, and says otherwise before it
 * stops to.
 */
export function readPostmasterFile(files: ServerFiles): { port: number; ready: boolean } | null {
  const lines = readTextIfExists(join(files.data, "postmaster.pid"))?.split("\n") ?? [];
  const port = Number(lines[3] ?? NaN);
  return Number.isInteger(port) && port > 0 ? { port, ready: lines[7]?.trim() === "ready" } : null;
}

/** What the server said since it was last started: first to its standard error, then to today's log. */
export function readServerLog(files: ServerFiles, startedAt: Date): string {
  const startup = readTextIfExists(join(files.log, "startup.log")) ?? "";
  let newest = { name: "", modified: 0 };
  for (const { name } of Deno.readDirSync(files.log)) {
    const modified = Deno.statSync(join(files.log, name)).mtime?.getTime() ?? 0;
    if (name.startsWith("postgres-") && modified > newest.modified) newest = { name, modified };
  }
  const collected = newest.name === "" ? "" : Deno.readTextFileSync(join(files.log, newest.name));
  // Its lines begin with the time in UTC, as in 2026-03-29 01:30:00.123.
  const since = startedAt.toISOString().replace("T", " ").slice(0, -1);
  return startup + collected.split("\n").filter((line) => line >= since).join("\n");
}

/** What is worth quoting of a log. */
export function lastLines(text: string): string {
  return text.trim().split("\n").slice(-6).join("\n  ");
}

/** Whether two paths lead to the same place, which must exist. */
export function samePath(one: string, other: string): boolean {
  return one === other || Deno.realPathSync(one) === Deno.realPathSync(other);
}
