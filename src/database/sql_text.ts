/** A stretch of SQL text. `code` is everything that is none of the others. */
interface Token {
  kind: "code" | "comment" | "string" | "quoted name" | "dollar quoted";
  start: number;
  end: number;
}

/** One statement of a file, without its semicolon. */
export interface Statement {
  text: string;
  /** Where it starts in the file, in UTF-16 units. */
  start: number;
}

const OPENERS = /--|\/\*|'|"|\$(?:[A-Za-z_\x80-\uffff][A-Za-z0-9_\x80-\uffff]*)?\$/g;

/** Cuts SQL into tokens, as far as is needed to tell code from text. Each character belongs to exactly one token. */
function* tokens(sql: string): Generator<Token> {
  let at = 0;
  while (at < sql.length) {
    OPENERS.lastIndex = at;
    const opener = OPENERS.exec(sql);
    // `a$b$c` is one name, and no dollar quote starts inside it.
    if (opener !== null && opener[0].startsWith("$") && /[A-Za-z0-9_$]/.test(sql[opener.index - 1] ?? "")) {
      yield { kind: "code", start: at, end: opener.index + 1 };
      at = opener.index + 1;
      continue;
    }
    const start = opener?.index ?? sql.length;
    if (start > at) yield { kind: "code", start: at, end: start };
    if (opener === null) return;
    const token = readToken(sql, start, opener[0]);
    yield token;
    at = token.end;
  }
}

function readToken(sql: string, start: number, opener: string): Token {
  const upTo = (terminator: string, from: number) => {
    const found = sql.indexOf(terminator, from);
    return found < 0 ? sql.length : found + terminator.length;
  };
  if (opener === "--") return { kind: "comment", start, end: upTo("\n", start) };
  if (opener === "/*") return { kind: "comment", start, end: endOfBlockComment(sql, start) };
  if (opener === '"') return { kind: "quoted name", start, end: upTo('"', start + 1) };
  if (opener === "'") return { kind: "string", start, end: endOfString(sql, start) };
  return { kind: "dollar quoted", start, end: upTo(opener, start + opener.length) };
}

/** Block comments nest. */
function endOfBlockComment(sql: string, start: number): number {
  let depth = 0;
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === "/*" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return sql.length;
}

/** A doubled quote is two strings to us, which does no harm; a backslash escapes only in `E'...'`. */
function endOfString(sql: string, start: number): number {
  const escapes = /[eE]$/.test(sql.slice(Math.max(0, start - 1), start)) &&
    !/[A-Za-z0-9_]/.test(sql[start - 2] ?? "");
  for (let at = start + 1; at < sql.length; at++) {
    if (escapes && sql[at] === "\\") at++;
    else if (sql[at] === "'") return at + 1;
  }
  return sql.length;
}

/**
 * The statements of a file. Comments before a statement belong to it; a rest of comments alone is no statement. The
 * semicolons in a body of `begin atomic ... end` end none.
 */
export function splitStatements(sql: string): Statement[] {
  const statements: Statement[] = [];
  const code = keepOnly(sql, ["code"]);
  const substance = keepOnly(sql, ["code", "quoted name", "string", "dollar quoted"]);
  let start = 0;
  let atomicDepth = 0;
  const close = (end: number) => {
    if (substance.slice(start, end).trim() !== "") statements.push({ text: sql.slice(start, end), start });
    start = end + 1;
  };
  for (const mark of code.matchAll(/;|\bbegin\s+atomic\b|\bcase\b|\bend\b/gi)) {
    const word = mark[0].toLowerCase();
    if (word.startsWith("begin")) atomicDepth = 1;
    else if (word === "case" && atomicDepth > 0) atomicDepth++;
    else if (word === "end" && atomicDepth > 0) atomicDepth--;
    else if (word === ";" && atomicDepth === 0) close(mark.index);
  }
  close(sql.length);
  return statements;
}

/** The code of a piece of SQL: comments, strings and dollar-quoted bodies are blanked out, lengths stay. */
export function codeOnly(sql: string): string {
  return keepOnly(sql, ["code", "quoted name"]);
}

function keepOnly(sql: string, kinds: Token["kind"][]): string {
  let kept = "";
  for (const { kind, start, end } of tokens(sql)) {
    kept += kinds.includes(kind) ? sql.slice(start, end) : " ".repeat(end - start);
  }
  return kept;
}

/** The names that follow `uptuple.` in the code of a piece of SQL. */
export function mentionedNames(sql: string): Set<string> {
  return new Set(
    Array.from(codeOnly(sql).matchAll(/\buptuple\s*\.\s*"?([a-z_][a-z0-9_]*)/gi), (match) => match[1] ?? ""),
  );
}

/**
 * Rewrites the grants of a file for a server where some of our roles are missing: what such a role would have been granted
 * goes to the role that runs the file, and what it would have lost is taken from nobody but PUBLIC.
 *
 * @param missing Names of roles that do not exist.
 * @param currentRole Who runs the file.
 */
export function replaceMissingRoles(sql: string, missing: readonly string[], currentRole: string): string {
  if (missing.length === 0) return sql;
  const name = new RegExp(`\\b(?:${missing.join("|")})\\b`, "g");
  const quoted = `"${currentRole.replaceAll('"', '""')}"`;
  let rewritten = "";
  let at = 0;
  for (const { text, start } of splitStatements(sql)) {
    const verb = /^\s*(grant|revoke|alter\s+default\s+privileges)\b/i.exec(codeOnly(text))?.[1]?.toLowerCase();
    if (verb === undefined) continue;
    const replacement = verb === "revoke" ? "public" : quoted;
    rewritten += sql.slice(at, start) + text.replace(name, () => replacement);
    at = start + text.length;
  }
  return rewritten + sql.slice(at);
}
