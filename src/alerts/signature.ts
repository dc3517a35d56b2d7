const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=?|[A-Za-z0-9+/]{2}(?:==)?)$/;

/** The bytes of a key for HMAC-SHA256. */
export type SigningKey = Uint8Array<ArrayBuffer>;

/** A text is not a key that can be signed with. The message does not show the text. */
export class SigningKeyError extends Error {
  override readonly name = "SigningKeyError";
}

/** What a signature vouches for. */
export interface SignedMessage {
  /** The header `webhook-id`. */
  id: string;
  /** The header `webhook-timestamp`: when this attempt is made, in whole seconds since the epoch. */
  timestamp: number;
  /** The body, byte for byte. */
  body: Uint8Array;
}

/**
 * Reads a key as Standard Webhooks writes it: `whsec_` and the key's bytes in base64.
 *
 * @param source Where the text comes from, for the error.
 * @throws {SigningKeyError} If the text has another form.
 */
export function signingKey(text: string, source: string): SigningKey {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : "";
  if (BASE64.test(encoded)) return Uint8Array.fromBase64(encoded);
  throw new SigningKeyError(
    `${source} is not a signing key: it must be ${PREFIX} and the key's bytes in base64, as ` +
      `"echo ${PREFIX}$(openssl rand -base64 32)" prints it`,
  );
}

/**
 * Signs a message by the rules of Standard Webhooks 1.0.0: HMAC-SHA256 over `id.timestamp.body`.
 *
 * @param keys Two of them make two signatures, so that a receiver may know either while one is rotated.
 * @returns The header `webhook-signature`: `v1,<base64>` for each key, with spaces between.
 */
export async function sign({ id, timestamp, body }: SignedMessage, keys: readonly SigningKey[]): Promise<string> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);

  const signatures = keys.map(async (bytes) => {
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    return `v1,${new Uint8Array(await crypto.subtle.sign("HMAC", key, content)).toBase64()}`;
  });
  return (await Promise.all(signatures)).join(" ");
}
