import { Buffer } from "node:buffer";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { ServerCertificate } from "./certificates.ts";
import { answer, type Behaviour, drips, says, target } from "./targets.ts";

const OK = "HTTP/1.1 200 OK\r\n";
/** The beginning of a TLS record of 16 KiB: of a handshake, in which a server's greeting announces as much. */
const HANDSHAKE = "\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03";

/** What keeps a probe busy, or would fill its memory. */
function behaviours(): Record<string, Behaviour> {
  const noise = new Uint8Array(65536).fill(120);
  const zeros = new Uint8Array(64 << 20);
  const nothing = gzipSync("");
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 24 } };
  const packed = (label: string, body: Uint8Array) => says(answer("200 OK", [`Content-Encoding: ${label}`], body));
  return {
    "endless body": drips(`${OK}\r\n`, noise),
    "endless chunks": drips(`${OK}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nx\r\n".repeat(1000)),
    "endless headers": drips(OK, `X-Endless: ${"v".repeat(4096)}\r\n`),
    "endless cookies": drips(OK, "Set-Cookie: a=1; Path=/\r\n".repeat(100)),
    "endless header": drips(`${OK}X-Endless: `, noise),
    "endless interim answers": drips("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)),
    "endless chunk extension": drips(`${OK}Transfer-Encoding: chunked\r\n\r\n1;`, noise),
    "endless trailers": drips(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`, `X-Endless: ${"v".repeat(4096)}\r\n`),
    "endless redirects": (socket, request, index) => {
      const cookies = Array.from({ length: 20 }, (_, at) => `Set-Cookie: c${at}=${"v".repeat(4000)}; Path=/\r\n`).join(
        "",
      );
      const next = `${request.split(" ")[1]}${"x".repeat(5000)}`;
      drips(`HTTP/1.1 302 Found\r\nLocation: ${next}\r\n${cookies}\r\n`, noise)(socket, request, index);
    },
    "bomb": packed("gzip", gzipSync(zeros)),
    "bomb in brotli": packed("br", brotliCompressSync(zeros, brotli)),
    "bomb within bombs": packed("gzip, gzip, br", brotliCompressSync(gzipSync(gzipSync(zeros)), brotli)),
    "bomb of nothing": packed("gzip, gzip", gzipSync(Buffer.alloc(nothing.length * 500_000, nothing))),
    "dripping body": drips(`${OK}Content-Length: 1000\r\n\r\n`, "a", 100),
    "dripping header": drips(`${OK}X-Slow: `, "a", 100),
    "dripping interim answers": drips("", "HTTP/1.1 102 Processing\r\n\r\n", 100),
    "silence": () => {},
  };
}

/** What keeps a handshake busy. */
const HANDSHAKES: Record<string, Behaviour> = {
  "dripping handshake": drips(HANDSHAKE, "\x00", 100),
  "endless handshake": drips("", `${HANDSHAKE}${"\x00".repeat(16384 - 6)}`),
};

/** Hostile targets in a process of their own, so that their memory and their work are not the probe's. */
export interface HostileTargets extends AsyncDisposable {
  /** By what they do. `endless body over TLS` is there too. */
  urls: Record<string, string>;
}

/** Starts them. Needs permission to run Deno. */
export async function hostileTargets(certificate: ServerCertificate): Promise<HostileTargets> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-net=127.0.0.1", "--allow-env", "--allow-read", import.meta.filename ?? ""],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const toChild = child.stdin.getWriter();
  await toChild.write(new TextEncoder().encode(`${JSON.stringify(certificate)}\n`));
  const fromChild = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("\n")) {
    const { value, done } = await fromChild.read();
    if (done) throw new Error("the hostile targets did not start");
    said += value;
  }
  return {
    urls: JSON.parse(said),
    async [Symbol.asyncDispose]() {
      await toChild.close();
      await child.status;
      await fromChild.cancel();
    },
  };
}

/** Serves until the standard input ends. */
async function serve(): Promise<void> {
  const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("\n")) said += (await input.read()).value ?? "\n";
  const certificate: ServerCertificate = JSON.parse(said);

  const urls: Record<string, string> = {};
  for (const [name, behaviour] of Object.entries(behaviours())) urls[name] = (await target(behaviour)).url;
  for (const [name, behaviour] of Object.entries(HANDSHAKES)) {
    urls[name] = (await target(behaviour, { speaksFirst: true })).url.replace("http:", "https:");
  }
  const secure = await target(behaviours()["endless body"] ?? (() => {}), { certificate });
  urls["endless body over TLS"] = secure.url;
  console.log(JSON.stringify(urls));
  while (!(await input.read()).done);
  Deno.exit();
}

if (import.meta.main) await serve();
