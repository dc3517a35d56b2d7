import type { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { type Deadline, within } from "../jobs/deadline.ts";
import { dial, systemResolver } from "../jobs/dial.ts";
import { errorCode, errorText, isRuntimeError, ProbeFailure, ProbeStopped, RuntimeFault } from "../jobs/failure.ts";
import { networkPolicy } from "../jobs/network_policy.ts";
import type { ErrorCode } from "../jobs/observation.ts";
import { type TlsSettings, tlsSettings } from "../jobs/tls_settings.ts";
import { emptyTrail, milliseconds } from "../jobs/trail.ts";
import type { Expansion } from "../secrets.ts";
import { deliveryFailure } from "./delivery_failure.ts";
import type { ClaimedNotice, DeliveryAnswer, MailRequest } from "./notice.ts";
import { startPostDeadline } from "./post_deadline.ts";
import { type PostOptions, PostStoppedError } from "./post_notice.ts";

/** Only as much of a server's answer is reported as a person needs to see what it said, in characters. */
const EXCERPT_LENGTH = 512;

/** A server that says more than this in one answer is not listened to any longer, in bytes. */
const ANSWER_LIMIT = 16_384;

const DEFAULT_POLICY = networkPolicy();

/** What a mail server answered at the end: to the mail, or to the step at which it refused. */
interface ServerAnswer {
  status: number;
  command: string;
  said: string;
}

/**
 * Hands one claimed notice to its mail server and reports what that said. What the answer means, and whether and when to try again,
 * `uptuple.finish_alert` decides.
 *
 * The connection is made here, by the rules for all connections, and not by the mail library: only addresses that the policy accepts, and
 * the deadlines of a post. A mail that some recipients were refused for is accepted, and the answer says which.
 *
 * @param notice The mail as `uptuple.claim_alerts` rendered it.
 * @returns The status of SMTP, the step that it answers and what the server said; or the code of what failed.
 * @throws {PostStoppedError} If the signal aborted before the server answered.
 */
export async function mailNotice(
  notice: ClaimedNotice & { request: MailRequest },
  options: Pick<PostOptions, "secrets" | "signal" | "policy" | "resolve">,
): Promise<DeliveryAnswer> {
  const expansion = options.secrets.expansion();
  using deadline = startPostDeadline(notice, options.signal);
  let isHandedOver = false;
  try {
    deadline.signal.throwIfAborted();
    const server = mailServer(notice.request, expansion);
    const message = await composed(notice.request, notice.eventId);
    const { hostname, port, isSecure, tls } = server;
    const socket = await dial({ hostname, port, ...(isSecure ? { tls } : {}) }, {
      deadline,
      policy: options.policy ?? DEFAULT_POLICY,
      resolve: options.resolve ?? systemResolver,
      trail: emptyTrail(),
    });
    // The connection stands: what follows has the time for the whole.
    deadline.phase = "headers";
    const { status, command, said } = await deliver(socket, server, notice.request, message, deadline, () => {
      isHandedOver = true;
    });
    const excerpt = expansion.redact(said).slice(0, EXCERPT_LENGTH);
    return { status, command, excerpt, latency_ms: milliseconds(deadline.elapsed()) };
  } catch (error) {
    if (error instanceof ProbeStopped) throw new PostStoppedError(isHandedOver);
    return { error: deliveryFailure(error, deadline, expansion), latency_ms: milliseconds(deadline.elapsed()) };
  }
}

/** A mail server with the secrets that it takes. */
interface MailServer {
  hostname: string;
  port: number;
  /** Whether TLS is spoken from the start. */
  isSecure: boolean;
  tls: TlsSettings;
  login: { user: string; pass: string } | null;
}

function mailServer({ url, login, ca }: MailRequest, expansion: Expansion): MailServer {
  const { protocol, hostname, port } = new URL(url);
  return {
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port),
    isSecure: protocol === "smtps:",
    // A mail server may refuse whoever offers it HTTP.
    tls: { ...tlsSettings(ca === undefined ? undefined : { ca }, false, expansion), alpn: [] },
    login: login === undefined ? null : { user: login.user, pass: expansion.text(login.password) },
  };
}

