import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Behaviour, type Target, target, type TargetOptions } from "./targets.ts";

/** A receiver of notices that answers, or fails to, as a test tells it to, and remembers what was posted. */
export interface Receiver extends Target {
  /** Each post whose body came whole. */
  posts: Post[];
}

/** A request as it came. */
export interface Post {
  /** Such as `POST /hook HTTP/1.1`. */
  requestLine: string;
  /** In the order and the spelling in which they were sent. */
  headers: [name: string, value: string][];
  /** The bytes as UTF-8. */
  body: string;
}

/**
 * Starts a receiver on a free loopback port.
 *
 * @param react What it does with a post that came whole.
 */
export async function receiver(react: Behaviour, options: TargetOptions = {}): Promise<Receiver> {
  const posts: Post[] = [];

  function take(socket: Socket, received: string): boolean {
    const post = parsePost(received);
    if (post === null) return false;
    posts.push(post);
    react(socket, received, posts.length - 1);
    return true;
  }

  function collect(socket: Socket, received: string): void {
    let text = received;
    if (take(socket, text)) return;
    socket.on("data", function more(chunk: Uint8Array) {
      text += Buffer.from(chunk).toString("latin1");
      if (take(socket, text)) socket.off("data", more);
    });
  }

  return { ...await target(collect, options), posts };
}

/** Takes the post and never says a word. */
export function staysSilent(): Behaviour {
  return () => {};
}

/** Takes the post and resets the connection. */
export function resets(): Behaviour {
  return (socket) => socket.resetAndDestroy();
}

/** Reacts to the first posts in turn, and to the others as to the last of them. */
export function inTurn(...reactions: Behaviour[]): Behaviour {
  return (socket, request, index) => reactions[Math.min(index, reactions.length - 1)]?.(socket, request, index);
}

/** A server that resets each connection before it has read a byte. */
export async function resettingListener(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.resetAndDestroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

/** The value of a header, whatever the case of its name; fails if it was sent more than once. */
export function headerOf(post: Post, name: string): string | undefined {
  const values = post.headers.filter(([sent]) => sent.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  if (values.length > 1) throw new Error(`${name} was sent ${values.length} times: ${values.join(" | ")}`);
  return values[0];
}

/** @returns Null if the body has not come whole yet. */
function parsePost(received: string): Post | null {
  const end = received.indexOf("\r\n\r\n");
  const [requestLine = "", ...lines] = received.slice(0, end).split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const length = Number(headers.find(([name]) => name.toLowerCase() === "content-length")?.[1] ?? 0);
  const body = Buffer.from(received.slice(end + 4), "latin1");
  return body.length < length ? null : { requestLine, headers, body: body.toString("utf8") };
}
