import type { JSX } from "hono/jsx/jsx-runtime";

/** What somebody writes about an incident, in the words of status pages. */
export type UpdateStatus = "investigating" | "identified" | "monitoring" | "resolved" | "postmortem";

/** How each of them is shown. */
export const UPDATE_WORDS: Record<UpdateStatus, string> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
  postmortem: "Postmortem",
};

/** The paragraphs of a plain text: an empty line starts one. */
export function paragraphsOf(text: string): string[] {
  return text.split(/\n\s*\n/).map((paragraph) => paragraph.trim());
}

/** A text as somebody wrote it. */
export function WrittenText({ text }: { text: string }): JSX.Element {
  return <>{paragraphsOf(text).map((paragraph) => <p class="written" dir="auto">{paragraph}</p>)}</>;
}