/** The mail's bytes, the same in every attempt. The library encodes headers, and takes no line break into them. */
function composed({ mail }: MailRequest, eventId: string): Promise<Buffer> {
  const composer = new MailComposer({
    from: { name: "Uptuple", address: mail.from },
    to: mail.to.map((address) => ({ name: "", address })),
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    date: new Date(mail.date),
    messageId: mail.message_id,
    references: mail.references,
    // Nobody's holiday message is wanted in return.
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    baseBoundary: eventId,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/** Speaks SMTP over a connection until the server has taken or refused the mail. The socket is closed here, whatever happens. */
async function deliver(
  socket: Socket,
  { hostname, port, isSecure, tls, login }: MailServer,
  { starttls, mail }: MailRequest,
  message: Buffer,
  deadline: Deadline,
  onHandOver: () => void,
): Promise<ServerAnswer> {
  const connection = new SMTPConnection({
    connection: socket,
    host: hostname,
    port,
    secure: isSecure,
    secured: isSecure,
    requireTLS: !isSecure && starttls === "required",
    ignoreTLS: starttls === "never",
    tls: { secureContext: tls.trust.context },
    maxResponseSize: ANSWER_LIMIT,
    socketCloseTimeout: 0,
  });
  try {
    return await within<ServerAnswer>(deadline.signal, (resolve, reject) => {
      const refused = (error: unknown): void => {
        const answer = refusal(error);
        if (answer === null) reject(mailFailure(error));
        else resolve(answer);
      };
      const send = (): void => {
        const envelope = { from: mail.from, to: mail.to, size: message.length };
        connection.send(envelope, readOnce(message, onHandOver), (error, info) => {
          if (error) return refused(error);
          const rejected = info?.rejected ?? [];
          const but = rejected.length === 0 ? "" : ` (but not for ${rejected.join(", ")})`;
          resolve({ status: 250, command: "DATA", said: `${info?.response ?? ""}${but}` });
        });
      };
      connection.on("error", refused);
      connection.connect((error) => {
        if (error) return refused(error);
        if (login === null) return send();
        connection.login({ user: login.user, pass: login.pass }, (denied) => denied ? refused(denied) : send());
      });
      return () => {};
    });
  } finally {
    connection.close();
    socket.destroy();
  }
}

/** The bytes as a stream, and a call when they are first asked for: the library reads them when the server has said that it takes a mail. */
function readOnce(bytes: Buffer, onRead: () => void): Readable {
  return new Readable({
    read() {
      onRead();
      this.push(bytes);
      this.push(null);
    },
  });
}

/** The answer with which a server refused a step, or null if it gave none. */
function refusal(error: unknown): ServerAnswer | null {
  if (typeof error !== "object" || error === null) return null;
  const { responseCode, response, command } = error as {
    responseCode?: unknown;
    response?: unknown;
    command?: unknown;
  };
  if (typeof responseCode !== "number" || responseCode < 400) return null;
  return { status: responseCode, command: String(command ?? ""), said: String(response ?? errorText(error)) };
}

/** What the TLS library says of a certificate that it does not accept, after STARTTLS. */
const CERTIFICATE_FAILURES: Record<string, ErrorCode> = {
  CERT_HAS_EXPIRED: "tls.expired",
  CERT_NOT_YET_VALID: "tls.not_yet_valid",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls.self_signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls.name_mismatch",
  SELF_SIGNED_CERT_IN_CHAIN: "tls.untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "tls.untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls.untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls.untrusted",
};

/** Why there is no answer. */
function mailFailure(error: unknown): Error {
  if (isRuntimeError(error)) return new RuntimeFault(`cannot send from here: ${errorText(error)}`);
  const { originalCode } = error as { originalCode?: string };
  const certificate = CERTIFICATE_FAILURES[originalCode ?? ""];
  if (certificate !== undefined) {
    return new ProbeFailure(certificate, `the mail server's certificate is not accepted: ${errorText(error)}`);
  }
  switch (errorCode(error)) {
    case "ETLS":
      return new ProbeFailure("tls.handshake", `the connection could not be upgraded to TLS: ${errorText(error)}`);
    case "ECONNECTION":
    case "ESOCKET":
      return new ProbeFailure("connect.reset", `the mail server closed the connection: ${errorText(error)}`);
    default:
      return new ProbeFailure("protocol", `the mail could not be handed over: ${errorText(error)}`);
  }
}
