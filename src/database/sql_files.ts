import { createHash } from "node:crypto";
import { join } from "node:path";
import { codeOnly, mentionedNames, splitStatements } from "./sql_text.ts";

/** One file below `sql/`. */
export interface SqlFile {
  /** Relative to the directory, with slashes: `functions/jobs/claim_jobs.sql`. */
  path: string;
  text: string;
  /** Of the text with its line ends as LF, in hex. */
  sha256: string;
}

/** A file of functions or views, which can be created anew. */
export interface DefinitionFile extends SqlFile {
  /** Of the file without bodies, strings and comments, in hex: while it stays the same, `create or replace` is enough. */
  shape: string;
}

/** All SQL that makes the schema. */
export interface SqlFiles {
  bootstrap: SqlFile;
  /** In the order of their numbers. */
  migrations: SqlFile[];
  /** Functions and views, each after what it needs to be there when it is created. */
  definitions: DefinitionFile[];
  /** Of all of them, in hex. */
  digest: string;
}

/** A file below `sql/` that breaks the rules of the directory; the message names it. */
export class SqlFilesError extends Error {
  override name = "SqlFilesError";
}

/** Where the program's own SQL is. */
export const SQL_DIRECTORY = join(import.meta.dirname ?? ".", "..", "..", "sql");

/**
 * Reads `bootstrap.sql`, `migrations/NNNN_name.sql`, `functions/<room>/<function>.sql` and `views/<view>.sql`.
 *
 * @throws {SqlFilesError} If a migration has no number or shares it, if two files define the same name, or if definitions
 * need each other in a circle.
 */
export async function readSqlFiles(directory: string = SQL_DIRECTORY): Promise<SqlFiles> {
  const bootstrap = await readSqlFile(directory, "bootstrap.sql");
  const migrations = await readFolder(directory, "migrations");
  checkNumbers(migrations);
  const definitions = sortDefinitions([
    ...await readFolder(directory, "functions"),
    ...await readFolder(directory, "views"),
  ]).map(({ path, text }) => definitionFile(path, text));
  const all = [bootstrap, ...migrations, ...definitions];
  return { bootstrap, migrations, definitions, digest: sha256(all.map((file) => file.path + file.sha256).join("\n")) };
}

/** A definition as it is after its text was adapted to a server. */
export function definitionFile(path: string, text: string): DefinitionFile {
  return { path, text, sha256: sha256(text), shape: sha256(codeOnly(text).replace(/\s+/g, " ").trim()) };
}

async function readFolder(directory: string, folder: string): Promise<SqlFile[]> {
  const files: SqlFile[] = [];
  try {
    for await (const entry of Deno.readDir(join(directory, folder))) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory) files.push(...await readFolder(directory, path));
      else if (entry.name.endsWith(".sql")) files.push(await readSqlFile(directory, path));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files.sort((one, other) => one.path < other.path ? -1 : 1);
}

async function readSqlFile(directory: string, path: string): Promise<SqlFile> {
  const text = (await Deno.readTextFile(join(directory, path))).replaceAll("\r\n", "\n");
  return { path, text, sha256: sha256(text) };
}

/** Of a text, in hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function checkNumbers(migrations: SqlFile[]): void {
  const seen = new Map<string, string>();
  for (const { path } of migrations) {
    const number = /^migrations\/(\d{4})_[a-z0-9_]+\.sql$/.exec(path)?.[1];
    if (number === undefined) {
      throw new SqlFilesError(`${path} is not named as a migration: it must be NNNN_name.sql, in lowercase.`);
    }
    const other = seen.get(number);
    if (other !== undefined) {
      throw new SqlFilesError(`${other} and ${path} have the same number: renumber the newer one.`);
    }
    seen.set(number, path);
  }
}

/**
 * Puts each definition after those that must exist when it is created: a view needs all that it mentions; a function needs
 * what its signature mentions, since bodies are checked only when they run. Else functions come before views, by path.
 */
function sortDefinitions(files: SqlFile[]): SqlFile[] {
  const byName = new Map<string, SqlFile>();
  for (const file of files) {
    const name = definedName(file);
    const other = byName.get(name);
    if (other !== undefined) throw new SqlFilesError(`${other.path} and ${file.path} both define uptuple.${name}.`);
    byName.set(name, file);
  }
  const needs = new Map(files.map((file) => [file, neededBy(file, byName)]));
  const sorted: SqlFile[] = [];
  const state = new Map<SqlFile, "open" | "done">();
  const visit = (file: SqlFile, trail: SqlFile[]) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      const circle = [...trail.slice(trail.indexOf(file)), file].map((member) => member.path).join(" -> ");
      throw new SqlFilesError(`These definitions need each other in a circle: ${circle}.`);
    }
    state.set(file, "open");
    for (const needed of needs.get(file) ?? []) visit(needed, [...trail, file]);
    state.set(file, "done");
    sorted.push(file);
  };
  for (const file of files) visit(file, []);
  return sorted;
}

/** The name that a definition's path promises. */
function definedName(file: SqlFile): string {
  return file.path.slice(file.path.lastIndexOf("/") + 1, -".sql".length);
}

function neededBy(file: SqlFile, byName: Map<string, SqlFile>): SqlFile[] {
  const definition = splitStatements(file.text).map(({ text }) => text).filter((text) => !isAbout(text)).join(";\n");
  return Array.from(mentionedNames(definition), (name) => byName.get(name))
    .filter((needed): needed is SqlFile => needed !== undefined && needed !== file);
}

/** Whether a statement is about something that exists by then, such as its comment and its grants. */
function isAbout(statement: string): boolean {
  return /^\s*(?:comment|grant|revoke)\b/i.test(codeOnly(statement));
}
