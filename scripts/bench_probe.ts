/**
 * `deno task bench:probe`: probes per CPU-second over HTTP and HTTPS on loopback, of this runtime's probe and of Prometheus's
 * blackbox_exporter, driven through its /probe endpoint. Both make a new connection and a full handshake for each probe and verify the
 * certificate against the same authorities. They take turns at the same rate, and a first round is not counted. About two minutes.
 *
 * Each prober is a process of its own, and so are the targets; only the prober's CPU counts. Linux only. The exporter's binary is
 * looked for on the PATH (Debian: apt-get install prometheus-blackbox-exporter); without it, this runtime is measured alone.
 *
 * Options: --rounds 5, --seconds 5 (each turn), --rate 333 (probes a second: ten thousand services at 30 s).
 */
import { join } from "node:path";
import { median, numberOption, printTable, whole } from "./bench/numbers.ts";
import { atRate } from "./bench/pace.ts";
import { cpuMs } from "./bench/process_usage.ts";
import type { Probed, ProberCommand } from "./bench/prober.ts";
import { startProgram } from "./bench/program.ts";
import type { Targets } from "./bench/targets.ts";

/** Whose probes are measured. */
interface Prober extends AsyncDisposable {
  name: string;
  pid: number;
  run(command: ProberCommand): Promise<Probed>;
}

const EXPORTER = "prometheus-blackbox-exporter";
/** On a crowded machine one probe or another may run into its timeout. More than that would be another measurement. */
const UP_AT_LEAST = 0.99;
/** Where systems keep the authorities that they trust. */
const SYSTEM_AUTHORITIES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
];

async function main(args: string[]): Promise<void> {
  const rounds = numberOption(args, "rounds", 5);
  const pace = { perSecond: numberOption(args, "rate", 333), seconds: numberOption(args, "seconds", 5) };
  if (Deno.build.os !== "linux") throw new Error("bench:probe reads CPU from /proc, and so runs on Linux only.");

  await using stack = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir({ prefix: "uptuple-bench-" });
  stack.defer(() => Deno.remove(directory, { recursive: true }));
  const { hello: targets } = stack.use(await startProgram<Targets>("targets.ts"));
  const probers = [stack.use(await startUptuple(directory, targets))];
  const rival = await startExporter(directory, targets);
  if (rival === null) console.log(`${EXPORTER} is not on the PATH, so there is nothing to compare with.`);
  else probers.push(stack.use(rival));

  console.log(`${rounds} rounds of ${pace.seconds} s, ${pace.perSecond} probes/s, new connections`);
  for (const [scheme, url] of [["HTTP", targets.http], ["HTTPS", targets.https]] as const) {
    const rates = new Map(probers.map((prober) => [prober, [] as number[]]));
    for (let round = 0; round <= rounds; round++) {
      for (const prober of round % 2 === 0 ? probers : probers.toReversed()) {
        const rate = await measure(prober, { url: `${url}/`, ...pace });
        if (round > 0) rates.get(prober)?.push(rate);
      }
    }
    report(scheme, rates);
  }
}

/** @returns Probes per CPU-second. */
async function measure(prober: Prober, command: ProberCommand): Promise<number> {
  const before = cpuMs(prober.pid);
  const { up, failure } = await prober.run(command);
  const probes = command.perSecond * command.seconds;
  if (up < probes * UP_AT_LEAST) {
    throw new Error(`${prober.name} found ${up} of ${probes} probes up. The first other one: ${failure}`);
  }
  return probes / (cpuMs(prober.pid) - before) * 1000;
}

function report(scheme: string, rates: Map<Prober, number[]>): void {
  const ours = median([...rates.values()][0] ?? []);
  console.log(`\n${scheme}, probes per CPU-second: medians (lowest to highest)`);
  printTable(
    ["", "probes", "", "uptuple is"],
    [...rates].map(([{ name }, each]) => [
      name,
      whole(median(each)),
      `(${whole(Math.min(...each))} to ${whole(Math.max(...each))})`,
      `${(ours / median(each)).toFixed(2)} x`,
    ]),
  );
}

/** Trusts the targets' authority beside the system's. */
async function startUptuple(directory: string, { authority }: Targets): Promise<Prober> {
  const file = join(directory, "authority.pem");
  await Deno.writeTextFile(file, authority);
  const program = await startProgram("prober.ts", { env: { NODE_EXTRA_CA_CERTS: file } });
  return {
    name: "uptuple",
    pid: program.pid,
    run: (command) => program.ask<Probed>(command),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/**
 * Starts the exporter on a loopback port, trusting the targets' authority beside the system's.
 *
 * @returns Null if it is not installed.
 */
async function startExporter(directory: string, { authority }: Targets): Promise<Prober | null> {
  const config = join(directory, "exporter.json");
  const bundle = join(directory, "authorities.pem");
  const http = { method: "GET", preferred_ip_protocol: "ip4", ip_protocol_fallback: false, follow_redirects: false };
  await Deno.writeTextFile(config, JSON.stringify({ modules: { http: { prober: "http", timeout: "5s", http } } }));
  await Deno.writeTextFile(bundle, `${systemAuthorities()}\n${authority}`);
  const port = freePort();
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(EXPORTER, {
      args: [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error"],
      env: { SSL_CERT_FILE: bundle },
      stdout: "null",
      stderr: "inherit",
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  await answering(`http://127.0.0.1:${port}/-/healthy`);
  return {
    name: "blackbox_exporter",
    pid: child.pid,
    run: (command) => scrape(port, command),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
    },
  };
}

/** Asks for one probe after the other, over connections that are kept, and without compression, which would cost the exporter CPU. */
async function scrape(port: number, { url, perSecond, seconds }: ProberCommand): Promise<Probed> {
  const probed: Probed = { up: 0 };
  const address = `http://127.0.0.1:${port}/probe?module=http&target=${encodeURIComponent(url)}`;
  await atRate(perSecond, seconds, async () => {
    const response = await fetch(address, { headers: { "accept-encoding": "identity" } });
    const text = await response.text();
    if (/^probe_success 1$/m.test(text)) probed.up += 1;
    else probed.failure ??= text;
  });
  return probed;
}

async function answering(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${EXPORTER} did not answer within 5 s: see above.`);
}

function systemAuthorities(): string {
  for (const file of SYSTEM_AUTHORITIES) {
    try {
      return Deno.readTextFileSync(file);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return "";
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

if (import.meta.main) await main(Deno.args);
