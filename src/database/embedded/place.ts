import { join, resolve } from "node:path";
import { installServerBinaries, makeOpenDirectory, readTextIfExists, removeServerBinaries } from "./binaries.ts";
import { type Account, control, type Launch, stopServer } from "./control.ts";
import { EmbeddedServerError } from "./error.ts";
import { filesBelow, type ServerFiles } from "./files.ts";

/** For root that starts the program below a directory that only root may enter, such as /root. */
const FALLBACK_DIRECTORY = "/var/lib/uptuple";

/** What `startEmbeddedServer` is asked of these. */
interface PlaceOptions {
  fallbackDir?: string;
  durable?: boolean;
}

/**
 * Finds a place for the server's files that its user can enter, and brings the programs there.
 *
 * @param home The directory that was asked for; it keeps the lock, the password, and the name of the other place if there is one.
 * @throws {EmbeddedServerError} If there is no such place, or the programs do not run.
 */
export async function prepare(home: string, options: PlaceOptions): Promise<Launch> {
  const durable = options.durable ?? true;
  const isRoot = Deno.build.os !== "windows" && Deno.uid() === 0;
  const location = readTextIfExists(join(home, "location"));
  const launch = launchFrom(filesBelow(location ?? home, home), isRoot, durable);
  await installServerBinaries(launch.files.binaries, () => stopServer(launch));
  if (await canRun(launch)) return launch;

  if (location !== null) throw cannotEnter(launch);
  const fallback = resolve(options.fallbackDir ?? FALLBACK_DIRECTORY);
  const moved = launchFrom(filesBelow(fallback, home), isRoot, durable);
  claimFallback(fallback, home);
  removeServerBinaries(launch.files.binaries);
  await installServerBinaries(moved.files.binaries, () => stopServer(moved));
  if (!await canRun(moved)) throw cannotEnter(moved);
  Deno.writeTextFileSync(join(home, "location"), fallback);
  return moved;
}

function launchFrom(files: ServerFiles, isRoot: boolean, durable: boolean): Launch {
  return { files, account: isRoot ? accountFor(files.data) : null, durable };
}

/** Whoever owns the data that is there, so that root may start what a user began; else nobody. */
function accountFor(data: string): Account {
  try {
    const { uid, gid } = Deno.statSync(data);
    if (uid !== null && uid !== 0) return { uid, gid: gid ?? uid };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const nobody = Deno.build.os === "darwin" ? 4_294_967_294 : 65_534;
  return { uid: nobody, gid: nobody };
}

/** The fallback directory is for one program: a second one would find the first one's data. */
function claimFallback(fallback: string, home: string): void {
  makeOpenDirectory(fallback);
  const owner = readTextIfExists(join(fallback, "owner"));
  if (owner !== null && owner !== home) {
    throw new EmbeddedServerError(
      `PostgreSQL does not run as root, its user cannot enter ${home}, and ${fallback} already serves ${owner}: ` +
        `set UPTUPLE_DATA_DIR to a directory that every user may enter, or remove ${fallback} if it is no longer needed.`,
    );
  }
  Deno.writeTextFileSync(join(fallback, "owner"), home);
}

function cannotEnter(launch: Launch): EmbeddedServerError {
  return new EmbeddedServerError(
    `PostgreSQL does not run as root, and user ${launch.account?.uid} cannot enter ${launch.files.directory}: ` +
      `set UPTUPLE_DATA_DIR to a directory that every user may enter, or run this as another user than root.`,
  );
}

/** @returns False if the server's user cannot reach its programs. */
async function canRun(launch: Launch): Promise<boolean> {
  try {
    const { code, output } = await control(launch, ["--version"]);
    if (code !== 0) throw new EmbeddedServerError(`PostgreSQL's programs do not run on this machine: ${output}`);
    return true;
  } catch (error) {
    if (launch.account !== null && error instanceof Deno.errors.PermissionDenied) return false;
    throw error;
  }
}
