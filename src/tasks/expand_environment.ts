/** A string of the tasks file names a variable that cannot be put in. */
export class ExpansionError extends Error {
  override readonly name = "ExpansionError";
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
 * @param path Where the value is, for messages.
 * @throws {ExpansionError} If a variable is not set or holds a secret. The message has the path.
 */
export function expandEnvironment(value: unknown, variable: (name: string) => string | undefined, path = ""): unknown {
  if (typeof value === "string") return expandText(value, variable, path);
  if (Array.isArray(value)) return value.map((item, index) => expandEnvironment(item, variable, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      return [key, expandEnvironment(member, variable, path === "" ? key : `${path}.${key}`)];
    }),
  );
}

function expandText(text: string, variable: (name: string) => string | undefined, path: string): string {
  return text.replace(PLACEHOLDER, (placeholder, name: string) => {
    if (placeholder.startsWith("$$")) return placeholder.slice(1);
    if (name.startsWith("UPTUPLE_SECRET_")) {
      throw new ExpansionError(
        `${path} names the secret ${name}, and what tasks are given is stored in the database: let the function read it from where you keep it`,
      );
    }
    const held = variable(name);
    if (held === undefined) throw new ExpansionError(`${path} names ${name}, which is not set in the environment`);
    return held;
  });
}
