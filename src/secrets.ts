import { readFileSync, statSync } from "node:fs";

/** What a text may name; the name behind the prefix is what people see in place of the value. */
const PLACEHOLDER = /\$\{UPTUPLE_SECRET_([A-Za-z0-9_]+)\}/g;

/** Shorter values are not searched for: taking every "80" out of a message would hide the message and no secret. */
const SHORTEST_REDACTED = 4;

/** A text names a secret that this runtime does not have. */
export class MissingSecretError extends Error {
  override readonly name = "MissingSecretError";

  /** @param variable The environment variable that should hold the secret, such as `UPTUPLE_SECRET_OPS`. */
  constructor(readonly variable: string, reason: string) {
    super(`the secret ${variable} is missing: ${reason}`);
  }
}

/** The secrets of this runtime. Nothing of them is stored in the database. */
export interface SecretStore {
  /** Starts one request's expansion, which remembers what it put in, so that it can be taken out of what is reported. */
  expansion(): Expansion;
}

/** Puts secrets into one request, and takes them out of everything that is said about it. */
export interface Expansion {
  /**
   * Replaces each `${UPTUPLE_SECRET_NAME}` by its value, as it is.
   *
   * @throws {MissingSecretError} If a secret that the text names is neither in the environment nor in a readable file.
   */
  text(text: string): string;
  /**
   * Replaces each placeholder in a URL. A value in the userinfo, the path or the query is percent-encoded, so that an `@` or `#` in a
   * password cannot move the host; a value that stands for the whole beginning of the URL or for its host is put in as it is.
   *
   * @throws {MissingSecretError} As {@link Expansion.text} does.
   */
  url(url: string): string;
  /** Treats another value as a secret too, such as the password in a URL. `label` is shown in its place. */
  hide(value: string, label: string): void;
  /** Replaces every value that was put in, also percent-encoded, in JSON or in base64, by `[secret NAME]`. */
  redact(text: string): string;
  /** Redacts a text that was cut at its end, where the beginning of a value may be left standing. */
  redactCut(text: string): string;
}

/** Whether a text names a secret. */
export function namesSecret(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0;
}

/**
 * Secrets from `UPTUPLE_SECRET_NAME`, or from the file that `UPTUPLE_SECRET_NAME_FILE` names. A file is read again when it has
 * changed, and one newline at its end is not part of the value. The variable wins over the file.
 *
 * @param variable Reads an environment variable.
 */
export function secretStore(variable: (name: string) => string | undefined): SecretStore {
  const files = new Map<string, { changed: number; size: number; value: string }>();

  function fromFile(name: string, path: string): string {
    try {
      const { mtimeMs, size } = statSync(path);
      const known = files.get(path);
      if (known !== undefined && known.changed === mtimeMs && known.size === size) return known.value;
      const value = readFileSync(path, "utf8").replace(/\r?\n$/, "");
      files.set(path, { changed: mtimeMs, size, value });
      return value;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new MissingSecretError(name, `the file that ${name}_FILE names cannot be read (${reason})`);
    }
  }

  function read(name: string): string {
    const variableName = `UPTUPLE_SECRET_${name}`;
    const value = variable(variableName);
    if (value !== undefined && value !== "") return value;
    const path = variable(`${variableName}_FILE`);
    if (path === undefined || path === "") {
      throw new MissingSecretError(
        variableName,
        `set ${variableName} or ${variableName}_FILE in the environment of this program`,
      );
    }
    const content = fromFile(variableName, path);
    if (content === "") throw new MissingSecretError(variableName, `the file that ${variableName}_FILE names is empty`);
    return content;
  }

  return { expansion: () => expansion(read) };
}

function expansion(read: (name: string) => string): Expansion {
  const hidden = new Map<string, string>();

  function hide(value: string, label: string): void {
    if (value.length < SHORTEST_REDACTED) return;
    for (const form of writtenForms(value)) if (!hidden.has(form)) hidden.set(form, `[${label}]`);
  }

  function value(name: string): string {
    const secret = read(name);
    hide(secret, `secret ${name}`);
    return secret;
  }

  function redact(text: string): string {
    if (hidden.size === 0) return text;
    let redacted = text;
    for (const form of longestFirst(hidden)) redacted = redacted.replaceAll(form, hidden.get(form) ?? "");
    return redacted;
  }

  return {
    text: (text) => text.replace(PLACEHOLDER, (_, name: string) => value(name)),
    url: (url) => expandUrl(url, value),
    hide,
    redact,
    redactCut(text) {
      const redacted = redact(text);
      let kept = redacted.length;
      for (const form of hidden.keys()) kept = Math.min(kept, redacted.length - overlap(redacted, form));
      return redacted.slice(0, kept);
    },
  };
}

/** Puts values into a URL from left to right, each encoded for the part of the URL that it stands in. */
function expandUrl(url: string, value: (name: string) => string): string {
  let expanded = "";
  let done = 0;
  for (const found of url.matchAll(PLACEHOLDER)) {
    expanded += url.slice(done, found.index);
    done = found.index + found[0].length;
    expanded += encodeFor(expanded, url.slice(done), value(found[1] ?? ""));
  }
  return expanded + url.slice(done);
}

/** Encodes a value that stands between `before` and `after` in a URL. */
function encodeFor(before: string, after: string, value: string): string {
  const authority = before.indexOf("://");
  if (authority < 0) return value;
  const behind = before.slice(authority + 3);
  if (/[?#]/.test(behind)) return encodeURIComponent(value);
  if (behind.includes("/")) return encodeURIComponent(value).replaceAll("%2F", "/").replaceAll("%3A", ":");
  const inUserinfo = /^[^/?#]*@/.test(after);
  return inUserinfo ? encodeURIComponent(value) : value;
}

/** The ways in which a value comes back in an answer, a redirect or an error. */
function writtenForms(value: string): Set<string> {
  const utf8 = new TextEncoder().encode(value);
  const base64 = btoa(String.fromCharCode(...utf8));
  return new Set([value, encodeURIComponent(value), encodeURI(value), JSON.stringify(value).slice(1, -1), base64]);
}

function longestFirst(hidden: Map<string, string>): string[] {
  return [...hidden.keys()].sort((a, b) => b.length - a.length);
}

/** How much of the end of `text` is a beginning of `form` long enough to matter. */
function overlap(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length >= SHORTEST_REDACTED; length--) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}
