import { errorCode, errorText, isRuntimeError, ProbeFailure, RuntimeFault } from "./failure.ts";

/** What the errors of a handshake mean, by their codes, or by the alert that their messages name. The first that matches counts. */
const HANDSHAKE_ERRORS: readonly [pattern: RegExp, says: string][] = [
  [/WRONG_VERSION_NUMBER/, "the server does not speak TLS on this port"],
  [/ProtocolVersion|UNSUPPORTED_PROTOCOL/, "the server speaks no version of TLS that is still safe (1.2 or 1.3)"],
  [/CertificateRequired/, "the server asks for a client certificate"],
  [
    /BadCertificate|Certificate(?:Expired|Revoked|Unknown)|UnsupportedCertificate|UnknownCA/,
    "the server refuses the client certificate",
  ],
  [/UnrecognisedName/, "the server does not know the host name"],
  [
    /HandshakeFailure|InsufficientSecurity/,
    "the server finds nothing in common: no cipher, or no certificate for the host name",
  ],
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
  const text = errorText(error);
  const says = HANDSHAKE_ERRORS.find(([pattern]) => pattern.test(`${code} ${text}`))?.[1] ?? "the TLS handshake failed";
  return new ProbeFailure("tls.handshake", code.endsWith("WRONG_VERSION_NUMBER") ? says : `${says}: ${text}`);
}
