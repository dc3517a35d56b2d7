import { createHash } from "node:crypto";

/** The entity tag of a content: weak, since what is sent may be compressed or not. */
export function etagOf(content: string | Uint8Array): string {
  return `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

/**
 * Whether a client has the content already. RFC 9110, 13.1.2: weak comparison, of a list or a star.
 *
 * @param condition The `If-None-Match` header.
 */
export function matchesEtag(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false;
  const bare = (tag: string) => tag.trim().replace(/^W\//, "");
  return condition.trim() === "*" || condition.split(",").some((tag) => bare(tag) === bare(etag));
}
