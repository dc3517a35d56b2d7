import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { ServerCertificate } from "./certificates.ts";

/** What a test may tell a mail server to do. */
export interface MailServerOptions {
  /** Answers to commands, by their beginning, in place of the usual ones: `{ "RCPT TO:<boss@": "550 No such user" }`. `.` is the mail's end. */
  answers?: Record<string, string>;
  /** Offers STARTTLS, or speaks TLS from the start, with this certificate. */
  certificate?: ServerCertificate;
  /** Whether TLS is spoken from the start. */
  implicitTls?: boolean;
  /** The login that is asked for, as `user:password`. */
  login?: string;
  /** Says nothing at all. */
  silent?: boolean;
}

/** A mail as it was taken. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers, unfolded, names in lower case. */
  headers: Map<string, string>;
  /** All of it, with CRLF. */
  source: string;
  /** Whether it came over TLS. */
  secure: boolean;
}

/** A mail server on a loopback port that takes mails and remembers them. */
export interface MailServer extends AsyncDisposable {
  port: number;
  mails: ReceivedMail[];
  /** Each line that clients sent, outside of mails. */
  commands: string[];
}

/** Starts a mail server that speaks as much SMTP as a client needs. */
export async function mailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const servers: Server[] = [];

  async function listen(server: Server): Promise<number> {
    servers.push(server);
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }

  const session = (socket: Socket, secure: boolean, upgrade?: () => void) => {
    socket.on("error", () => {});
    speak(socket, {
      options,
      secure,
      greets: upgrade !== undefined || options.implicitTls === true,
      mails,
      commands,
      upgrade,
    });
  };

  const { certificate } = options;
  const tlsPort = certificate === undefined ? null : await listen(
    createTlsServer({ cert: certificate.cert, key: certificate.key }, (socket) => session(socket, true)),
  );

  // A connection that asks for STARTTLS is handed, byte for byte, to the server that speaks TLS from the start.
  const plain = createServer((socket) => {
    session(socket, false, () => {
      socket.removeAllListeners("data");
      const secured = connect(tlsPort ?? 0, "127.0.0.1");
      secured.on("error", () => socket.destroy());
      socket.on("data", (chunk) => secured.write(chunk));
      secured.on("data", (chunk) => socket.write(chunk));
      secured.on("close", () => socket.destroy());
      socket.on("close", () => secured.destroy());
    });
  });
  const port = options.implicitTls && tlsPort !== null ? tlsPort : await listen(plain);

  return {
    port,
    mails,
    commands,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) {
        server.close();
        await once(server, "close");
      }
    },
  };
}

interface Session {
  options: MailServerOptions;
  secure: boolean;
  greets: boolean;
  mails: ReceivedMail[];
  commands: string[];
  upgrade: (() => void) | undefined;
}

function speak(socket: Socket, { options, secure, greets, mails, commands, upgrade }: Session): void {
  const { answers = {}, login, silent = false, certificate } = options;
  let received = "";
  let envelope = { from: "", to: [] as string[] };
  let isMail = false;
  const say = (line: string) => socket.write(`${line}\r\n`);
  if (silent) return;
  if (greets) say(answers["CONNECT"] ?? "220 mail.test ESMTP");

  function usual(command: string): string {
    const verb = command.split(" ")[0]?.toUpperCase() ?? "";
    if (verb === "EHLO") {
      const starttls = !secure && certificate !== undefined ? "250-STARTTLS\r\n" : "";
      const auth = login === undefined ? "" : "250-AUTH PLAIN\r\n";
      return `250-mail.test\r\n${starttls}${auth}250 SIZE 100000`;
    }
    if (verb === "STARTTLS") return "220 Go ahead";
    if (verb === "AUTH") {
      const expected = btoa(`\0${(login ?? "").replace(":", "\0")}`);
      return command === `AUTH PLAIN ${expected}` ? "235 Welcome" : "535 5.7.8 Bad credentials";
    }
    if (verb === "MAIL" && login !== undefined && !commands.some((sent) => sent.startsWith("AUTH"))) {
      return "530 Log in first";
    }
    if (verb === "DATA") return "354 Go on";
    if (verb === "QUIT") return "221 Bye";
    return "250 OK";
  }

  function obey(command: string): void {
    commands.push(command);
    const special = Object.entries(answers).find(([start]) => command.startsWith(start))?.[1];
    const answer = special ?? usual(command);
    if (answer === "RESET") return void socket.resetAndDestroy();
    if (answer === "SILENCE") return;
    say(answer);
    if (!/^[23]/.test(answer)) return;
    const address = /<([^>]*)>/.exec(command)?.[1] ?? "";
    if (command.startsWith("MAIL FROM")) envelope = { from: address, to: [] };
    if (command.startsWith("RCPT TO")) envelope.to.push(address);
    if (command === "DATA") isMail = true;
    if (command === "STARTTLS") upgrade?.();
    if (command === "QUIT") socket.end();
  }

  function take(source: string): void {
    isMail = false;
    const answer = answers["."] ?? "250 2.0.0 Queued as 4711";
    if (answer === "RESET") return void socket.resetAndDestroy();
    if (answer === "SILENCE") return;
    if (answer.startsWith("250")) {
      mails.push({ ...envelope, headers: headersOf(source), source: source.replaceAll("\r\n..", "\r\n."), secure });
    }
    say(answer);
  }

  socket.on("data", (chunk: Uint8Array) => {
    received += new TextDecoder("latin1").decode(chunk);
    for (;;) {
      const end = isMail ? received.indexOf("\r\n.\r\n") : received.indexOf("\r\n");
      if (end < 0) return;
      const text = received.slice(0, end);
      received = received.slice(end + (isMail ? 5 : 2));
      if (isMail) take(text);
      else obey(text);
    }
  });
}

function headersOf(source: string): Map<string, string> {
  const head = source.slice(0, source.indexOf("\r\n\r\n")).replace(/\r\n[ \t]+/g, " ");
  return new Map(
    head.split("\r\n").map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
