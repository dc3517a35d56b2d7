import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { type SigningKey, signingKey, SigningKeyError } from "../src/alerts/signature.ts";
import { openClient } from "../src/database/client.ts";
import { connect, type Database, DatabaseUnavailableError, explainConnectionError } from "../src/database/connect.ts";

// A receiver to copy. What makes it one that has each notice exactly once:
//
// - It stores the notice before it answers 2xx, in one transaction. If it dies in between, the notice comes again.
// - The id is unique in its table. A notice that comes again is known, and is answered 200 without being acted on again.
// - The same id with another body is somebody's mistake, and is answered 409: nothing is stored over what is there.
// - What it does about a notice should happen in that transaction too, or be done by a worker that reads the table.
// - It tells apart what the sender should try again (503), what it never should (400, 409, 413), and what a person must mend (401).

/** How to start the receiver. */
export interface ReceiverOptions {
  /** 0 for any free port. */
  port: number;
  /** The database that it keeps its table in. */
  url: string;
  /** `whsec_` and the key in base64, as the channel's; without it anybody who reaches the port is believed. */
  signingSecret?: string;
  /** Called with each notice when it is stored for the first time, before it is answered. */
  onNotice?: (notice: ReceivedNotice) => void;
}

/** A notice as Uptuple sends it. */
export interface ReceivedNotice {
  /** `service.failed` or `service.recovered`. */
  type: string;
  data: {
    event_id: string;
    incident_id: number;
    service: string;
    occurred_at: string;
    /** Why the service failed; on recovery, what it answered. */
    reason?: string;
    /** On recovery: how long the service was down. */
    down_seconds?: number;
  };
}

/** A receiver that runs. */
export interface ExampleReceiver extends AsyncDisposable {
  /** Where to post to. */
  url: string;
}

/** A notice is a few hundred bytes; more than this many is not one. */
const BODY_LIMIT = 64 * 1024;
/** A signature that is older, or from further ahead, in seconds, may be a copy. */
const CLOCK_TOLERANCE = 300;

/** A request that is not stored, and the status that says so. */
class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/**
 * Starts the receiver on loopback. Its table is made if it is not there.
 *
 * @throws {SigningKeyError} If the signing secret has another form.
 * @throws The driver's error if the database cannot be reached, `Deno.errors.AddrInUse` if the port is taken.
 */
export async function startReceiver(options: ReceiverOptions): Promise<ExampleReceiver> {
  const { signingSecret, onNotice = () => {} } = options;
  const key = signingSecret === undefined ? null : signingKey(signingSecret, "the signing secret");
  await makeTable(options.url);
  const database = connect({ url: options.url, maxConnections: 4, applicationName: "example receiver" });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: options.port, onListen() {} },
    (request) => answer(request, { database, key, onNotice }),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await database.close();
    },
  };
}

/** One line for people. */
export function describeNotice({ type, data }: ReceivedNotice): string {
  if (type === "service.failed") return `FAILED ${data.service}: ${data.reason}`;
  if (type === "service.recovered") {
    return `RECOVERED ${data.service}: it was down for ${Math.round(data.down_seconds ?? 0)} s`;
  }
  return `${type} ${data.service}`;
}

