import assert from "node:assert/strict";

/** A sample of an exposition. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A family of an exposition, with its samples in their order. */
export interface Family {
  type: string;
  help: string;
  samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/**
 * Reads Prometheus text 0.0.4 or OpenMetrics 1.0 as strictly as both ask for it, as far as they agree: each family once, its samples
 * behind its HELP and TYPE and nowhere else, no sample twice, a line feed at the end.
 */
export function parseExposition(text: string): Map<string, Family> {
  assert.ok(text.endsWith("\n"), "the last line has no line feed");
  const families = new Map<string, Family>();
  let current: Family | undefined;
  let currentName = "";
  const seen = new Set<string>();
  const lines = text.slice(0, -1).split("\n");
  if (lines.at(-1) === "# EOF") lines.pop();
  for (const line of lines) {
    const comment = new RegExp(`^# (HELP|TYPE) (${NAME}) (.*)$`).exec(line);
    if (comment !== null) {
      const [, keyword, name = "", rest = ""] = comment;
      if (keyword === "HELP") {
        assert.ok(!families.has(name), `${name} comes twice`);
        current = { type: "", help: rest, samples: [] };
        currentName = name;
        families.set(name, current);
      } else {
        assert.equal(name, currentName);
        assert.ok(current !== undefined);
        current.type = rest;
      }
      continue;
    }
    const [, name = "", labels = "", value = ""] = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`).exec(line) ?? [];
    assert.ok(name !== "", `not a sample: ${line}`);
    assert.ok(current !== undefined && name.startsWith(currentName), `${name} stands below ${currentName}`);
    assert.ok(!seen.has(`${name}{${labels}}`), `${name}{${labels}} comes twice`);
    seen.add(`${name}{${labels}}`);
    assert.ok(Number.isFinite(Number(value)), `the value of ${line}`);
    current.samples.push({ name, labels: parseLabels(labels), value: Number(value) });
  }
  return families;
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const match = LABEL.exec(text);
    assert.ok(match !== null, `labels: ${text}`);
    const [, name = "", value = ""] = match;
    assert.ok(!(name in labels), `${name} comes twice in ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped) => escaped === "n" ? "\n" : escaped);
  }
  return labels;
}

/** The values of a family's samples by name, whose labels include some. */
export function values(family: Family | undefined, labels: Record<string, string> = {}): number[] {
  return (family?.samples ?? [])
    .filter((sample) => Object.entries(labels).every(([name, value]) => sample.labels[name] === value))
    .map((sample) => sample.value);
}
