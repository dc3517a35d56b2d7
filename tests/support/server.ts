import { join } from "node:path";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/database/embedded.ts";
import { until } from "./wait.ts";

/** A PostgreSQL server of one test's own, to be killed and started again. */
export interface OwnServer extends AsyncDisposable {
  /** Logs in as the superuser, to the database `uptuple`. */
  readonly url: string;
  /** The process that all others of the server descend from. */
  postmasterPid(): number;
  /** Kills the server with -9, as a power failure would; its processes are gone when this returns. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  revive(): Promise<void>;
}

/**
 * Starts a server on a temporary directory. Whatever is left of both goes with the test.
 *
 * @param durable Whether what was committed survives a kill; else the last moments before it may be lost.
 */
export async function ownServer({ durable = false } = {}): Promise<OwnServer> {
  const directory = await temporaryDirectory();
  const server = await startEmbeddedServer({ dataDir: directory.path, durable });
  return {
    url: server.url,
    postmasterPid: () => readPostmasterPid(server),
    kill: () => killServer(server),
    async revive() {
      await server.revive();
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** The process id that a server wrote beside its data. */
export function readPostmasterPid(server: Pick<EmbeddedServer, "directory">): number {
  const text = Deno.readTextFileSync(join(server.directory, "data", "postmaster.pid"));
  return Number(text.slice(0, text.indexOf("\n")));
}

/** Kills a server's postmaster with -9, and waits until nobody listens any more. */
export async function killServer(server: Pick<EmbeddedServer, "directory" | "url">): Promise<void> {
  Deno.kill(readPostmasterPid(server), "SIGKILL");
  const port = Number(new URL(server.url).port);
  await until(
    "the server is gone",
    () => Deno.connect({ hostname: "127.0.0.1", port }).then((one) => one.close(), () => true),
  );
}

/** A directory that every user may enter, removed when disposed of. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir({ prefix: "uptuple-own-" });
  if (Deno.build.os !== "windows") await Deno.chmod(path, 0o755);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await Deno.remove(path, { recursive: true });
    },
  };
}
