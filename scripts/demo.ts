import { connect, type Database } from "../src/database/connect.ts";
import { startEmbeddedServer } from "../src/database/embedded.ts";
import { createWake } from "../src/wake.ts";
import { describeNotice, startReceiver } from "./example_receiver.ts";

// Shows the product in a minute: the program itself with a database of its own, a shop that breaks and is mended, and a receiver that is
// told. Everything lives in a temporary directory and on free ports of loopback, and is gone at the end.

/** All of it, in ms from the start. */
const DURATION_MS = 60_000;
/** How long the shop is well before it breaks, and how long it stays broken. */
const WELL_MS = 10_000;
const BROKEN_MS = 12_000;
/** A first start on a machine may compile and download. */
const START_LIMIT_MS = 60_000;
/** What should happen within a second or two is given up after this. */
const STEP_LIMIT_MS = 15_000;
/** The program stops within 5 s by itself. */
const STOP_LIMIT_MS = 8_000;

/** The program under demonstration. */
interface Monitor extends AsyncDisposable {
  /** The page to watch. */
  page: string;
}

/** A web site that can be broken. */
interface Shop extends AsyncDisposable {
  url: string;
  isBroken: boolean;
}

const startedAt = performance.now();

/** Prints what happens, with the seconds since the start. */
function say(text: string): void {
  const seconds = `${Math.round((performance.now() - startedAt) / 1000)} s`.padStart(5);
  console.log(`${seconds}  ${text.replaceAll("\n", "\n       ")}`);
}

async function show(stop: AbortController, ending: AsyncDisposableStack): Promise<void> {
  const { signal } = stop;
  const directory = ending.use(await temporaryDirectory());
  console.log(`A minute with Uptuple, in ${directory.path}. Ctrl-C ends it at any moment; nothing is left of it.\n`);

  say("A PostgreSQL starts.");
  const { url, stop: stopServer } = await startEmbeddedServer({ dataDir: directory.path, durable: false });
  ending.defer(stopServer);
  signal.throwIfAborted();
  say("Uptuple starts, and makes its schema.");
  const monitor = ending.use(startMonitor(url, stop));
  const database = connect({ url, maxConnections: 2, applicationName: "demo" });
  ending.defer(() => database.close());
  await until(
    "Uptuple works",
    signal,
    START_LIMIT_MS,
    async () => await isReady(monitor.page) && await isWorking(database),
  );
  say(`It works. Watch it here: ${monitor.page}`);

  let notices = 0;
  const receiver = ending.use(
    await startReceiver({
      port: 0,
      url,
      onNotice(notice) {
        say(`The receiver got a notice:  ${describeNotice(notice)}`);
        notices += 1;
      },
    }),
  );
  say(
    `A receiver of notices listens. Uptuple learns of it:\n  select uptuple.add_channel(name => 'ops', url => '${receiver.url}');`,
  );
  await database.query`select uptuple.add_channel(name => 'ops', url => ${receiver.url})`;

  const shop = ending.use(openShop());
  say(
    `A shop is open. Uptuple is to check it every second:\n` +
      `  select uptuple.add_service(name => 'shop', url => '${shop.url}', every => '1 second');`,
  );
  await database.query`select uptuple.add_service(name => 'shop', url => ${shop.url}, every => interval '1 second')`;
  await until("the shop is UP", signal, STEP_LIMIT_MS, async () => (await statusOf(database)) === "UP");
  say(`The shop is UP.`);

  await pause(WELL_MS, signal);
  shop.isBroken = true;
  say("The shop breaks: from now on it answers 503. The third failure in a row will count.");
  await until("the receiver is told of the failure", signal, STEP_LIMIT_MS, () => notices === 1);

  await pause(BROKEN_MS, signal);
  shop.isBroken = false;
  say("The shop is mended.");
  await until("the receiver is told of the recovery", signal, STEP_LIMIT_MS, () => notices === 2);
  await until("both notices are acknowledged", signal, STEP_LIMIT_MS, async () => await deliveredOf(database) === 2);

  say(`What the database knows of it:\n  select * from uptuple.incidents;\n${await incidentsOf(database)}`);
  const restMs = Math.max(0, DURATION_MS - (performance.now() - startedAt));
  say(`The page stays for ${Math.round(restMs / 1000)} s more: ${monitor.page}`);
  await pause(restMs, signal);
}

