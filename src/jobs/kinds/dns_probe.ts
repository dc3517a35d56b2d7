import { getServers } from "node:dns";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
// @ts-types="./dns_packet.d.ts"
import type { RecordType } from "dns-packet";
import type { Expansion } from "../../secrets.ts";
import { type DialContext, permitted, resolveAddresses } from "../dial.ts";
import { ProbeFailure, RuntimeFault } from "../failure.ts";
import type { ErrorCode } from "../observation.ts";
import { addTime } from "../trail.ts";
import { dnsAnswers } from "./dns_answers.ts";
import { askResolvers, type ResolverAddress } from "./dns_exchange.ts";
import type { Facts } from "./facts.ts";
import { hostAndPort } from "./host_and_port.ts";

/** What a DNS check asks, and whom. */
export interface DnsConfig {
  /** Default: A. */
  record_type?: "A" | "AAAA" | "CNAME" | "MX" | "NS" | "TXT" | "SOA" | "SRV" | "PTR" | "CAA";
  /** `host`, `host:port` or `[address]:port`; null for the resolvers of the system. */
  resolver?: string | null;
}

const FAILURES: Readonly<Record<string, { code: ErrorCode; says: string }>> = {
  NXDOMAIN: { code: "dns.nxdomain", says: "there is no such name" },
  SERVFAIL: { code: "dns.servfail", says: "the resolver could not find out" },
  REFUSED: { code: "dns.refused", says: "the resolver refused to answer" },
};

/**
 * Asks a resolver for the records of a name. The hosts file and search domains play no part: what is checked is DNS.
 *
 * @param lookUpServers The system's resolvers, as `node:dns` names them.
 * @throws {ProbeFailure} For anything that keeps the resolver from answering.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function probeDns(
  target: string,
  config: DnsConfig,
  expansion: Expansion,
  context: DialContext,
  lookUpServers: () => string[] = getServers,
): Promise<Facts> {
  const question = {
    name: asciiName(expansion.text(target).replace(/^dns:/i, "")),
    type: (config.record_type ?? "A") satisfies RecordType,
  };
  const chosen = config.resolver ?? null;
  const resolvers = chosen === null
    ? systemResolvers(lookUpServers())
    : await chosenResolvers(expansion.text(chosen), context);
  // The resolver of the machine is its operator's choice: in a cloud it often has a link-local address.
  const exchange = chosen === null ? { ...context, policy: () => null } : context;

  const startedAt = performance.now();
  const { packet, resolver } = await askResolvers(question, resolvers, exchange);
  const { trail } = context;
  addTime(trail, "dns", performance.now() - startedAt);
  trail.address = resolver.address;
  trail.family = resolver.family;

  const { rcode } = packet;
  if (rcode !== "NOERROR") {
    const { code, says } = FAILURES[rcode] ?? { code: "dns" as const, says: `the resolver answered ${rcode}` };
    return { observed: { rcode }, failure: new ProbeFailure(code, `${question.type} ${question.name}: ${says}`) };
  }
  const { answers, warnings } = dnsAnswers(question, packet);
  for (const warning of warnings) trail.warnings.add(warning);
  return { observed: { rcode, answers: answers.map((answer) => expansion.redact(answer)) } };
}

async function chosenResolvers(chosen: string, context: DialContext): Promise<ResolverAddress[]> {
  const { hostname, port } = hostAndPort(bracketed(chosen), 53);
  const addresses = permitted({ hostname }, await resolveAddresses(hostname, context), context.policy);
  return addresses.map((address) => ({ ...address, port }));
}

function systemResolvers(servers: readonly string[]): ResolverAddress[] {
  if (servers.length === 0) throw new RuntimeFault("this machine has no resolver configured");
  return [...new Set(servers)].map((server) => {
    // A link-local address has the name of its interface behind it, and no port.
    const { hostname, port } = isIP(server) === 0 ? hostAndPort(server, 53) : { hostname: server, port: 53 };
    return { address: hostname, family: isIP(hostname) === 6 ? 6 : 4, port };
  });
}

/** A name as it goes over the wire: in ASCII, without the dot at its end. What cannot be encoded is asked for as it is. */
function asciiName(name: string): string {
  const plain = name.replace(/(.)\.$/, "$1");
  return domainToASCII(plain) || plain;
}

/** An IPv6 address alone may stand without brackets. */
function bracketed(text: string): string {
  return isIP(text) === 6 ? `[${text}]` : text;
}
