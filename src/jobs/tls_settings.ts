import { createPrivateKey, X509Certificate } from "node:crypto";
import * as tls from "node:tls";
import { type Expansion, namesSecret } from "../secrets.ts";
import { errorText, ProbeFailure } from "./failure.ts";

/** What a check's configuration says of TLS. Texts may hold `${UPTUPLE_SECRET_NAME}`. */
export interface TlsConfig {
  /** The host name to indicate and to verify instead of the one in the URL. */
  server_name?: string;
  /** Authorities in PEM that are trusted instead of the system's. */
  ca?: string | null;
  /** A certificate in PEM, with its chain if it has one, to show to the server. */
  client_certificate?: string | null;
  /** Its private key in PEM, without a passphrase. */
  client_key?: string | null;
}

/** How one endpoint is shaken hands with. */
export interface TlsSettings {
  /** Whether a certificate that fails is only noted, as a warning. */
  insecure: boolean;
  serverName?: string;
  /** The protocols to offer. Default: `http/1.1`. */
  alpn?: readonly string[];
  trust: Trust;
}

/** Whom a handshake trusts, and as whom it introduces itself. */
export interface Trust {
  context: tls.SecureContext;
  /** The same in PEM, for what takes no context. */
  pem: { ca?: string; clientCertificate?: string; clientKey?: string };
  /** The subjects of the trusted authorities, as `X509Certificate.subject` writes them. */
  authorities(): ReadonlySet<string>;
}

/** Contexts kept at once. A check that uses another one makes its own again, at the price of a few ms. */
const CONTEXTS_KEPT = 200;

/** A certificate or key in PEM. */
const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;

/**
 * The system's authorities, for all handshakes. A request of node:https that makes a context of its own took 6.6 ms of CPU, one with a
 * shared context 3.4 ms. With an empty list of authorities, nobody would be trusted.
 */
const SYSTEM_TRUST: Trust = {
  context: tls.createSecureContext({}),
  pem: {},
  authorities: once(() => subjectsOf(systemAuthorities())),
};

/** What the texts of a configuration were when its context was made. */
interface Kept {
  expanded: string;
  trust: Trust;
}

/** By the texts before expansion, so that the context of a secret that has changed is replaced and not kept. The oldest come first. */
const kept = new Map<string, Kept>();

/**
 * Puts in the secrets of a TLS configuration. Contexts are shared by all checks that are configured alike, and made anew when a secret
 * has changed.
 *
 * @param config Absent: the system's authorities, and no client certificate.
 * @throws {MissingSecretError} If a secret is missing.
 * @throws {ProbeFailure} `secret.missing` if a text is not the certificate or key that it should be.
 */
export function tlsSettings(config: TlsConfig | undefined, insecure: boolean, expansion: Expansion): TlsSettings {
  const serverName = config?.server_name;
  return {
    insecure,
    ...(serverName === undefined ? {} : { serverName: expansion.text(serverName) }),
    trust: trustOf(config ?? {}, expansion),
  };
}

function trustOf(config: TlsConfig, expansion: Expansion): Trust {
  const written = [config.ca ?? "", config.client_certificate ?? "", config.client_key ?? ""];
  const [ca = "", certificate = "", key = ""] = written.map((text) => expansion.text(text));
  if (ca === "" && certificate === "" && key === "") return SYSTEM_TRUST;

  const source = JSON.stringify(written);
  const expanded = JSON.stringify([ca, certificate, key]);
  const known = kept.get(source);
  kept.delete(source);
  const trust = known?.expanded === expanded ? known.trust : makeTrust(config, { ca, certificate, key });
  kept.set(source, { expanded, trust });
  for (const oldest of kept.keys()) {
    if (kept.size <= CONTEXTS_KEPT) break;
    kept.delete(oldest);
  }
  return trust;
}

function makeTrust(config: TlsConfig, { ca, certificate, key }: Record<"ca" | "certificate" | "key", string>): Trust {
  const authorities = ca === "" ? [] : certificatesIn(ca, label("tls.ca", config.ca));
  if (certificate !== "" || key !== "") checkClient(config, certificate, key);
  const context = tls.createSecureContext({
    ...(ca === "" ? {} : { ca: authorities.map((authority) => authority.toString()) }),
    ...(certificate === "" ? {} : { cert: certificate, key }),
  });
  return {
    context,
    pem: {
      ...(ca === "" ? {} : { ca }),
      ...(certificate === "" ? {} : { clientCertificate: certificate, clientKey: key }),
    },
    authorities: ca === "" ? SYSTEM_TRUST.authorities : once(() => subjectsOf(authorities)),
  };
}

/** The TLS library drops what it cannot read without a word, and then shows no certificate, or trusts nobody. */
function checkClient(config: TlsConfig, certificate: string, key: string): void {
  const [named, keyNamed] = [
    label("tls.client_certificate", config.client_certificate),
    label("tls.client_key", config.client_key),
  ];
  if (certificate === "" || key === "") throw unusable(`${named} and ${keyNamed} go together, and one is empty`);
  const [leaf] = certificatesIn(certificate, named);
  let privateKey: ReturnType<typeof createPrivateKey>;
  try {
    privateKey = createPrivateKey(key);
  } catch {
    throw unusable(`${keyNamed} holds no private key in PEM that can be read without a passphrase`);
  }
  if (leaf?.checkPrivateKey(privateKey) !== true) throw unusable(`${keyNamed} is not the key of ${named}`);
}

function certificatesIn(pem: string, named: string): X509Certificate[] {
  const blocks = [...pem.matchAll(PEM_BLOCK)].filter(([, type]) => type === "CERTIFICATE").map(([block]) => block);
  if (blocks.length === 0) throw unusable(`${named} holds no certificate in PEM`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw unusable(`${named} holds a certificate that cannot be read: ${errorText(error)}`);
  }
}

/** Names a setting, with the secret that it comes from. */
function label(setting: string, written: string | null | undefined): string {
  return written && namesSecret(written) ? `${setting} (${written.slice(0, 80)})` : setting;
}

function unusable(message: string): ProbeFailure {
  return new ProbeFailure("secret.missing", message);
}

/** Those that the TLS library trusts unless it is told otherwise, those of `NODE_EXTRA_CA_CERTS` among them. */
function systemAuthorities(): X509Certificate[] {
  return [...tls.getCACertificates("default"), ...tls.getCACertificates("extra")].flatMap((pem) => {
    try {
      return [new X509Certificate(pem)];
    } catch {
      return [];
    }
  });
}

function subjectsOf(authorities: readonly X509Certificate[]): ReadonlySet<string> {
  return new Set(authorities.map(({ subject }) => subject));
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
