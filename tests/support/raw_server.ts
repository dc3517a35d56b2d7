import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { ServerCertificate } from "./certificates.ts";

/** A TCP server that a test speaks for, from the moment of the connection on. */
export interface RawServer extends AsyncDisposable {
  port: number;
  /** How many connections are open. */
  connections(): number;
  /** All that clients have sent, in Latin-1. */
  received(): string;
}

/** Where and how it listens. */
export interface RawServerOptions {
  address?: string;
  /** Speaks TLS with this certificate. */
  certificate?: ServerCertificate;
  /** Offered by ALPN; a client that offers something else is refused. */
  alpn?: string[];
}

/** Starts a server on a free port; `speak` is called with each connection, after the handshake if there is one. */
export async function rawServer(speak: (socket: Socket) => void, options: RawServerOptions = {}): Promise<RawServer> {
  const { address = "127.0.0.1", certificate, alpn } = options;
  const sockets = new Set<Socket>();
  let received = "";
  const serve = (socket: Socket) => {
    socket.on("data", (chunk: Uint8Array) => received += new TextDecoder("latin1").decode(chunk));
    socket.on("error", () => {});
    speak(socket);
  };
  const server = certificate === undefined
    ? createServer(serve)
    : createTlsServer({ ...certificate, ...(alpn === undefined ? {} : { ALPNProtocols: alpn }) }, serve);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  server.listen(0, address);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    received: () => received,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A port of the loopback interface on which nobody listens. */
export async function closedPort(): Promise<number> {
  await using server = await rawServer(() => {});
  return server.port;
}
