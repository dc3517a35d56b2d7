import { gzipSync } from "node:zlib";
import type { ServerCertificate } from "./certificates.ts";
import { answer, type Behaviour, drips, says, target } from "./targets.ts";

const OK = "HTTP/1.1 200 OK\r\n";

/** What keeps a probe busy, or would fill its memory. */
function behaviours(): Record<string, Behaviour> {
  const noise = new Uint8Array(65536).fill(120);
  return {
    "endless body": drips(`${OK}\r\n`, noise),
    "endless headers": drips(OK, `X-Endless: ${"v".repeat(4096)}\r\n`),
    "endless header": drips(`${OK}X-Endless: `, noise),
    "endless interim answers": drips("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)),
    "endless chunk extension": drips(`${OK}Transfer-Encoding: chunked\r\n\r\n1;`, noise),
    "bomb": says(answer("200 OK", ["Content-Encoding: gzip"], gzipSync(new Uint8Array(64 << 20)))),
    "dripping body": drips(`${OK}Content-Length: 1000\r\n\r\n`, "a", 100),
    "dripping header": drips(`${OK}X-Slow: `, "a", 100),
    "silence": () => {},
  };
}

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
  const secure = await target(behaviours()["endless body"] ?? (() => {}), { certificate });
  urls["endless body over TLS"] = secure.url;
  console.log(JSON.stringify(urls));
  while (!(await input.read()).done);
  Deno.exit();
}

if (import.meta.main) await serve();
