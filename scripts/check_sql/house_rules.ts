import type {
  CommentStmt,
  CreateFunctionStmt,
  DefElem,
  FunctionParameter,
  GrantStmt,
  Node,
  ObjectWithArgs,
  TypeName,
} from "libpg-query";
import type { Problem } from "./problem.ts";
import { type BodyPart, isRecord, lineOfBody, linesBefore, parseBody, parseFile, type Statement } from "./syntax.ts";

/** The roles that bootstrap.sql makes, the only ones that a file may grant to. */
const ROLES = ["uptuple_owner", "uptuple_worker", "uptuple_operator", "uptuple_viewer", "uptuple_task"];

const SEARCH_PATH = "pg_catalog, pg_temp";

/** A function as a file creates it. */
export interface CreatedFunction {
  /** The name without its schema. */
  name: string;
  /** The types of the arguments that a call gives, such as `text,int4[]`. */
  signature: string;
  file: string;
  /** The body between its quotes, as pg_proc.prosrc has it; empty for `begin atomic` and `return`. */
  body: string;
  /** The line in the file that the body starts on, from 1. */
  bodyLine: number;
}

/** What reading one file gives. */
export interface Review {
  problems: Problem[];
  functions: CreatedFunction[];
}

/** A statement that creates a function, with what its text and its options say. */
interface Creation {
  statement: Statement;
  stmt: CreateFunctionStmt;
  created: CreatedFunction;
  parts: BodyPart[];
}

/**
 * Parses one SQL file, the bodies in it included, and holds it against the rules of its folder.
 *
 * @param file Its path from the repository's root, such as `sql/functions/locks/acquire_lock.sql`. The folder says which rules hold.
 * @param source Its text.
 */
export function reviewFile(file: string, source: string): Review {
  const { pieces: statements, problems } = parseFile(file, source);
  if (problems.length > 0) return { problems, functions: [] };

  const creations: Creation[] = [];
  for (const statement of statements) {
    const body = bodyOf(statement.node);
    const parsed = body === undefined
      ? { pieces: [wholeStatement(statement)], problems: [] }
      : parseBody(file, statement, body.language, body.text);
    problems.push(...parsed.problems, ...parsed.pieces.flatMap((part) => unqualifiedTables(file, part)));
    if ("CreateFunctionStmt" in statement.node) {
      creations.push(creation(file, statement, statement.node.CreateFunctionStmt, parsed.pieces));
    }
  }

  problems.push(
    ...missingHeader(file, source, creations),
    ...grantsToStrangers(file, statements),
    ...folderRules(file, statements, creations),
    ...creations.flatMap((each) => functionRules(file, statements, each)),
  );
  return { problems, functions: creations.map((each) => each.created) };
}

// What holds for every file ---------------------------------------------------------------------------------------------

function missingHeader(file: string, source: string, creations: Creation[]): Problem[] {
  const header = /^(--[^\n]*(\n|$))*/.exec(source)?.[0] ?? "";
  const lines = header.split("\n").filter((line) => /\w/.test(line)).length;
  const writes = creations.some(({ parts }) => parts.some(writesOrLocks));
  if (lines >= (writes ? 2 : 1)) return [];
  const message = writes
    ? "its header is short of two lines: say what the function does, what it guarantees, which race it survives and who calls it"
    : "has no header: start with a comment that says what the file makes and why";
  return [{ file, line: 1, message }];
}

function grantsToStrangers(file: string, statements: Statement[]): Problem[] {
  const problems: Problem[] = [];
  for (const { line, grant } of statements.flatMap(grantOf)) {
    if (!grant.is_grant) continue;
    for (const role of grantees(grant).filter((name) => !ROLES.includes(name))) {
      problems.push({ file, line, message: `grants to ${role}: only ${ROLES.join(", ")} may be granted anything` });
    }
  }
  return problems;
}

/**
 * Tables without a schema. Names of CTEs are not tables, and the names after FOR UPDATE OF are aliases.
 */
