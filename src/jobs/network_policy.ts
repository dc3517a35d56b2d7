import { BlockList, isIPv4 } from "node:net";

/** Says why an address may not be connected to, or null if it may. */
export type NetworkPolicy = (address: string) => string | null;

/**
 * Addresses that give out credentials of the machine a runtime stands on, and link-local ones, which mean something else on each
 * machine. Private networks and loopback are not here: people watch them.
 */
const DENIED_NETWORKS: readonly string[] = [
  "169.254.0.0/16", // link-local; the metadata service of AWS, Azure, Google, Oracle, Hetzner and others
  "fe80::/10", // link-local
  "100.100.100.200/32", // Alibaba Cloud
  "168.63.129.16/32", // Azure's host agent
  "192.0.0.192/32", // Oracle Cloud, first generation
  "fd00:ec2::254/128", // AWS
  "fd20:ce::254/128", // Google Cloud
  "fd00:42::42/128", // Scaleway
];

/** IPv6 networks that carry an IPv4 address, and the 16-bit group at which it begins. */
const EMBEDDING_NETWORKS: readonly { network: string; group: number }[] = [
  { network: "::ffff:0:0/96", group: 6 }, // IPv4-mapped
  { network: "::ffff:0:0:0/96", group: 6 }, // IPv4-translated
  { network: "::/96", group: 6 }, // IPv4-compatible
  { network: "64:ff9b::/96", group: 6 }, // NAT64
  { network: "64:ff9b:1::/48", group: 6 }, // NAT64, for local use
  { network: "2002::/16", group: 1 }, // 6to4
];

/**
 * A policy that denies networks. An IPv6 address that carries an IPv4 address is judged by both.
 *
 * @param networks In CIDR notation.
 */
export function denyNetworks(networks: readonly string[] = DENIED_NETWORKS): NetworkPolicy {
  const denied = blockList(networks);
  const embedding = EMBEDDING_NETWORKS.map(({ network, group }) => ({ list: blockList([network]), group }));

  function spellings(address: string): string[] {
    if (isIPv4(address)) return [address];
    const carried = embedding.filter(({ list }) => list.check(address, "ipv6"));
    return [address, ...carried.map(({ group }) => embeddedIPv4(address, group))];
  }

  return (address) => {
    const [plain = ""] = address.split("%");
    const refused = spellings(plain).find((spelling) => contains(denied, spelling));
    if (refused === undefined) return null;
    const network = networks.find((candidate) => contains(blockList([candidate]), refused));
    return `${address} is in the denied network ${network}`;
  };
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), isIPv4(address) ? "ipv4" : "ipv6");
  }
  return list;
}

/** The IPv4 address in two groups of an IPv6 address. */
function embeddedIPv4(address: string, group: number): string {
  // The URL parser writes every spelling of an IPv6 address in one way: eight groups in hex, the longest run of zeros as "::".
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail] = canonical.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  const high = parseInt(groups[group] ?? "0", 16);
  const low = parseInt(groups[group + 1] ?? "0", 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
