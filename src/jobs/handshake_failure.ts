import { errorCode, errorText, isRuntimeError, ProbeFailure, RuntimeFault } from "./failure.ts";

/** What the errors of a handshake mean, by the end of their codes. The first that matches counts. */
const HANDSHAKE_ERRORS: readonly [pattern: RegExp, says: string][] = [
  [/WRONG_VERSION_NUMBER$/, "the server does not speak TLS on this port"],
  [
    /ALERT_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/,
    "the server speaks no version of TLS that is still safe (1.2 or 1.3)",
  ],
  [/ALERT_CERTIFICATE_REQUIRED$/, "the server asks for a client certificate"],
  [
    /ALERT_(?:BAD_CERTIFICATE|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE|UNKNOWN_CA)$/,
    "the server refuses the client certificate",
  ],
  [/ALERT_UNRECOGNIZED_NAME$/, "the server does not know the host name"],
  [/ALERT_HANDSHAKE_FAILURE$/, "the server finds nothing in common: no cipher, or no certificate for the host name"],
];

/**
 * Why a TLS connection was not made, or was ended by the server.
 *
 * @param error What the socket said; null for a connection that was closed in order.
 */
export function handshakeFailure(error: unknown): Error {
  if (isRuntimeError(error)) return new RuntimeFault(`cannot shake hands from here: ${errorText(error)}`);
  const code = errorCode(error);
  if (error === null || code === "ECONNRESET" || code === "EPIPE") {
    return new ProbeFailure("tls.handshake", "the server closed the connection during the TLS handshake");
  }
  const says = HANDSHAKE_ERRORS.find(([pattern]) => pattern.test(code))?.[1] ?? "the TLS handshake failed";
  const isPlain = code.endsWith("WRONG_VERSION_NUMBER");
  return new ProbeFailure("tls.handshake", isPlain ? says : `${says}: ${errorText(error)}`);
}
