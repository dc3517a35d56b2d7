import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

/** A certificate with its key, as a TLS server takes them. */
export interface ServerCertificate {
  /** PEM; the certificates that follow the first are the chain. */
  cert: string;
  /** PEM. */
  key: string;
}

/** A certificate authority made for one test. */
export interface Authority {
  /** PEM, to be trusted. */
  pem: string;
  issue(options?: LeafOptions): Promise<ServerCertificate>;
  /** An authority below this one. Its certificates come with its own in the chain. */
  intermediate(options?: Validity): Promise<Authority>;
  /** This authority as another one vouches for it: its certificates come with the other's signature in the chain. */
  crossSignedBy(other: Authority, options?: Validity): Promise<Authority>;
  /** Signs a key. For {@link Authority.crossSignedBy}. */
  sign(subject: string, publicKey: CryptoKey, options: Validity): Promise<X509Certificate>;
}

/** When a certificate is valid, in days from now. Default: from yesterday, for ten days. */
export interface Validity {
  fromDays?: number;
  toDays?: number;
}

/** What a leaf certificate says. Default: for localhost and 127.0.0.1. */
export interface LeafOptions extends Validity {
  subject?: string;
  names?: string[];
  addresses?: string[];
  /** Extended key usages, as object identifiers. Default: none, which means any. */
  usages?: string[];
}

/** Makes a root authority. */
export async function authority(name = "CN=Test Root", options: Validity = {}): Promise<Authority> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name,
    ...validity(options),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: authorityExtensions(),
  });
  return issuer(certificate, keys, "");
}

/** Makes a certificate that nobody vouches for but itself; as an authority, as `openssl req -x509` makes them, if it says so. */
export async function selfSigned(options: LeafOptions & { isAuthority?: boolean } = {}): Promise<ServerCertificate> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: options.subject ?? "CN=alone",
    ...validity(options),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new BasicConstraintsExtension(options.isAuthority === true), alternativeNames(options)],
  });
  return { cert: certificate.toString("pem"), key: await pemKey(keys) };
}

function issuer(certificate: X509Certificate, keys: CryptoKeyPair, chain: string): Authority {
  async function sign(
    subject: string,
    publicKey: CryptoKey,
    options: Validity,
    extensions: Extensions,
  ): Promise<X509Certificate> {
    return await X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject,
      issuer: certificate.subject,
      ...validity(options),
      publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions,
    });
  }

  return {
    pem: certificate.toString("pem"),
    sign: (subject, publicKey, options) => sign(subject, publicKey, options, authorityExtensions()),
    async crossSignedBy(other, options = {}) {
      const signed = await other.sign(certificate.subject, keys.publicKey, options);
      return issuer(certificate, keys, signed.toString("pem"));
    },
    async issue(options = {}) {
      const own = await newKeys();
      const extensions: Extensions = [new BasicConstraintsExtension(false), alternativeNames(options)];
      if (options.usages !== undefined) extensions.push(new ExtendedKeyUsageExtension(options.usages));
      const leaf = await sign(options.subject ?? "CN=server", own.publicKey, options, extensions);
      return { cert: `${leaf.toString("pem")}\n${chain}`, key: await pemKey(own) };
    },
    async intermediate(options = {}) {
      const own = await newKeys();
      const below = await sign("CN=Test Intermediate", own.publicKey, options, authorityExtensions());
      return issuer(below, own, `${below.toString("pem")}\n${chain}`);
    },
  };
}

type Extensions = (
  | BasicConstraintsExtension
  | ExtendedKeyUsageExtension
  | KeyUsagesExtension
  | SubjectAlternativeNameExtension
)[];

function authorityExtensions(): Extensions {
  return [
    new BasicConstraintsExtension(true, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
  ];
}

function alternativeNames(
  { names = ["localhost"], addresses = ["127.0.0.1"] }: LeafOptions,
): SubjectAlternativeNameExtension {
  return new SubjectAlternativeNameExtension([
    ...names.map((value) => ({ type: "dns" as const, value })),
    ...addresses.map((value) => ({ type: "ip" as const, value })),
  ]);
}

function validity({ fromDays = -1, toDays = 10 }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() + fromDays * DAY_MS), notAfter: new Date(Date.now() + toDays * DAY_MS) };
}

async function newKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as CryptoKeyPair;
}

async function pemKey(keys: CryptoKeyPair): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  return `-----BEGIN PRIVATE KEY-----\n${btoa(String.fromCharCode(...bytes))}\n-----END PRIVATE KEY-----\n`;
}

function serialNumber(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => (byte & 0x7f).toString(16).padStart(2, "0")).join(
    "",
  );
}
