import type { Expansion } from "../../secrets.ts";
import type { DialContext } from "../dial.ts";
import type { Answer } from "../http/exchange.ts";
import { probeHttp } from "../http/http_probe.ts";
import { type HttpConfig, withoutCredentials } from "../http/request.ts";
import type { Transport } from "../http/transport.ts";
import type { Facts } from "./facts.ts";

/** A reported header is cut to this many characters. */
const HEADER_LENGTH = 8192;

/** Headers that hold URLs, and so may hold passwords. */
const URL_HEADERS = new Set(["location", "content-location", "link", "refresh"]);

/** Makes the request of an HTTP check and reports as much of the answer as the configuration asks for. Throws as {@link probeHttp} does. */
export async function checkHttp(
  target: string,
  config: HttpConfig,
  transport: Transport,
  expansion: Expansion,
  context: DialContext,
): Promise<Facts> {
  const answer = await probeHttp(target, config, transport.visit, expansion, context);
  const facts: Facts = { observed: {} };
  const wantHeaders = config.want_headers ?? [];
  if (wantHeaders.length > 0) facts.observed.headers = wantedHeaders(answer, wantHeaders, expansion);
  if (answer.body !== undefined) {
    const { text, capped, failure } = answer.body;
    facts.observed.body = capped ? expansion.redactCut(text) : expansion.redact(text);
    facts.observed.body_capped = capped;
    if (failure !== undefined) facts.failure = failure;
  }
  return facts;
}

function wantedHeaders({ headers }: Answer, names: readonly string[], expansion: Expansion): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const name of names.map((name) => name.toLowerCase())) {
    const values = headers.filter(([received]) => received === name).map(([, value]) => value);
    if (values.length === 0) continue;
    const value = expansion.redact(values.join(", "));
    wanted[name] = (URL_HEADERS.has(name) ? withoutCredentials(value) : value).slice(0, HEADER_LENGTH);
  }
  return wanted;
}
