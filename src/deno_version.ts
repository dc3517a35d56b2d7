/** What to say about the Deno that runs this, or null. */
export interface VersionVerdict {
  /** Why the program cannot run on it. */
  refusal: string | null;
  /** What works less well on it. */
  warning: string | null;
}

/**
 * Uptuple needs the node:http of Deno 2.8, which tells the address, the certificate and the phases of a request. From 2.8 to 2.9.5 node:tls
 * resumes sessions unasked (denoland/deno#36592), which a probe refuses to take for a verified certificate.
 *
 * @param version Such as `2.9.6`.
 */
export function judgeDenoVersion(version: string): VersionVerdict {
  if (isOlder(version, [2, 8, 0])) {
    return {
      refusal: `This is Deno ${version}, and Uptuple needs 2.8 or newer: run "deno upgrade" or "npm install -g deno".`,
      warning: null,
    };
  }
  const warning = isOlder(version, [2, 9, 6])
    ? `This is Deno ${version}, which resumes TLS sessions unasked: HTTPS checks that it spoils are given back instead of judged. ` +
      `Deno 2.9.6 mended it: run "deno upgrade" or "npm install -g deno".`
    : null;
  return { refusal: null, warning };
}

function isOlder(version: string, than: readonly [number, number, number]): boolean {
  const parts = version.split(".").map((part) => parseInt(part));
  const first = than.findIndex((part, index) => (parts[index] ?? 0) !== part);
  return first >= 0 && (parts[first] ?? 0) < (than[first] ?? 0);
}
