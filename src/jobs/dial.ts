import { lookup } from "node:dns";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, TLSSocket } from "node:tls";
import { type Deadline, within } from "./deadline.ts";
import { errorCode, errorText, isRuntimeError, ProbeFailure, RuntimeFault } from "./failure.ts";
import type { NetworkPolicy } from "./network_policy.ts";
import type { ErrorCode } from "./observation.ts";
import { shakeHands } from "./shake_hands.ts";
import type { TlsSettings } from "./tls_settings.ts";
import { addTime, type Trail } from "./trail.ts";

/** An attempt that has not connected after this many ms gets company by the next address (RFC 8305), and goes on beside it. */
const NEXT_ADDRESS_MS = 250;

/** Of a name with more addresses than this, the rest is not tried. */
const ADDRESSES_TRIED = 16;

/** A resolved address. */
export interface Address {
  address: string;
  family: 4 | 6;
}

/** Resolves a host name to its addresses, in the order in which they should be tried. */
export type Resolver = (hostname: string) => Promise<Address[]>;

/** What to connect to. */
export interface Endpoint {
  /** A host name, or an address without brackets. */
  hostname: string;
  port: number;
  /** Only addresses of this family are used. */
  family?: 4 | 6;
  /** Absent for plain TCP. */
  tls?: TlsSettings;
}

/** What a connection needs from its probe. */
export interface DialContext {
  deadline: Deadline;
  policy: NetworkPolicy;
  resolve: Resolver;
  trail: Trail;
}

/**
 * Connects to an endpoint: resolves it, leaves out the addresses that the policy denies, connects to the first of the others that answers,
 * and shakes hands if it is to be TLS. Only addresses that the policy has seen are ever connected to. The trail gets the times, the
 * address and the certificate, also of a connection that fails.
 *
 * @returns A connected socket that has an error listener and belongs to the caller.
 * @throws {ProbeFailure} With the code of the phase that failed, or the reason of the deadline's signal.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function dial(endpoint: Endpoint, context: DialContext): Promise<Socket> {
  delete context.trail.address;
  delete context.trail.family;
  delete context.trail.lastCertificate;
  const addresses = ofFamily(endpoint, await resolveAddresses(endpoint.hostname, context));
  const candidates = permitted(endpoint, addresses, context.policy);

  context.deadline.phase = "connect";
  const startedAt = performance.now();
  const { socket, address, connectedAt } = await connectToFirst(endpoint, candidates, context.deadline.signal);
  addTime(context.trail, "connect", connectedAt - startedAt);
  context.trail.address = address.address;
  context.trail.family = address.family;

  if (socket instanceof TLSSocket) await shakeHands(socket, connectedAt, endpoint, context);
  return socket;
}

/** Resolves by the system's resolver: hosts file, search domains and all. */
export function systemResolver(hostname: string): Promise<Address[]> {
  // "localhost." means localhost (RFC 6761), but the hosts file knows it without the dot only.
  const name = hostname === "localhost." ? "localhost" : hostname;
  return new Promise((resolve, reject) => {
    lookup(name, { all: true, verbatim: true }, (error, addresses) => {
      if (error !== null) return reject(error);
      resolve(addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
    });
  });
}

/** The addresses of a host: an address is its own. The trail gets the time. */
export async function resolveAddresses(
  hostname: string,
  { deadline, resolve, trail }: DialContext,
): Promise<Address[]> {
  const family = isIP(hostname);
  if (family !== 0) return [{ address: hostname, family: family === 6 ? 6 : 4 }];

  deadline.phase = "dns";
  const startedAt = performance.now();
  const addresses = await within<Address[]>(deadline.signal, (found, failed) => {
    resolve(hostname).then(found, (error) => failed(resolutionFailure(hostname, error)));
    return () => {};
  });
  addTime(trail, "dns", performance.now() - startedAt);
  if (addresses.length === 0) throw new ProbeFailure("dns", `${hostname} has no address`);
  return addresses;
}

function resolutionFailure(hostname: string, error: unknown): Error {
  if (isRuntimeError(error)) return new RuntimeFault(`cannot resolve ${hostname}: ${errorText(error)}`);
  const code = errorCode(error);
  if (code === "ENOTFOUND") return new ProbeFailure("dns", `${hostname} cannot be resolved: the name is not known`);
  if (code === "EAI_AGAIN") {
    return new ProbeFailure("dns", `${hostname} cannot be resolved: the resolver did not answer`);
  }
  return new ProbeFailure("dns", `${hostname} cannot be resolved: ${errorText(error)}`);
}

function ofFamily({ hostname, family }: Endpoint, addresses: Address[]): Address[] {
  if (family === undefined) return addresses;
  const kept = addresses.filter((address) => address.family === family);
  if (kept.length === 0) throw new ProbeFailure("dns", `${hostname} has no IPv${family} address`);
  return kept;
}

/** The addresses that the policy lets a probe reach. */
export function permitted(
  { hostname }: Pick<Endpoint, "hostname">,
  addresses: Address[],
  policy: NetworkPolicy,
): Address[] {
  const candidates: Address[] = [];
  let refusal = "";
  for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
    const denied = policy(address.address);
    if (denied === null) candidates.push(address);
    else refusal = denied;
  }
  if (candidates.length === 0) {
    throw new ProbeFailure("policy.denied", `${hostname} may not be connected to: ${refusal}`);
  }
  return candidates;
}

