/**
 * Targets for benchmarks, as a program of their own: a server for HTTP and one for HTTPS on loopback, which answer every request with
 * three bytes and close, unless they are told that some shall fail or hang.
 */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { authority } from "../../tests/support/certificates.ts";
import { answerLines } from "./program.ts";

/** Where the targets are. */
export interface Targets {
  http: string;
  https: string;
  /** Who signed the certificate (ECDSA, P-256), in PEM. */
  authority: string;
}

/** Told to the targets, whose URLs end with `/check/` and a number. What is left out stays as it is. */
export interface TargetsCommand {
  /** The targets up to this number fail. At first 0. */
  failing?: number;
  /** The targets above this number never answer. At first none. */
  hangingAfter?: number;
}

const OK = Buffer.from(
  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nOK\n",
);
const FAILURE = Buffer.from("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
const behaviour: Required<TargetsCommand> = { failing: 0, hangingAfter: Infinity };

function serve(socket: Socket): void {
  let received = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Uint8Array) => {
    received += Buffer.from(chunk).toString("latin1");
    if (!received.includes("\r\n\r\n")) return;
    const check = Number(/^GET \/check\/(\d+) /.exec(received)?.[1]);
    received = "";
    if (!(check > behaviour.hangingAfter)) socket.end(check <= behaviour.failing ? FAILURE : OK);
  });
}

async function listen(server: Server): Promise<number> {
  server.listen({ host: "127.0.0.1", port: 0, backlog: 1024 });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

if (import.meta.main) {
  const root = await authority();
  const plain = createServer(serve);
  const secure = createTlsServer(await root.issue(), serve);
  secure.on("tlsClientError", () => {});
  const targets: Targets = {
    http: `http://127.0.0.1:${await listen(plain)}`,
    https: `https://127.0.0.1:${await listen(secure)}`,
    authority: root.pem,
  };
  await answerLines<TargetsCommand>(targets, (command) => Promise.resolve(Object.assign(behaviour, command)));
  plain.close();
  secure.close();
}
