import { isIPv4, isIPv6 } from "node:net";

/** An IP address as a number. */
export interface NumericAddress {
  family: 4 | 6;
  value: bigint;
}

/** A network in CIDR notation, ready to be compared with. */
export interface Network extends NumericAddress {
  /** As it was written. */
  text: string;
  /** How many bits of an address are free in it. */
  free: bigint;
}

/** Reads an address without brackets; null if it is none. A zone, as in `fe80::1%eth0`, does not count. */
export function parseAddress(text: string): NumericAddress | null {
  const [address = ""] = text.split("%");
  if (isIPv4(address)) return { family: 4, value: joined(address.split(".").map(Number), 8n) };
  return isIPv6(address) ? { family: 6, value: joined(groupsOf(address), 16n) } : null;
}

/**
 * Reads a network such as `10.0.0.0/8` or `fd00::/8`. An address alone is a network of one.
 *
 * @throws {RangeError} If it is none. The message says what to write instead.
 */
export function parseNetwork(text: string): Network {
  const [address = "", prefix, ...more] = text.split("/");
  const parsed = address.includes("%") ? null : parseAddress(address);
  if (parsed === null || more.length > 0) {
    throw new RangeError(`"${text}" is not a network: write it as 10.0.0.0/8 or fd00::/8`);
  }
  const bits = parsed.family === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN;
  if (!(length <= bits)) throw new RangeError(`"${text}" is not a network: its prefix must be 0 to ${bits}`);

  const free = BigInt(bits - length);
  if ((parsed.value >> free) << free !== parsed.value) {
    throw new RangeError(
      `"${text}" has more bits than its prefix: write ${address} for the address alone, or shorten it`,
    );
  }
  return { ...parsed, text, free };
}

/** Whether an address lies in a network. */
export function contains(network: Network, address: NumericAddress): boolean {
  return network.family === address.family && network.value >> network.free === address.value >> network.free;
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((value, part) => value << bits | BigInt(part), 0n);
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser writes every spelling of an IPv6 address in one way: groups in hex, the longest run of zeros as "::".
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].map((group) => parseInt(group, 16));
}
