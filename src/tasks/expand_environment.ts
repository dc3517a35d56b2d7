/** Strings of the tasks file name variables that cannot be put in. */
export class ExpansionError extends Error {
  override readonly name = "ExpansionError";

  /** @param faults A sentence for each variable, with the path of the string that names it. */
  constructor(readonly faults: readonly string[]) {
    super(faults.join("\n  also "));
  }
}

const PLACEHOLDER = /\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Replaces each `${NAME}` in the strings of a JSON value by what the environment holds. `$${NAME}` stands for `${NAME}` itself; names of
 * members stay as they are.
 *
 * Secrets are not put in: what a task is given is stored in the database, and secrets stay in the environment.
 *
 * @param value Parsed JSON.
 * @param variable Reads an environment variable.
 * @throws {ExpansionError} If variables are not set or hold a secret; it has all of them.
 */
export function expandEnvironment(value: unknown, variable: (name: string) => string | undefined): unknown {
  const faults: string[] = [];

  function expand(value: unknown, path: string): unknown {
    if (typeof value === "string") return expandText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => expand(item, `${path}[${index}]`));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, expand(member, path === "" ? key : `${path}.${key}`)]),
    );
  }

  function expandText(text: string, path: string): string {
    return text.replace(PLACEHOLDER, (placeholder, name: string) => {
      if (placeholder.startsWith("$$")) return placeholder.slice(1);
      if (name.startsWith("UPTUPLE_SECRET_")) {
        faults.push(
          `${path} names the secret ${name}, and what tasks are given is stored in the database: let the function read it from where you keep it`,
        );
        return "";
      }
      const held = variable(name);
      if (held === undefined) faults.push(`${path} names ${name}, which is not set in the environment`);
      return held ?? "";
    });
  }

  const expanded = expand(value, "");
  if (faults.length > 0) throw new ExpansionError(faults);
  return expanded;
}