async function makeTable(url: string): Promise<void> {
  const sql = openClient(url, { maxConnections: 1, applicationName: "example receiver" });
  try {
    await sql.unsafe(await Deno.readTextFile(new URL("example_receiver.sql", import.meta.url)));
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** What an answer needs. */
interface Desk {
  database: Database;
  /** Null: signatures are not looked at. */
  key: SigningKey | null;
  onNotice: (notice: ReceivedNotice) => void;
}

async function answer(request: Request, { database, key, onNotice }: Desk): Promise<Response> {
  try {
    if (request.method !== "POST") throw new Refusal(405, "Notices come by POST.");
    const id = request.headers.get("webhook-id");
    if (id === null || id === "") throw new Refusal(400, "The header webhook-id is missing.");
    const bytes = await readBody(request);
    if (key !== null) verifySignature(request.headers, id, bytes, key);
    const body = decode(bytes);
    const notice = parse(body);

    const { isNew, isSame } = await store(database, id, body);
    if (!isSame) throw new Refusal(409, "Another notice is stored under this webhook-id.");
    if (isNew) onNotice(notice);
    return new Response(isNew ? "stored\n" : "known\n");
  } catch (error) {
    if (error instanceof Refusal) return new Response(`${error.message}\n`, { status: error.status });
    if (error instanceof DatabaseUnavailableError) return new Response("Try again later.\n", { status: 503 });
    throw error;
  }
}

/** One statement is one transaction. Of two posts of one notice at the same moment, the second waits for the first to be committed. */
async function store(database: Database, id: string, body: string): Promise<{ isNew: boolean; isSame: boolean }> {
  const [stored] = await database.query<{ is_new: boolean; is_same: boolean }>`
    insert into example_receiver.notice as known (event_id, body)
    values (${id}, ${body})
    on conflict (event_id) do update set posts = known.posts + 1
    returning posts = 1 as is_new, body = ${body} as is_same`;
  return { isNew: stored?.is_new === true, isSame: stored?.is_same === true };
}

async function readBody(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > BODY_LIMIT) throw new Refusal(413, `A notice has at most ${BODY_LIMIT} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Checks the signature of Standard Webhooks over the bytes that came, before anything is made of them. */
function verifySignature(headers: Headers, id: string, body: Uint8Array, key: SigningKey): void {
  const timestamp = headers.get("webhook-timestamp") ?? "";
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp) || age > CLOCK_TOLERANCE) {
    throw new Refusal(401, "The webhook-timestamp is missing, or too far from this machine's clock.");
  }
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const signatures = (headers.get("webhook-signature") ?? "").split(" ").filter((one) => one.startsWith("v1,"));
  const isSigned = signatures.some((signature) => {
    const given = Buffer.from(signature.slice("v1,".length), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isSigned) throw new Refusal(401, "No webhook-signature is by the key that is known here.");
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal(400, "The body is not UTF-8.");
  }
}

function parse(body: string): ReceivedNotice {
  let notice: Partial<ReceivedNotice> | null;
  try {
    notice = JSON.parse(body);
  } catch {
    throw new Refusal(400, "The body is not JSON.");
  }
  if (typeof notice?.type !== "string" || typeof notice.data?.service !== "string") {
    throw new Refusal(400, "The body is not a notice: it has no type, or no data with a service.");
  }
  return notice as ReceivedNotice;
}

/** Says in one sentence why the receiver cannot start, and ends it. */
function refuse(message: string): never {
  console.error(message);
  Deno.exit(1);
}

async function main(): Promise<void> {
  const variable = (name: string) => Deno.env.get(name) || undefined;
  const url = variable("RECEIVER_DATABASE_URL") ?? variable("DATABASE_URL") ?? refuse(
    "RECEIVER_DATABASE_URL is not set: name the database that notices are stored in, " +
      `for example RECEIVER_DATABASE_URL="$(deno task --quiet db:url)" while Uptuple runs.`,
  );
  const port = variable("RECEIVER_PORT") ?? "9090";
  if (!/^\d{1,5}$/.test(port)) refuse(`RECEIVER_PORT is "${port}", and must be a number from 0 to 65535.`);
  const signingSecret = variable("RECEIVER_SIGNING_SECRET");

  const receiver = await startReceiver({
    port: Number(port),
    url,
    ...(signingSecret === undefined ? {} : { signingSecret }),
    onNotice: (notice) => console.log(describeNotice(notice)),
  }).catch((error) => {
    if (error instanceof SigningKeyError) refuse(`RECEIVER_SIGNING_SECRET: ${error.message}.`);
    if (error instanceof Deno.errors.AddrInUse) refuse(`Port ${port} is taken: set RECEIVER_PORT to another one.`);
    refuse(explainConnectionError(error, url));
  });
  console.error(
    `Listening on ${receiver.url}, storing in example_receiver.notice. Tell Uptuple:\n` +
      `  select uptuple.add_channel(name => 'example', url => '${receiver.url}');`,
  );
  for (const signal of Deno.build.os === "windows" ? ["SIGINT"] as const : ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, async () => {
      await receiver[Symbol.asyncDispose]();
      Deno.exit(0);
    });
  }
}

if (import.meta.main) await main();