function unqualifiedTables(file: string, part: BodyPart): Problem[] {
  const problems: Problem[] = [];
  const visit = (node: unknown, ctes: ReadonlySet<string>): void => {
    if (Array.isArray(node)) return node.forEach((item) => visit(item, ctes));
    if (!isRecord(node)) return;
    if (typeof node["relname"] === "string" && "relpersistence" in node) {
      const { relname, schemaname, location } = node;
      if (schemaname === undefined && !ctes.has(relname)) {
        const line = part.line + linesBefore(part.text, typeof location === "number" ? location : 0);
        const schema = relname.startsWith("pg_") ? "pg_catalog" : "uptuple";
        problems.push({
          file,
          line,
          message: `names the table ${relname} without a schema: write ${schema}.${relname}`,
        });
      }
      return;
    }
    const visible = new Set([...ctes, ...cteNames(node["withClause"])]);
    for (const [key, value] of Object.entries(node)) if (key !== "lockedRels") visit(value, visible);
  };
  visit(part.tree, new Set());
  return problems;
}

function cteNames(withClause: unknown): string[] {
  if (!isRecord(withClause) || !Array.isArray(withClause["ctes"])) return [];
  return withClause["ctes"].flatMap((cte) => {
    const expression = isRecord(cte) ? cte["CommonTableExpr"] : undefined;
    return isRecord(expression) ? [String(expression["ctename"])] : [];
  });
}

// What holds in a folder ------------------------------------------------------------------------------------------------

function folderRules(file: string, statements: Statement[], creations: Creation[]): Problem[] {
  const [, room, name] = /^sql\/(functions\/\w+|views|migrations)\/(\w+)\.sql$/.exec(file) ?? [];
  if (room === undefined || name === undefined) {
    const known = file === "sql/bootstrap.sql";
    return known ? [] : [{
      file,
      line: 1,
      message: "belongs to no folder that the migrator reads: sql/migrations, sql/views, sql/functions/<room>",
    }];
  }
  if (room === "views") return viewRules(file, name, statements);
  if (room === "migrations") return migrationRules(file, statements, creations);
  const strangers = creations.filter(({ created }) => created.name !== name);
  if (creations.length === 0) return [{ file, line: 1, message: `creates no function: expected uptuple.${name}` }];
  return strangers.map(({ statement, created }) => ({
    file,
    line: statement.line,
    message: `creates ${created.name}: a file holds one function and is named as it, so move it to ${created.name}.sql`,
  }));
}

function viewRules(file: string, name: string, statements: Statement[]): Problem[] {
  const problems: Problem[] = [];
  const views = statements.flatMap(({ node, line }) => "ViewStmt" in node ? [{ view: node.ViewStmt.view, line }] : []);
  if (views.length === 0) problems.push({ file, line: 1, message: `creates no view: expected uptuple.${name}` });
  for (const { view, line } of views) {
    const full = [view?.schemaname, view?.relname].filter(Boolean).join(".");
    if (full !== `uptuple.${name}`) {
      problems.push({ file, line, message: `creates ${full}: a file holds one view and is named as it` });
    }
    if (!commented(statements, "OBJECT_VIEW", full)) {
      problems.push({ file, line, message: `${full} has no COMMENT ON VIEW` });
    }
  }
  return problems;
}

function migrationRules(file: string, statements: Statement[], creations: Creation[]): Problem[] {
  const problems: Problem[] = [];
  for (const { statement, created } of creations) {
    problems.push({
      file,
      line: statement.line,
      message: `creates ${created.name}: functions are declarative and live in sql/functions`,
    });
  }
  for (const { node, line } of statements) {
    if ("ViewStmt" in node) {
      problems.push({ file, line, message: "creates a view: views are declarative and live in sql/views" });
    }
    if (!("CreateStmt" in node) || node.CreateStmt.partbound !== undefined) continue;
    const { schemaname, relname } = node.CreateStmt.relation ?? {};
    const full = `${schemaname}.${relname}`;
    if (!commented(statements, "OBJECT_TABLE", full)) {
      problems.push({ file, line, message: `${full} has no COMMENT ON TABLE` });
    }
  }
  return problems;
}

