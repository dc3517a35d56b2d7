import type { Expansion } from "../../secrets.ts";
import { dial, type DialContext } from "../dial.ts";
import { type TlsConfig, tlsSettings } from "../tls_settings.ts";
import type { Facts } from "./facts.ts";
import { hostAndPort } from "./host_and_port.ts";

/** How the certificate is judged. */
export interface CertificateConfig {
  tls?: TlsConfig | null;
  insecure?: boolean;
}

/**
 * Shakes hands and says no word more. The trail gets the certificate, also one that is expired, for another name or from nobody that is
 * trusted: that is then the failure.
 *
 * @throws {ProbeFailure} For anything that keeps the handshake from ending, and for a certificate that is not accepted.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function probeCertificate(
  target: string,
  config: CertificateConfig,
  expansion: Expansion,
  context: DialContext,
): Promise<Facts> {
  const endpoint = hostAndPort(expansion.text(target), 443);
  const tls = { ...tlsSettings(config.tls ?? {}, config.insecure === true, expansion), alpn: [] };
  const socket = await dial({ ...endpoint, tls }, context);
  socket.destroy();
  return { observed: { connected: true } };
}