/** A directory that the database server's own user may enter. Below /tmp, since the path of a socket must be short. */
async function temporaryDirectory(): Promise<AsyncDisposable & { path: string }> {
  const windows = Deno.build.os === "windows";
  const path = await Deno.makeTempDir({ prefix: "uptuple-demo-", ...(windows ? {} : { dir: "/tmp" }) });
  if (!windows) await Deno.chmod(path, 0o755);
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

/** Starts the program as `deno task start` does, on a database that is there. If it ends by itself, the demo ends with its last words. */
function startMonitor(databaseUrl: string, stop: AbortController): Monitor {
  const port = freePort();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-P", new URL("../main.ts", import.meta.url).href],
    env: {
      DATABASE_URL: databaseUrl,
      HOST: "127.0.0.1",
      PORT: String(port),
      UPTUPLE_LOG: "warning",
      // What the person who tries it has set is meant for another copy.
      UPTUPLE_HEARTBEAT_URL: "",
      UPTUPLE_MIGRATE: "",
      UPTUPLE_REGION: "",
      UPTUPLE_ROLES: "",
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    // Ctrl-C is for the demo alone, which then stops the program once: a second signal would mean "at once".
    detached: true,
  }).spawn();

  let words = "";
  const keep = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) words = (words + text).slice(-2000);
  };
  const heard = Promise.all([keep(child.stdout), keep(child.stderr)]);
  let isRunning = true;
  const ended = child.status.then(async ({ code }) => {
    isRunning = false;
    await heard;
    stop.abort(new Error(`Uptuple ended with code ${code}. It said:\n${words}`));
  });

  return {
    page: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      if (isRunning) child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_LIMIT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

function openShop(): Shop {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => shop.isBroken ? new Response("Closed for an unknown reason.\n", { status: 503 }) : new Response("Welcome.\n"),
  );
  const shop: Shop = {
    url: `http://127.0.0.1:${server.addr.port}/`,
    isBroken: false,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return shop;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function isReady(page: string): Promise<boolean> {
  try {
    const response = await fetch(new URL("readyz", page));
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Whether the program has begun to work. Only asked when its schema is there. */
async function isWorking(database: Database): Promise<boolean> {
  const [worker] = await database.query`select from uptuple.workers where state = 'ALIVE'`;
  return worker !== undefined;
}

async function statusOf(database: Database): Promise<string | undefined> {
  const [shop] = await database.query<{ status: string }>`select status from uptuple.status where service = 'shop'`;
  return shop?.status;
}

/** How many of the two notices Uptuple knows to have arrived. */
async function deliveredOf(database: Database): Promise<number> {
  const [row] = await database.query<{ delivered: number }>`
    select sum(delivered)::integer as delivered from uptuple.incidents`;
  return row?.delivered ?? 0;
}

/** One line for each incident. */
async function incidentsOf(database: Database): Promise<string> {
  const rows = await database.query<{ line: string }>`
    select format(
      '  incident %s | %s | %s | down for %s s | %s | %s notices delivered',
      incident_id, service, state, round(extract(epoch from down_for)), reason, delivered
    ) as line
    from uptuple.incidents`;
  return rows.map(({ line }) => line).join("\n");
}

/** Asks until the answer is yes. */
async function until(
  what: string,
  signal: AbortSignal,
  limitMs: number,
  ask: () => Promise<boolean> | boolean,
): Promise<void> {
  const giveUpAt = performance.now() + limitMs;
  while (!await ask()) {
    if (performance.now() > giveUpAt) throw new Error(`Waited in vain for ${limitMs / 1000} s until ${what}.`);
    await pause(100, signal);
  }
}

/** @throws The signal's reason, as soon as it aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await createWake().sleep(ms, signal);
  signal.throwIfAborted();
}

async function main(): Promise<number> {
  const stop = new AbortController();
  let isInterrupted = false;
  const signals = Deno.build.os === "windows" ? ["SIGINT"] as const : ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => {
      isInterrupted = true;
      stop.abort();
    });
  }

  const ending = new AsyncDisposableStack();
  let code = 0;
  try {
    await show(stop, ending);
  } catch (error) {
    // What fails after Ctrl-C fails because of it: the terminal sends it to the server's start too.
    if (!isInterrupted) {
      console.error(error instanceof Error ? error.message : error);
      code = 1;
    }
  }
  say("Everything is being stopped and removed.");
  await ending.disposeAsync();
  return code;
}

if (import.meta.main) Deno.exit(await main());
