import { contains, type Network, type NumericAddress, parseAddress, parseNetwork } from "./network.ts";

/** Says why an address may not be connected to, or null if it may. */
export type NetworkPolicy = (address: string) => string | null;

/** What a policy is made from. Networks are in CIDR notation. */
export interface NetworkSettings {
  /** Whether only addresses of the public Internet may be connected to. */
  strict: boolean;
  /** Denied beside those that are denied anyway. */
  deny: readonly string[];
  /** Allowed, whatever denies them. */
  allow: readonly string[];
}

/**
 * Addresses that give out credentials of the machine a runtime stands on, and link-local ones, which mean something else on each
 * machine. Private networks and loopback are not here: people watch them.
 */
const ALWAYS_DENIED: readonly string[] = [
  "169.254.0.0/16", // link-local; the metadata service of AWS, Azure, Google, Oracle, Hetzner and others
  "fe80::/10", // link-local
  "100.100.100.200/32", // Alibaba Cloud
  "168.63.129.16/32", // Azure's host agent
  "192.0.0.192/32", // Oracle Cloud, first generation
  "fd00:ec2::254/128", // AWS
  "fd00:ec2::23/128", // AWS, pods of EKS
  "fd20:ce::254/128", // Google Cloud
  "fd00:42::42/128", // Scaleway
];

/** What is not the public Internet (the special-purpose registries of IANA), the wide networks at the end for what they left out. */
const STRICTLY_DENIED: readonly string[] = [
  "0.0.0.0/8", // this host
  "10.0.0.0/8", // private
  "100.64.0.0/10", // shared by the customers of a carrier
  "127.0.0.0/8", // loopback
  "172.16.0.0/12", // private
  "192.0.0.0/24", // protocol assignments
  "192.0.2.0/24", // documentation
  "192.88.99.0/24", // 6to4 relays
  "192.168.0.0/16", // private
  "198.18.0.0/15", // benchmarks
  "198.51.100.0/24", // documentation
  "203.0.113.0/24", // documentation
  "224.0.0.0/4", // multicast
  "240.0.0.0/4", // reserved, and broadcast
  "::/128", // this host
  "::1/128", // loopback
  "64:ff9b:1::/48", // NAT64, for local use
  "100::/64", // discarded
  "2001::/23", // protocol assignments, Teredo among them
  "2001:db8::/32", // documentation
  "2002::/16", // 6to4
  "3fff::/20", // documentation
  "5f00::/16", // segment routing
  "fc00::/7", // private
  "fec0::/10", // private, once
  "ff00::/8", // multicast
  "::/3", // 2000::/3 is all that is given out
  "4000::/2",
  "8000::/1",
];

/** An IPv6 network whose addresses carry an IPv4 address. */
interface Embedding {
  network: Network;
  /** How many bits come after it. */
  after: bigint;
  /** Whether the address is but another way to write the IPv4 address, so that only what is carried counts as public or not. */
  isSpelling: boolean;
}

const EMBEDDINGS: readonly Embedding[] = [
  { network: parseNetwork("::ffff:0:0/96"), after: 0n, isSpelling: true }, // IPv4-mapped
  { network: parseNetwork("::ffff:0:0:0/96"), after: 0n, isSpelling: true }, // IPv4-translated
  { network: parseNetwork("64:ff9b::/96"), after: 0n, isSpelling: true }, // NAT64
  { network: parseNetwork("64:ff9b:1::/48"), after: 0n, isSpelling: false }, // NAT64, for local use
  { network: parseNetwork("::/96"), after: 0n, isSpelling: false }, // IPv4-compatible
  { network: parseNetwork("2002::/16"), after: 80n, isSpelling: false }, // 6to4
];

/**
 * The policy that all connections of a runtime are made by: probes, at each hop, and webhook posts. It is asked about the address that is
 * connected to. An IPv6 address that carries an IPv4 address is judged by both. What is allowed wins over what is denied.
 *
 * @param settings Default: link-local and cloud metadata addresses are denied, everything else is allowed.
 * @throws {RangeError} If a network cannot be read.
 */
export function networkPolicy(settings: Partial<NetworkSettings> = {}): NetworkPolicy {
  const allowed = (settings.allow ?? []).map(parseNetwork);
  const denied = [...ALWAYS_DENIED, ...settings.deny ?? []].map(parseNetwork);
  const notPublic = settings.strict === true ? STRICTLY_DENIED.map(parseNetwork) : [];

  function denying(address: NumericAddress, isSpelling: boolean): Network | undefined {
    const inside = (network: Network) => contains(network, address);
    if (allowed.some(inside)) return undefined;
    return denied.find(inside) ?? (isSpelling ? undefined : notPublic.find(inside));
  }

  return (address) => {
    const parsed = parseAddress(address);
    if (parsed === null) return `${address} is not an address`;
    const embedding = EMBEDDINGS.find(({ network }) => contains(network, parsed));
    const network = denying(parsed, embedding?.isSpelling === true) ??
      (embedding === undefined ? undefined : denying(carriedIn(parsed, embedding), false));
    return network === undefined ? null : `${address} is in the denied network ${network.text}`;
  };
}

function carriedIn({ value }: NumericAddress, { after }: Embedding): NumericAddress {
  return { family: 4, value: value >> after & 0xffffffffn };
}
