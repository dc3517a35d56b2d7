import { type Expansion, MissingSecretError, type SecretStore } from "../secrets.ts";
import { startDeadline } from "./deadline.ts";
import { type Resolver, systemResolver } from "./dial.ts";
import { errorText, ProbeFailure, ProbeStopped, RuntimeFault } from "./failure.ts";
import type { Answer } from "./http/exchange.ts";
import { probeHttp } from "./http/http_probe.ts";
import { type HttpConfig, withoutCredentials } from "./http/request.ts";
import { NODE_TRANSPORT, type Transport } from "./http/transport.ts";
import { type NetworkPolicy, networkPolicy } from "./network_policy.ts";
import type { Certificate, ErrorCode, Observation } from "./observation.ts";
import { emptyTrail, milliseconds, type Trail } from "./trail.ts";

/** A message is cut to this many characters. */
const MESSAGE_LENGTH = 500;

/** A reported header is cut to this many characters. */
const HEADER_LENGTH = 8192;

/** Headers that hold URLs, and so may hold passwords. */
const URL_HEADERS = new Set(["location", "content-location", "link", "refresh"]);

/** What a claimed job asks for. */
export interface ProbeRequest {
  kind: "http";
  /** The URL, with its `${UPTUPLE_SECRET_NAME}` not yet expanded. */
  target: string;
  config: HttpConfig;
  /** From the start to the last byte that is needed, in ms. */
  timeoutMs: number;
}

/** What a probe works with. */
export interface ProbeOptions {
  /** Stops the probe when the runtime stops. */
  signal: AbortSignal;
  secrets: SecretStore;
  /** Default: link-local and cloud metadata addresses are denied. */
  policy?: NetworkPolicy;
  /** Default: the system's resolver. */
  resolve?: Resolver;
  /** What {@link transportChoice} chose. Default: node's sockets. */
  transport?: Transport;
}

/**
 * How a probe ended. Only an observation says something about the target. A probe that `stalled`, because this process stood still or this
 * machine lacked something, and one that was `aborted` by the signal, say nothing: the job is to be given back or retried.
 */
export type ProbeOutcome = { observation: Observation } | { stalled: string } | { aborted: true };

const DEFAULT_POLICY = networkPolicy();

/**
 * Probes a target once and reports what it saw. It decides nothing about health: a refused connection is an observation like a 200 is.
 *
 * @param job What to probe.
 * @param options What to probe with.
 * @returns How the probe ended; it never rejects for anything that a target does.
 */
export async function probe(job: ProbeRequest, options: ProbeOptions): Promise<ProbeOutcome> {
  const transport = options.transport ?? NODE_TRANSPORT;
  const expansion = options.secrets.expansion();
  const trail = emptyTrail();
  using deadline = startDeadline(job.timeoutMs, options.signal);
  const context = {
    deadline,
    trail,
    policy: options.policy ?? DEFAULT_POLICY,
    resolve: options.resolve ?? systemResolver,
  };

  const seen: Seen = { trail, answer: null };
  try {
    deadline.signal.throwIfAborted();
    seen.answer = await probeHttp(job.target, job.config, transport.visit, expansion, context);
    if (seen.answer.body?.failure !== undefined) seen.failure = seen.answer.body.failure;
  } catch (error) {
    if (error instanceof ProbeStopped) return { aborted: true };
    if (error instanceof ProbeFailure) seen.failure = error;
    else if (error instanceof MissingSecretError) seen.failure = { code: "secret.missing", message: error.message };
    else return { stalled: shown(faultText(error), expansion) };
  }
  const total = milliseconds(deadline.elapsed());
  if (deadline.stalled()) return { stalled: `the runtime stood still: the probe ended after ${total} ms` };
  return { observation: observationOf(seen, total, job.config.want_headers ?? [], transport.name, expansion) };
}

/** What a probe ended with. */
interface Seen {
  trail: Trail;
  answer: Answer | null;
  failure?: { code: ErrorCode; message: string };
}

function observationOf(
  { trail, answer, failure }: Seen,
  total: number,
  wantHeaders: readonly string[],
  transport: Transport["name"],
  expansion: Expansion,
): Observation {
  const observation: Observation = { timings: { ...trail.timings, total }, transport };
  if (trail.status !== undefined) observation.status = trail.status;
  if (failure !== undefined) observation.error = { code: failure.code, message: shown(failure.message, expansion) };
  if (trail.address !== undefined) observation.address = trail.address;
  if (trail.family !== undefined) observation.family = trail.family;
  if (trail.certificate !== undefined) observation.certificate = redactedCertificate(trail.certificate, expansion);
  if (trail.warnings.size > 0) observation.warnings = [...trail.warnings];
  if (trail.redirects.length > 0) {
    observation.redirects = trail.redirects.map((hop) => ({ ...hop, location: expansion.redact(hop.location) }));
  }
  if (answer !== null && wantHeaders.length > 0) observation.headers = wantedHeaders(answer, wantHeaders, expansion);
  if (answer?.body !== undefined) {
    const { text, capped } = answer.body;
    observation.body = capped ? expansion.redactCut(text) : expansion.redact(text);
    observation.body_capped = capped;
  }
  return observation;
}

/** A server may repeat in its certificate what it was told. */
function redactedCertificate(certificate: Certificate, { redact }: Expansion): Certificate {
  const { host, subject, issuer, names } = certificate;
  return {
    ...certificate,
    host: redact(host),
    subject: redact(subject),
    issuer: redact(issuer),
    names: names.map(redact),
  };
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

/** What kept this runtime from probing. What is no known fault is a mistake of this program, and no target's either. */
function faultText(error: unknown): string {
  return error instanceof RuntimeFault ? error.message : `the probe broke: ${errorText(error)}`;
}

/** A message as it may be stored and shown: without secrets, in one line, of limited length. */
function shown(message: string, expansion: Expansion): string {
  // deno-lint-ignore no-control-regex -- a message may quote what a server sent
  return expansion.redact(message).replace(/[\x00-\x1f\x7f]+/g, " ").slice(0, MESSAGE_LENGTH);
}
