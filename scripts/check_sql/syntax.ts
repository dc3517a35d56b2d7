import { hasSqlDetails, type Node, parsePlPgSQLSync, parseSync, type RawStmt } from "libpg-query";
import type { Problem } from "./problem.ts";

/** A statement of a file, with the line it starts on. */
export interface Statement {
  node: Node;
  /** The line in the file, from 1. */
  line: number;
  /** The statement's own text, for the parser of PL/pgSQL. */
  text: string;
}

/** A piece of SQL out of a function's body, parsed. */
export interface BodyPart {
  tree: unknown;
  /** The SQL that `tree` was parsed from; places in the tree are bytes in it. */
  text: string;
  /** The line in the file that `text` starts on, from 1. */
  line: number;
  /** Whether the text of the tree's string constants is run by EXECUTE. */
  dynamic: boolean;
}

/** What a parse gives: the parsed pieces, and where the parser stopped. */
export interface Parsed<Piece> {
  pieces: Piece[];
  problems: Problem[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The number of line ends in the first `bytes` bytes of a text. The parser counts places in bytes of UTF-8. */
export function linesBefore(text: string, bytes: number): number {
  return decoder.decode(encoder.encode(text).subarray(0, bytes)).split("\n").length - 1;
}

/** The line in the file that a function's quoted body starts on, from 1. */
export function lineOfBody(statement: Statement, body: string): number {
  const start = Math.max(statement.text.indexOf(body), 0);
  return statement.line + statement.text.slice(0, start).split("\n").length - 1;
}

/** Parses a whole file into its statements. */
export function parseFile(file: string, source: string): Parsed<Statement> {
  try {
    const pieces = (parseSync(source).stmts ?? []).flatMap((raw) => statement(raw, source));
    return { pieces, problems: [] };
  } catch (error) {
    return { pieces: [], problems: [syntaxProblem(file, 1, source, error)] };
  }
}

function statement(raw: RawStmt, source: string): Statement[] {
  if (raw.stmt === undefined) return [];
  const bytes = encoder.encode(source);
  const start = raw.stmt_location ?? 0;
  const text = decoder.decode(bytes.subarray(start, raw.stmt_len ? start + raw.stmt_len : undefined));
  // The parser counts the comments above a statement as part of it.
  const lead = /^(\s|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)*/.exec(text)?.[0] ?? "";
  return [{
    node: raw.stmt,
    line: linesBefore(source, start) + lead.split("\n").length,
    text: text.slice(lead.length),
  }];
}

/**
 * Parses the body of a CREATE FUNCTION or DO statement: each query and expression in it becomes a part.
 *
 * @param language `plpgsql` or `sql`; a body in another language has no parts.
 * @param body The body between its quotes, or undefined for `begin atomic` and `return`, which the statement's tree holds.
 */
export function parseBody(file: string, statement: Statement, language: string, body?: string): Parsed<BodyPart> {
  if (body === undefined) {
    const part = { tree: statement.node, text: statement.text, line: statement.line, dynamic: false };
    return { pieces: [part], problems: [] };
  }
  const line = lineOfBody(statement, body);
  try {
    if (language === "sql") {
      return { pieces: [{ tree: parseSync(body), text: body, line, dynamic: false }], problems: [] };
    }
    if (language === "plpgsql") {
      return { pieces: expressions(parsePlpgsql(statement.text), line).map(parseExpression), problems: [] };
    }
    return { pieces: [], problems: [] };
  } catch (error) {
    return { pieces: [], problems: [syntaxProblem(file, line, body, error)] };
  }
}

/**
 * The parser has no catalog. It takes a variable of a named type for a record, also where that is an array, and a %rowtype
 * for a scalar; so arrays become text[] and row types the tables' names, which have the same grammar.
 */
function parsePlpgsql(text: string): unknown {
  return parsePlPgSQLSync(text.replaceAll(/\buptuple\.\w+(?=\s*\[)/g, "text").replaceAll(/%rowtype\b/gi, ""));
}

interface Expression {
  query: string;
  mode: number;
  line: number;
  dynamic: boolean;
}

/** All embedded SQL of a parsed PL/pgSQL function; a line number stands on the statement around it. */
function expressions(tree: unknown, bodyLine: number): Expression[] {
  const found: Expression[] = [];
  const visit = (node: unknown, line: number, dynamic: boolean): void => {
    if (Array.isArray(node)) return node.forEach((item) => visit(item, line, dynamic));
    if (!isRecord(node)) return;
    const here = typeof node["lineno"] === "number" ? node["lineno"] : line;
    for (const [key, value] of Object.entries(node)) {
      if (key === "PLpgSQL_expr" && isRecord(value)) {
        const mode = typeof value["parseMode"] === "number" ? value["parseMode"] : PLAIN;
        found.push({ query: String(value["query"]), mode, line: bodyLine + here - 1, dynamic });
      } else {
        visit(value, here, dynamic || key === "dynquery" || DYNAMIC_STATEMENTS.has(key));
      }
    }
  };
  visit(tree, 1, false);
  return found;
}

const DYNAMIC_STATEMENTS = new Set(["PLpgSQL_stmt_dynexecute", "PLpgSQL_stmt_dynfors"]);

// RawParseMode of the server's parser: 0 is a statement, 2 an expression, 3 to 5 an assignment to a variable or a field.
const PLAIN = 0;
const EXPRESSION = 2;

function parseExpression({ query, mode, line, dynamic }: Expression): BodyPart {
  const text = mode === PLAIN ? query : `select ${mode === EXPRESSION ? query : assignedValue(query)}`;
  return { tree: parseSync(text), text, line, dynamic };
}

/** What stands right of the assignment sign, which is the first one outside the target's brackets. */
function assignedValue(assignment: string): string {
  let depth = 0;
  for (const [index, character] of [...assignment].entries()) {
    if (character === "[" || character === "(") depth++;
    if (character === "]" || character === ")") depth--;
    if (character === "=" && depth === 0) return [...assignment].slice(index + 1).join("");
  }
  return assignment;
}

function syntaxProblem(file: string, line: number, text: string, error: unknown): Problem {
  const position = hasSqlDetails(error) ? error.sqlDetails?.cursorPosition ?? 0 : 0;
  const before = [...text].slice(0, Math.max(position, 0)).filter((character) => character === "\n").length;
  const reason = error instanceof Error ? error.message : String(error);
  return { file, line: line + before, message: `does not parse: ${reason}` };
}

/** Whether a value is an object with named fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
