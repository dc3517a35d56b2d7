import { latencyInWords } from "./in_words.ts";
import type { ServiceRevision } from "./service_page.ts";
import { shownUrl } from "./service_address.tsx";

/** What one revision changed in the one before it. */
export interface RevisionChange {
  /** Such as `timeout`. */
  setting: string;
  /** Null if it was not set before. */
  before: string | null;
  /** Null if it is not set any more. */
  after: string | null;
}

/** For a value that changed and is not shown. */
const NOT_SHOWN = "not shown";

/**
 * What a revision changed, setting by setting. Values that may hold a secret are said to have changed, and not shown.
 *
 * @param before The revision before it; null for the first, which changed nothing.
 */
export function changesIn(after: ServiceRevision, before: ServiceRevision | null): RevisionChange[] {
  if (before === null) return [];
  const changes: RevisionChange[] = [];
  if (after.target_digest !== before.target_digest) {
    const [from, to] = [shownUrl(before.target), shownUrl(after.target)];
    // Only the query or the userinfo differs.
    if (from === to) changes.push({ setting: "URL, in a part that is not shown", before: from, after: to });
    else changes.push({ setting: "URL", before: from, after: to });
  }
  if (after.kind !== before.kind) changes.push({ setting: "kind", before: before.kind, after: after.kind });
  if (after.timeout_ms !== before.timeout_ms) {
    changes.push({
      setting: "timeout",
      before: latencyInWords(before.timeout_ms),
      after: latencyInWords(after.timeout_ms),
    });
  }
  const names = [...new Set([...Object.keys(before.digests), ...Object.keys(after.digests)])].sort();
  for (const name of names) {
    if (before.digests[name] === after.digests[name]) continue;
    changes.push({
      setting: name.replaceAll("_", " "),
      before: shownSetting(before, name),
      after: shownSetting(after, name),
    });
  }
  return changes;
}

function shownSetting({ settings, digests }: ServiceRevision, name: string): string | null {
  if (digests[name] === undefined) return null;
  const value = settings[name];
  if (value === undefined) return NOT_SHOWN;
  return typeof value === "string" ? value : JSON.stringify(value);
}
