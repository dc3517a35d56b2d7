import { type Expansion, MissingSecretError, type SecretStore } from "../secrets.ts";
import { startDeadline } from "./deadline.ts";
import { type DialContext, type Resolver, systemResolver } from "./dial.ts";
import { errorText, ProbeFailure, ProbeStopped, RuntimeFault } from "./failure.ts";
import { NODE_TRANSPORT, type Transport } from "./http/transport.ts";
import { type Check, runCheck } from "./kinds/check.ts";
import type { Facts } from "./kinds/facts.ts";
import { type NetworkPolicy, networkPolicy } from "./network_policy.ts";
import type { Certificate, ErrorCode, Observation } from "./observation.ts";
import { emptyTrail, milliseconds, type Trail } from "./trail.ts";

/** A message is cut to this many characters. */
const MESSAGE_LENGTH = 500;

/** What a claimed job asks for. */
export type ProbeRequest = Check & {
  /** From the start to the last byte that is needed, in ms. */
  timeoutMs: number;
};

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
  const expansion = options.secrets.expansion();
  const trail = emptyTrail();
  using deadline = startDeadline(job.timeoutMs, options.signal);
  const context: DialContext = {
    deadline,
    trail,
    policy: options.policy ?? DEFAULT_POLICY,
    resolve: options.resolve ?? systemResolver,
  };

  let facts: Facts = { observed: {} };
  let failure: { code: ErrorCode; message: string } | undefined;
  try {
    deadline.signal.throwIfAborted();
    facts = await runCheck(job, options.transport ?? NODE_TRANSPORT, expansion, context);
    failure = facts.failure;
  } catch (error) {
    if (error instanceof ProbeStopped) return { aborted: true };
    if (error instanceof ProbeFailure) failure = error;
    else if (error instanceof MissingSecretError) failure = { code: "secret.missing", message: error.message };
    else return { stalled: shown(faultText(error), expansion) };
  }
  const total = milliseconds(deadline.elapsed());
  if (deadline.stalled()) return { stalled: `the runtime stood still: the probe ended after ${total} ms` };
  const timings = { ...trail.timings, total: facts.totalMs === undefined ? total : milliseconds(facts.totalMs) };
  const observation: Observation = { ...seen(trail, expansion), ...facts.observed, timings };
  if (failure !== undefined) observation.error = { code: failure.code, message: shown(failure.message, expansion) };
  if (job.kind === "http") observation.transport = (options.transport ?? NODE_TRANSPORT).name;
  return { observation };
}

/** What the trail tells, whether the probe ended well or not. */
function seen(trail: Trail, expansion: Expansion): Partial<Observation> {
  return {
    ...(trail.status === undefined ? {} : { status: trail.status }),
    ...(trail.address === undefined ? {} : { address: trail.address }),
    ...(trail.family === undefined ? {} : { family: trail.family }),
    ...(trail.certificate === undefined ? {} : { certificate: redactedCertificate(trail.certificate, expansion) }),
    ...(trail.warnings.size === 0 ? {} : { warnings: [...trail.warnings] }),
    ...(trail.redirects.length === 0 ? {} : {
      redirects: trail.redirects.map((hop) => ({ ...hop, location: expansion.redact(hop.location) })),
    }),
  };
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

/** What kept this runtime from probing. What is no known fault is a mistake of this program, and no target's either. */
function faultText(error: unknown): string {
  return error instanceof RuntimeFault ? error.message : `the probe broke: ${errorText(error)}`;
}

/** A message as it may be stored and shown: without secrets, in one line, of limited length. */
function shown(message: string, expansion: Expansion): string {
  // deno-lint-ignore no-control-regex -- a message may quote what a server sent
  return expansion.redact(message).replace(/[\x00-\x1f\x7f]+/g, " ").slice(0, MESSAGE_LENGTH);
}