/** An address that could not be connected to. */
interface FailedAttempt {
  address: Address;
  error: unknown;
}

/** The attempt that won. */
interface Connected {
  socket: Socket;
  address: Address;
  /** By `performance.now()`. */
  connectedAt: number;
}

/**
 * Races the addresses: the next one starts when one fails, or is slow, and the first to connect wins. Earlier attempts are not cut
 * short, so that a slow route is slow and not broken.
 */
function connectToFirst(
  endpoint: Endpoint,
  candidates: Address[],
  signal: AbortSignal,
): Promise<Connected> {
  return within(signal, (resolve, reject) => {
    const attempts = new Set<Socket>();
    const failed: FailedAttempt[] = [];
    let next = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;

    function giveUp(): void {
      clearTimeout(timer);
      next = candidates.length;
      for (const socket of attempts) socket.destroy();
      attempts.clear();
    }

    function lost(address: Address, error: unknown): void {
      failed.push({ address, error });
      if (next < candidates.length) return attempt();
      if (attempts.size === 0) reject(connectFailure(endpoint, failed));
    }

    function attempt(): void {
      clearTimeout(timer);
      const address = candidates[next++];
      if (address === undefined) return;
      let socket: Socket;
      try {
        socket = open(endpoint, address.address);
      } catch (error) {
        return lost(address, error);
      }
      attempts.add(socket);
      // Before the listener that starts the handshake, whose time is not the connection's.
      socket.prependOnceListener("connect", () => {
        attempts.delete(socket);
        giveUp();
        resolve({ socket, address, connectedAt: performance.now() });
      });
      socket.on("error", (error) => {
        if (attempts.delete(socket)) lost(address, error);
      });
      if (next < candidates.length) timer = setTimeout(attempt, NEXT_ADDRESS_MS);
    }

    attempt();
    return giveUp;
  });
}

function open({ hostname, port, tls }: Endpoint, address: string): Socket {
  if (tls === undefined) return connectTcp({ host: address, port });
  return connectTls({ host: address, port, ...handshakeOptions(hostname, tls) });
}

function handshakeOptions(hostname: string, tls: TlsSettings): ConnectionOptions {
  const name = tls.serverName ?? hostname;
  return {
    // A name only: the indication of a server by its address is not allowed (RFC 6066), and neither is a dot at its end.
    ...(isIP(name) === 0 ? { servername: name.replace(/\.$/, "") } : {}),
    secureContext: tls.trust.context,
    ALPNProtocols: [...tls.alpn ?? ["http/1.1"]],
    // The chain is verified all the same, and judged in shakeHands(), which can then say what is wrong with which certificate.
    rejectUnauthorized: false,
  };
}

/**
 * Shakes hands on a connection that has agreed, in its own protocol, to go on in TLS. The trail gets the time and the certificate.
 *
 * @param socket Connected, and read to the last byte that came before the handshake. It belongs to the socket that is returned.
 * @throws {ProbeFailure} As {@link dial} does.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function upgradeToTls(
  socket: Socket,
  endpoint: Endpoint & { tls: TlsSettings },
  context: DialContext,
): Promise<TLSSocket> {
  const startedAt = performance.now();
  const secured = connectTls({ socket, ...handshakeOptions(endpoint.hostname, endpoint.tls) });
  // One that outlives the handshake, for errors that nobody waits for any more.
  secured.on("error", () => {});
  await shakeHands(secured, startedAt, endpoint, context);
  return secured;
}

/** Codes for the system's errors, the one that says most about the target first. What is not listed is unreachable. */
const CONNECT_FAILURES: readonly { error: string; code: ErrorCode; says: string }[] = [
  { error: "ECONNREFUSED", code: "connect.refused", says: "refused the connection" },
  { error: "ECONNRESET", code: "connect.reset", says: "reset the connection" },
  { error: "ETIMEDOUT", code: "connect.timeout", says: "did not answer" },
];

function connectFailure({ port }: Endpoint, failed: FailedAttempt[]): Error {
  const local = failed.find(({ address, error }) => isRuntimeError(error) || isOutOfPorts(address, error));
  if (local !== undefined) return new RuntimeFault(`cannot connect from here: ${errorText(local.error)}`);

  const tried = failed.length > 1 ? ` (${failed.length} addresses were tried)` : "";
  for (const { error, code, says } of CONNECT_FAILURES) {
    const attempt = failed.find((attempt) => errorCode(attempt.error) === error);
    if (attempt !== undefined) {
      return new ProbeFailure(code, `${hostAndPort(attempt.address.address, port)} ${says}${tried}`);
    }
  }
  const detail = errorText(failed[0]?.error);
  return new ProbeFailure("connect.unreachable", `there is no way to port ${port}: ${detail}${tried}`);
}

/** With IPv4 the system says so when no local port is free; with IPv6 also when the machine has no IPv6. */
function isOutOfPorts({ family }: Address, error: unknown): boolean {
  return family === 4 && errorCode(error) === "EADDRNOTAVAIL";
}

function hostAndPort(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
