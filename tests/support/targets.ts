import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { ServerCertificate } from "./certificates.ts";

/** A server that says what a test tells it to, byte by byte, and remembers what it was asked. */
export interface Target extends AsyncDisposable {
  port: number;
  /** Its root URL, with the address it listens on for a host. */
  url: string;
  /** Each request so far: its head, and what had come of its body by then. */
  requests: string[];
  /** Of each TLS connection so far: the host name that it asked for, if any, and the common name of the certificate that it showed. */
  greetings: { serverName: string | null; client: string | null }[];
  /** Resolves when a client has connected and gone again. */
  closed: Promise<void>;
  /** How many connections are open. */
  connections(): number;
}

/** What a target does with a request. `requests` counts from 0. */
export type Behaviour = (socket: Socket, request: string, index: number) => void;

/** Where and how a target listens. */
export interface TargetOptions {
  address?: string;
  port?: number;
  /** Speaks TLS with this certificate. */
  certificate?: ServerCertificate;
  /** Asks for a client certificate of this authority, in PEM, and refuses what has none. */
  clientAuthority?: string;
  maxVersion?: "TLSv1.2" | "TLSv1.3";
  /** Acts as soon as a client has connected, and not when its request has come. */
  speaksFirst?: boolean;
}

/** Starts a target on a free port of the loopback interface. */
export async function target(behaviour: Behaviour, options: TargetOptions = {}): Promise<Target> {
  const { address = "127.0.0.1", certificate } = options;
  const requests: string[] = [];
  const greetings: Target["greetings"] = [];
  const sockets = new Set<Socket>();
  const gone = Promise.withResolvers<void>();

  function serve(socket: Socket): void {
    track(socket);
    let received = "";
    let answered = false;
    if (options.speaksFirst === true) return behaviour(socket, "", 0);
    socket.on("data", (chunk: Uint8Array) => {
      received += Buffer.from(chunk).toString("latin1");
      if (answered || !received.includes("\r\n\r\n")) return;
      answered = true;
      requests.push(received);
      behaviour(socket, received, requests.length - 1);
    });
  }

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      sockets.delete(socket);
      gone.resolve();
    });
  }

  const server: Server = certificate === undefined ? createServer(serve) : createTlsServer({
    ...certificate,
    ...(options.maxVersion === undefined ? {} : { maxVersion: options.maxVersion }),
    ...(options.clientAuthority === undefined
      ? {}
      : { requestCert: true, rejectUnauthorized: true, ca: options.clientAuthority }),
  }, (socket: TLSSocket) => {
    const client = socket.getPeerCertificate()?.subject?.CN;
    const { servername } = socket as TLSSocket & { servername?: string };
    greetings.push({ serverName: servername || null, client: [client].flat()[0] ?? null });
    serve(socket);
  });
  server.on("connection", track);
  server.on("tlsClientError", () => {});
  server.listen(options.port ?? 0, address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = address.includes(":") ? `[${address}]` : address;

  return {
    port,
    url: `${certificate === undefined ? "http" : "https"}://${host}:${port}/`,
    requests,
    greetings,
    closed: gone.promise,
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Says these bytes (a text is sent as Latin-1) and closes. */
export function says(...parts: (string | Uint8Array)[]): Behaviour {
  return (socket) => socket.end(bytes(parts));
}

/** Says these bytes and leaves the connection open. */
export function saysAndWaits(...parts: (string | Uint8Array)[]): Behaviour {
  return (socket) => socket.write(bytes(parts));
}

/** Says one answer after the other, the last one again and again. */
export function saysInTurn(...answers: string[]): Behaviour {
  return (socket, _, index) => socket.end(bytes([answers[Math.min(index, answers.length - 1)] ?? ""]));
}

/** An answer with a body and its length. */
export function answer(status: string, headers: string[] = [], body: string | Uint8Array = ""): Uint8Array {
  const content = bytes([body]);
  const head = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${content.length}`, "", ""].join("\r\n");
  return bytes([head, content]);
}

/** Sends `chunk` again and again until the client goes, each after `everyMs`, or as fast as it is taken. */
export function drips(first: string, chunk: string | Uint8Array, everyMs?: number): Behaviour {
  return (socket) => {
    socket.write(bytes([first]));
    const piece = bytes([chunk]);
    if (everyMs === undefined) {
      const pump = () => {
        while (!socket.destroyed && socket.write(piece));
      };
      socket.on("drain", pump);
      return pump();
    }
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.once("close", () => clearInterval(timer));
  };
}

/** Says these bytes one by one. */
export function spells(said: Uint8Array): Behaviour {
  return (socket) => {
    socket.setNoDelay(true);
    let index = 0;
    const timer = setInterval(() => {
      if (index < said.length) socket.write(said.subarray(index, ++index));
      else clearInterval(timer);
    }, 0);
    socket.once("close", () => clearInterval(timer));
  };
}

/** Does something after a while, unless the client has gone by then. */
export function later(socket: Socket, ms: number, act: () => void): void {
  const timer = setTimeout(act, ms);
  socket.once("close", () => clearTimeout(timer));
}

/** A listener that never accepts and whose queue is full, so that a connection attempt gets no answer at all. */
export async function silentListener(address = "127.0.0.1"): Promise<{ port: number } & Disposable> {
  const listener = Deno.listen({ hostname: address, port: 0, tcpBacklog: 1 });
  const { port } = listener.addr as Deno.NetAddr;
  const fillers = await Promise.all([0, 1].map(() => Deno.connect({ hostname: address, port })));
  return {
    port,
    [Symbol.dispose]() {
      for (const filler of fillers) filler.close();
      listener.close();
    },
  };
}

/** Joins texts, as Latin-1, and bytes. */
export function bytes(parts: (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part, "latin1") : part));
}
