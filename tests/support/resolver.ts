import { Buffer } from "node:buffer";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
// @ts-types="../../src/jobs/kinds/dns_packet.d.ts"
import { type Answer, decode, type DecodedPacket, encode, type Packet } from "dns-packet";

/** What a resolver says to a query: a message, bytes that may be none, several of them one after the other, or nothing. */
export type Reply = Packet | Buffer | (Packet | Buffer)[] | null;

/** A DNS server that a test answers for, on UDP and TCP with the same port. */
export interface Resolver extends AsyncDisposable {
  /** As `resolver` in a configuration. */
  address: string;
  port: number;
  /** The queries so far, in order. */
  queries: { over: "udp" | "tcp"; packet: DecodedPacket }[];
}

/** What a resolver says over UDP and TCP. */
export interface ResolverBehaviour {
  udp: (query: DecodedPacket, index: number) => Reply;
  /** Default: as over UDP. Says null: the connection is closed. */
  tcp?: (query: DecodedPacket, index: number) => Reply;
}

/** The bits of an answer: it is a recursive resolver's. */
export const RECURSION_AVAILABLE = 0x80;
const CODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };

/** An answer to a query. */
export function replyTo(
  query: DecodedPacket,
  answers: Answer[] = [],
  options: { rcode?: keyof typeof CODES; flags?: number } = {},
): Packet {
  const flags = (options.flags ?? RECURSION_AVAILABLE) | CODES[options.rcode ?? "NOERROR"];
  return { type: "response", id: query.id, flags, questions: query.questions, answers };
}

/** Starts a resolver on a free port of the loopback interface. */
export async function resolver(behaviour: ResolverBehaviour): Promise<Resolver> {
  const queries: Resolver["queries"] = [];
  const sockets = new Set<Socket>();
  const messages = (reply: Reply) =>
    (reply === null ? [] : [reply].flat()).map((part) => Buffer.isBuffer(part) ? part : encode(part));

  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    socket.once("data", (chunk: Buffer) => {
      const packet = decode(chunk.subarray(2));
      queries.push({ over: "tcp", packet });
      const said = messages((behaviour.tcp ?? behaviour.udp)(packet, queries.length - 1));
      if (said.length === 0) socket.end();
      for (const message of said) {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(message.length);
        socket.write(length);
        socket.write(message);
      }
    });
  });
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const { port } = tcp.address() as { port: number };

  const udp = createSocket("udp4");
  udp.on("message", (message, sender) => {
    const packet = decode(message);
    queries.push({ over: "udp", packet });
    for (const said of messages(behaviour.udp(packet, queries.length - 1))) udp.send(said, sender.port, sender.address);
  });
  udp.bind(port, "127.0.0.1");
  await once(udp, "listening");

  return {
    address: `127.0.0.1:${port}`,
    port,
    queries,
    async [Symbol.asyncDispose]() {
      udp.close();
      const closed = once(tcp, "close");
      tcp.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
