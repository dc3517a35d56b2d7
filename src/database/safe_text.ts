/** Stands for what PostgreSQL cannot store: the NUL character and half of a surrogate pair. */
const REPLACEMENT = "\ufffd";

/** The text, with what a `text` column cannot hold replaced by U+FFFD. */
export function safeText(text: string): string {
  return text.toWellFormed().replaceAll("\0", REPLACEMENT);
}

/** A value as for `JSON.stringify`, with `safeText` applied to every string and key in it. Dates and bytes stay as they are. */
export function safeJson<Value>(value: Value): Value {
  if (typeof value === "string") return safeText(value) as Value;
  if (Array.isArray(value)) return value.map(safeJson) as Value;
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [safeText(key), safeJson(inner)])) as Value;
}
