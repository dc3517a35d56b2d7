import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
// @ts-types="./dns_packet.d.ts"
import { decode, type DecodedPacket, encode, type Packet, type RecordType, RECURSION_DESIRED } from "dns-packet";
import { within } from "../deadline.ts";
import { dial, type DialContext } from "../dial.ts";
import { errorText, isRuntimeError, ProbeFailure, RuntimeFault } from "../failure.ts";

/** A question to a resolver. */
export interface DnsQuestion {
  name: string;
  type: RecordType;
}

/** Where a resolver listens. */
export interface ResolverAddress {
  address: string;
  family: 4 | 6;
  port: number;
}

/** What a resolver answered, and which one. */
export interface DnsReply {
  packet: DecodedPacket;
  resolver: ResolverAddress;
}

/** A datagram may be lost, and so it is sent again, to the next resolver if there are several, after this many ms. */
const RESEND_MS = 1000;
/** How much of an answer fits into a datagram that is not taken apart on its way (DNS flag day 2020), in bytes. */
const UDP_PAYLOAD = 1232;

/**
 * Asks resolvers a question over UDP, and over TCP whoever says that the answer is too long for UDP.
 *
 * A datagram that is no answer to the question (another id, another name, another sender, no DNS at all) is ignored, as it may come from
 * anybody; the wait goes on.
 *
 * @param resolvers Each of them allowed by the policy. They are asked in turn until one answers.
 * @returns The first answer.
 * @throws {ProbeFailure} `protocol` if a resolver's answer over TCP is none, what {@link dial} throws, or the reason of the deadline's signal.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function askResolvers(
  question: DnsQuestion,
  resolvers: readonly ResolverAddress[],
  context: DialContext,
): Promise<DnsReply> {
  context.deadline.phase = "resolver";
  let reply = await askByUdp(question, resolvers, true, context);
  // Resolvers from before 1999 do not know EDNS, and say so in one of these ways.
  if (["FORMERR", "NOTIMP"].includes(reply.packet.rcode)) {
    reply = await askByUdp(question, [reply.resolver], false, context);
  }
  if (!reply.packet.flag_tc) return reply;
  return { packet: await askByTcp(question, reply.resolver, context), resolver: reply.resolver };
}

function askByUdp(
  question: DnsQuestion,
  resolvers: readonly ResolverAddress[],
  extended: boolean,
  { deadline }: DialContext,
): Promise<DnsReply> {
  const id = randomId();
  const query = encode(queryPacket(id, question, extended));
  return within<DnsReply>(deadline.signal, (resolve, reject) => {
    const sockets = new Map<4 | 6, ReturnType<typeof createSocket>>();
    let attempts = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;

    function giveUp(): void {
      clearTimeout(timer);
      for (const socket of sockets.values()) socket.close();
      sockets.clear();
    }

    function socketOf(family: 4 | 6): ReturnType<typeof createSocket> {
      const known = sockets.get(family);
      if (known !== undefined) return known;
      // A port of its own for each question: who wants to forge an answer has to guess it as well as the id.
      const socket = createSocket(family === 6 ? "udp6" : "udp4");
      socket.on("error", lost);
      socket.on("message", (message, sender) => {
        const resolver = resolvers.find(({ address, port }) => port === sender.port && isSame(address, sender.address));
        const packet = resolver === undefined ? null : answerTo(id, question, message);
        if (resolver === undefined || packet === null) return;
        giveUp();
        resolve({ packet, resolver });
      });
      sockets.set(family, socket);
      return socket;
    }

    function lost(error: unknown): void {
      // Unreachable networks are a matter of one attempt; the next one may go elsewhere.
      if (!isRuntimeError(error)) return;
      giveUp();
      reject(new RuntimeFault(`cannot send from here: ${errorText(error)}`));
    }

    function attempt(): void {
      const resolver = resolvers[attempts++ % resolvers.length];
      if (resolver === undefined) return;
      timer = setTimeout(attempt, RESEND_MS);
      try {
        socketOf(resolver.family).send(query, resolver.port, resolver.address, (error) => error && lost(error));
      } catch (error) {
        lost(error);
      }
    }

    attempt();
    return giveUp;
  });
}

async function askByTcp(
  question: DnsQuestion,
  resolver: ResolverAddress,
  context: DialContext,
): Promise<DecodedPacket> {
  const socket = await dial({ hostname: resolver.address, port: resolver.port }, context);
  context.deadline.phase = "resolver";
  try {
    const id = randomId();
    const query = encode(queryPacket(id, question, true));
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));

    const message = await within<Buffer>(context.deadline.signal, (resolve, reject) => {
      let received = Buffer.alloc(0);
      socket.on("data", (chunk: Uint8Array) => {
        received = Buffer.concat([received, chunk]);
        if (received.length < 2) return;
        const end = 2 + received.readUInt16BE();
        if (received.length >= end) resolve(received.subarray(2, end));
      });
      const broken = () => reject(new ProbeFailure("protocol", "the resolver ended the connection before its answer"));
      socket.once("error", broken);
      socket.once("close", broken);
      return () => {};
    });
    const packet = answerTo(id, question, message);
    if (packet === null) throw new ProbeFailure("protocol", "the resolver's answer over TCP is none to this question");
    return packet;
  } finally {
    socket.destroy();
  }
}

function queryPacket(id: number, { name, type }: DnsQuestion, extended: boolean): Packet {
  return {
    type: "query",
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name, type }],
    additionals: extended
      ? [{
        type: "OPT",
        name: ".",
        udpPayloadSize: UDP_PAYLOAD,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        options: [],
      }]
      : [],
  };
}

function randomId(): number {
  return crypto.getRandomValues(new Uint16Array(1))[0] ?? 0;
}

/** Reads a message, and says null unless it answers this question. A refusal may leave the question out. */
function answerTo(id: number, { name, type }: DnsQuestion, message: Buffer): DecodedPacket | null {
  let packet: DecodedPacket;
  try {
    packet = decode(message);
  } catch {
    return null;
  }
  if (packet.id !== id || packet.type !== "response") return null;
  const [asked] = packet.questions;
  if (asked === undefined) return packet.rcode === "NOERROR" ? null : packet;
  return asked.type === type && isSameName(asked.name, name) ? packet : null;
}

/** Compares names without regard to case or a dot at the end. */
export function isSameName(one: string, other: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/\.$/, "");
  return plain(one) === plain(other);
}

function isSame(address: string, sender: string): boolean {
  return address === sender || address === sender.replace(/^::ffff:/, "") || canonical(address) === canonical(sender);
}

function canonical(address: string): string {
  const url = `http://[${address.split("%", 1).join("")}]/`;
  return URL.canParse(url) ? new URL(url).hostname : address;
}
