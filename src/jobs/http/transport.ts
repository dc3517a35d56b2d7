import { connect } from "node:tls";
import { visitByFetch } from "./fetch_visit.ts";
import { type Visit, visitByNode } from "./http_probe.ts";

/** A way to carry HTTP requests. The name stands in each observation. */
export interface Transport {
  name: "node" | "fetch";
  visit: Visit;
}

/** Node's sockets: sees addresses, certificates and the time of each phase. */
export const NODE_TRANSPORT: Transport = { name: "node", visit: visitByNode };

/** Fetch: sees none of them. */
export const FETCH_TRANSPORT: Transport = { name: "fetch", visit: visitByFetch };

/** Tries whether port 443 can be reached. */
export interface SelfTest {
  byNode(): Promise<boolean>;
  byFetch(): Promise<boolean>;
}

/** A host that is up whenever Deno Deploy is. */
const SELF_TEST_HOST = "deno.com";
const SELF_TEST_TIMEOUT_MS = 5000;

/**
 * Chooses the transport for this program. Everywhere but on Deno Deploy it is node's. There port 443 may be closed to sockets that do not
 * come from fetch, so it is tried, once: fetch is chosen if fetch gets through where node does not. While neither does, the network is
 * what is wrong, nothing is concluded, and the next call tries again.
 *
 * @param onDeploy Whether this program runs on Deno Deploy.
 */
export function transportChoice(onDeploy: boolean, selfTest: SelfTest = reachTheWorld): () => Promise<Transport> {
  let chosen = onDeploy ? null : NODE_TRANSPORT;
  let trying: Promise<Transport> | null = null;

  async function tryOut(): Promise<Transport> {
    try {
      if (await selfTest.byNode()) return chosen = NODE_TRANSPORT;
      if (await selfTest.byFetch()) return chosen = FETCH_TRANSPORT;
      return NODE_TRANSPORT;
    } finally {
      trying = null;
    }
  }

  return () => chosen === null ? trying ??= tryOut() : Promise.resolve(chosen);
}

/**
 * Whether node:tls makes a full handshake each time. Deno before 2.9.6 resumes sessions unasked, and a resumed one shows an old
 * certificate and counts as verified. Where a person chooses the version, the probe says so; Deno Deploy chooses its own.
 *
 * @param version Of Deno, such as `2.9.6`.
 */
export function makesFullHandshakes(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => parseInt(part));
  return major * 1e6 + minor * 1e3 + patch >= 2_009_006;
}

const reachTheWorld: SelfTest = {
  byNode: () =>
    new Promise((resolve) => {
      if (!makesFullHandshakes(Deno.version.deno)) return resolve(false);
      const socket = connect({ host: SELF_TEST_HOST, port: 443, servername: SELF_TEST_HOST });
      const timer = setTimeout(() => end(false), SELF_TEST_TIMEOUT_MS);
      function end(reached: boolean): void {
        clearTimeout(timer);
        socket.destroy();
        resolve(reached);
      }
      socket.once("secureConnect", () => end(true));
      socket.on("error", () => end(false));
    }),
  async byFetch() {
    try {
      const response = await fetch(`https://${SELF_TEST_HOST}/`, {
        method: "HEAD",
        redirect: "manual",
        signal: AbortSignal.timeout(SELF_TEST_TIMEOUT_MS),
      });
      await response.body?.cancel();
      return true;
    } catch {
      return false;
    }
  },
};