function commented(statements: Statement[], type: string, fullName: string): boolean {
  return statements.some(({ node }) => {
    if (!("CommentStmt" in node)) return false;
    const { objtype, object, comment } = node.CommentStmt;
    if (objtype !== type || !comment || object === undefined || !("List" in object)) return false;
    return names(object.List.items).join(".") === fullName;
  });
}

// What holds for a function ---------------------------------------------------------------------------------------------

function functionRules(
  file: string,
  statements: Statement[],
  { statement, stmt, created, parts }: Creation,
): Problem[] {
  const problems: Problem[] = [];
  const { name, signature } = created;
  const report = (message: string): void => {
    problems.push({ file, line: statement.line, message: `${name}(${signature}) ${message}` });
  };

  if (names(stmt.funcname).length !== 2 || names(stmt.funcname)[0] !== "uptuple") {
    report("is not created in schema uptuple");
  }
  // A body after RETURN is bound when it is created, so no search_path can change what it means, and without a SET it can be inlined.
  const boundAtCreation = stmt.sql_body !== undefined && !securityDefiner(stmt);
  if (searchPath(stmt) !== SEARCH_PATH && !boundAtCreation) {
    report(`has no \`set search_path = ${SEARCH_PATH}\`; it must be exactly that`);
  }

  const grants = statements.flatMap(grantOf).map(({ grant }) => grant).filter((grant) => {
    return (grant.objects ?? []).flatMap(functionIn).some((target) => denotes(target, created));
  });
  const writes = parts.some(writesOrLocks);
  if (writes && grants.some((grant) => grant.is_grant) && !securityDefiner(stmt)) {
    report("writes or locks rows for roles without table privileges: make it security definer");
  }
  const volatility = stringOption(stmt, "volatility") ?? "volatile";
  if (writes && volatility !== "volatile") report(`writes or locks rows and is declared ${volatility}`);

  const comments = statements.flatMap(({ node }) => "CommentStmt" in node ? functionNamed(node.CommentStmt) : []);
  if (!comments.some((target) => denotes(target, created))) {
    report("has no COMMENT ON FUNCTION with its argument types");
  }
  if (!grants.some((grant) => !grant.is_grant && grantees(grant).includes("public"))) {
    report("has no `revoke execute ... from public`: everybody may run it");
  }
  return problems;
}

function creation(file: string, statement: Statement, stmt: CreateFunctionStmt, parts: BodyPart[]): Creation {
  const body = bodyOf(statement.node)?.text ?? "";
  return {
    statement,
    stmt,
    parts,
    created: {
      name: names(stmt.funcname).at(-1) ?? "",
      signature: (stmt.parameters ?? []).flatMap(argumentType).join(","),
      file,
      body,
      bodyLine: lineOfBody(statement, body),
    },
  };
}

/** The language and the quoted body of a CREATE FUNCTION or DO; nothing for any other statement. */
function bodyOf(node: Node): { language: string; text?: string } | undefined {
  if ("DoStmt" in node) {
    const options = node.DoStmt.args ?? [];
    return { language: stringOf(find(options, "language")) ?? "plpgsql", text: stringOf(find(options, "as")) ?? "" };
  }
  if (!("CreateFunctionStmt" in node)) return undefined;
  const as = option(node.CreateFunctionStmt, "as");
  const text = as !== undefined && "List" in as ? names(as.List.items)[0] : undefined;
  const language = stringOption(node.CreateFunctionStmt, "language") ?? "sql";
  return text === undefined ? { language } : { language, text };
}

function wholeStatement({ node, text, line }: Statement): BodyPart {
  return { tree: node, text, line, dynamic: false };
}

const WRITES = new Set([
  "InsertStmt",
  "UpdateStmt",
  "DeleteStmt",
  "MergeStmt",
  "TruncateStmt",
  "LockStmt",
  "LockingClause",
  "CreateStmt",
  "CreateTableAsStmt",
  "AlterTableStmt",
  "DropStmt",
]);

