import type { Expansion } from "../../secrets.ts";
import type { DialContext } from "../dial.ts";
import type { HttpConfig } from "../http/request.ts";
import type { Transport } from "../http/transport.ts";
import { type CertificateConfig, probeCertificate } from "./certificate_probe.ts";
import { type DnsConfig, probeDns } from "./dns_probe.ts";
import type { Facts } from "./facts.ts";
import { checkHttp } from "./http_check.ts";
import { type PostgresqlConfig, probePostgresql } from "./postgresql_probe.ts";
import { probeTcp, type TcpConfig } from "./tcp_probe.ts";

/** What is to be probed, and how: the kind decides what the configuration may say. Its `${UPTUPLE_SECRET_NAME}` are not yet expanded. */
export type Check =
  | { kind: "http"; target: string; config: HttpConfig }
  | { kind: "tcp"; target: string; config: TcpConfig }
  | { kind: "dns"; target: string; config: DnsConfig }
  | { kind: "certificate"; target: string; config: CertificateConfig }
  | { kind: "postgresql"; target: string; config: PostgresqlConfig };

/**
 * Runs the probe of a check's kind.
 *
 * @throws {MissingSecretError} If a secret is missing.
 * @throws {ProbeFailure} For anything that keeps the target from giving a complete answer.
 * @throws {RuntimeFault} If this machine is what failed.
 */
export async function runCheck(
  check: Check,
  transport: Transport,
  expansion: Expansion,
  context: DialContext,
): Promise<Facts> {
  switch (check.kind) {
    case "http":
      return await checkHttp(check.target, check.config, transport, expansion, context);
    case "tcp":
      return await probeTcp(check.target, check.config, expansion, context);
    case "dns":
      return await probeDns(check.target, check.config, expansion, context);
    case "certificate":
      return await probeCertificate(check.target, check.config, expansion, context);
    case "postgresql":
      return await probePostgresql(check.target, check.config, expansion, context);
  }
}
