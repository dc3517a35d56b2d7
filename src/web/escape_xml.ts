/** Escapes text for XML 1.0, and leaves out what XML cannot hold at all. */
export function escapeXml(text: string): string {
  return text
    // deno-lint-ignore no-control-regex -- these are what XML 1.0 excludes
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