const DYNAMIC_WRITE = /\b(insert\s+into|update|delete\s+from|merge\s+into|truncate|lock\s+table|create|alter|drop)\b/i;

function writesOrLocks(part: BodyPart): boolean {
  const visit = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.some(visit);
    if (!isRecord(node)) return false;
    const text = isRecord(node["sval"]) ? node["sval"]["sval"] : undefined;
    if (part.dynamic && typeof text === "string" && DYNAMIC_WRITE.test(text)) return true;
    return Object.entries(node).some(([key, value]) => WRITES.has(key) || visit(value));
  };
  return visit(part.tree);
}

function securityDefiner(stmt: CreateFunctionStmt): boolean {
  const security = option(stmt, "security");
  return security !== undefined && "Boolean" in security && security.Boolean.boolval === true;
}

function searchPath(stmt: CreateFunctionStmt): string | undefined {
  const sets = (stmt.options ?? []).flatMap((node) => {
    const set = "DefElem" in node && node.DefElem.defname === "set" ? node.DefElem.arg : undefined;
    return set !== undefined && "VariableSetStmt" in set ? [set.VariableSetStmt] : [];
  });
  return sets.find((set) => set.name === "search_path")?.args?.map((arg) => {
    return "A_Const" in arg ? arg.A_Const.sval?.sval ?? "''" : "?";
  }).join(", ");
}

// Reading the parser's trees --------------------------------------------------------------------------------------------

function grantOf({ node, line }: Statement): { grant: GrantStmt; line: number }[] {
  return "GrantStmt" in node ? [{ grant: node.GrantStmt, line }] : [];
}

/** The names after TO or FROM; `public` and `current_user` for the words that stand for roles. */
function grantees(grant: GrantStmt): string[] {
  return (grant.grantees ?? []).flatMap((node) => {
    if (!("RoleSpec" in node)) return [];
    return [node.RoleSpec.rolename ?? (node.RoleSpec.roletype ?? "").replace("ROLESPEC_", "").toLowerCase()];
  });
}

function functionNamed(comment: CommentStmt): ObjectWithArgs[] {
  const described = comment.objtype === "OBJECT_FUNCTION" || comment.objtype === "OBJECT_PROCEDURE";
  return described && comment.comment && comment.object !== undefined ? functionIn(comment.object) : [];
}

function functionIn(node: Node): ObjectWithArgs[] {
  return "ObjectWithArgs" in node ? [node.ObjectWithArgs] : [];
}

function denotes(target: ObjectWithArgs, { name, signature }: CreatedFunction): boolean {
  const types = (target.objargs ?? []).flatMap((node) => "TypeName" in node ? [typeText(node.TypeName)] : []);
  return names(target.objname).join(".") === `uptuple.${name}` && types.join(",") === signature;
}

function argumentType(node: Node): string[] {
  const parameter: FunctionParameter = "FunctionParameter" in node ? node.FunctionParameter : {};
  const given = parameter.mode !== "FUNC_PARAM_OUT" && parameter.mode !== "FUNC_PARAM_TABLE";
  return given && parameter.argType !== undefined ? [typeText(parameter.argType)] : [];
}

function typeText(type: TypeName): string {
  const parts = names(type.names);
  const name = parts[0] === "pg_catalog" ? parts.slice(1) : parts;
  return name.join(".") + "[]".repeat(type.arrayBounds?.length ?? 0);
}

function option(stmt: CreateFunctionStmt, name: string): Node | undefined {
  return find(stmt.options ?? [], name);
}

function stringOption(stmt: CreateFunctionStmt, name: string): string | undefined {
  return stringOf(option(stmt, name));
}

function find(options: Node[], name: string): Node | undefined {
  const elements: DefElem[] = options.flatMap((node) => "DefElem" in node ? [node.DefElem] : []);
  return elements.find((element) => element.defname === name)?.arg;
}

function stringOf(node: Node | undefined): string | undefined {
  return node !== undefined && "String" in node ? node.String.sval : undefined;
}

function names(nodes: Node[] | undefined): string[] {
  return (nodes ?? []).flatMap((node) => stringOf(node) ?? []);
}
