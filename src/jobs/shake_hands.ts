import type { TLSSocket } from "node:tls";
import { certificateFacts, certificateFailure } from "./certificate.ts";
import { chainNotAfter } from "./certificate_chain.ts";
import { within } from "./deadline.ts";
import type { DialContext, Endpoint } from "./dial.ts";
import { RuntimeFault } from "./failure.ts";
import { handshakeFailure } from "./handshake_failure.ts";
import { addTime, noteCertificate } from "./trail.ts";

/**
 * Waits for the handshake of a socket that is connected, notes the certificate, and judges it.
 *
 * @param connectedAt By `performance.now()`.
 * @throws {ProbeFailure} `tls...`, or the reason of the deadline's signal. The socket is then destroyed.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function shakeHands(
  socket: TLSSocket,
  connectedAt: number,
  { hostname, tls }: Endpoint,
  { deadline, trail }: DialContext,
): Promise<void> {
  deadline.phase = "tls";
  const name = tls?.serverName ?? hostname;
  try {
    await within<void>(deadline.signal, (resolve, reject) => {
      socket.once("secureConnect", resolve);
      socket.once("error", (error) => reject(handshakeFailure(error)));
      socket.once("close", () => reject(handshakeFailure(null)));
      return () => {};
    });
    addTime(trail, "tls", performance.now() - connectedAt);
    // A resumed session shows the certificate of an earlier handshake and has verified nothing.
    if (socket.isSessionReused()) {
      throw new RuntimeFault("this version of Deno resumes TLS sessions: use Deno 2.9.6 or newer");
    }
    const facts = certificateFacts(socket.getPeerCertificate(), name);
    if (socket.authorized) {
      if (facts === null) return;
      const chainEnd = tls === undefined ? null : chainNotAfter(socket, facts.fingerprint256, tls.trust);
      return noteCertificate(trail, chainEnd === null ? facts : { ...facts, chain_not_after: chainEnd });
    }
    if (facts !== null) noteCertificate(trail, facts);
    const failure = certificateFailure(socket, name, Date.now());
    if (tls?.insecure === true) {
      trail.warnings.add(failure.code);
      return;
    }
    if (facts !== null) trail.certificate = facts;
    throw failure;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
