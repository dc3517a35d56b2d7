/**
 * `deno task check:sql`: holds everything in sql/ against the house rules, and has a server look into the functions.
 *
 * Each file is parsed by PostgreSQL's own parser, bodies included, and held against the rules in check_sql/house_rules.ts.
 * Then plpgsql_check reads each function over the migrated schema, where it can be had. Where it cannot, that is said, and is
 * no failure. CHECK_DATABASE_URL names a scratch database for it, in which the schema is made; see check_sql/check_server.ts.
 */
import { loadModule } from "libpg-query";
import { readdir, readFile } from "node:fs/promises";
import { MigrationError } from "../src/database/migration_error.ts";
import { readSqlFiles, SqlFilesError } from "../src/database/sql_files.ts";
import { type CreatedFunction, type Review, reviewFile } from "./check_sql/house_rules.ts";
import { checkOnServer } from "./check_sql/plpgsql_check.ts";
import type { Problem } from "./check_sql/problem.ts";

const root = new URL("../", import.meta.url);

/** Every file, also one that the migrator would not see. */
async function findFiles(): Promise<string[]> {
  const entries = await readdir(new URL("sql/", root), { recursive: true });
  return entries.filter((path) => path.endsWith(".sql")).map((path) => `sql/${path.replaceAll("\\", "/")}`).sort();
}

async function review(file: string): Promise<Review> {
  return reviewFile(file, await readFile(new URL(file, root), "utf8"));
}

/** @returns Whether all is well. */
async function checkHouseRules(reviews: Review[]): Promise<boolean> {
  const problems = reviews.flatMap((each) => each.problems);
  print(problems);
  await readSqlFiles();
  console.log(`house rules: ${reviews.length} files, ${problems.length} problems`);
  return problems.length === 0;
}

/** @returns Whether all is well, as far as it could be checked. */
async function checkBodies(functions: CreatedFunction[]): Promise<boolean> {
  const findings = await checkOnServer(functions);
  if ("skipped" in findings) {
    console.log(`plpgsql_check: SKIPPED, ${findings.skipped}`);
    return true;
  }
  const { checked, problems, remarks } = findings;
  print(problems);
  print(remarks);
  console.log(`plpgsql_check: ${checked} functions, ${problems.length} problems, ${remarks.length} remarks`);
  return problems.length === 0;
}

function print(problems: Problem[]): void {
  for (const { file, line, message } of problems) console.error(`${file}:${line}: ${message}`);
}

try {
  await loadModule();
  const reviews = await Promise.all((await findFiles()).map(review));
  const inOrder = await checkHouseRules(reviews) && await checkBodies(reviews.flatMap((each) => each.functions));
  Deno.exit(inOrder ? 0 : 1);
} catch (error) {
  if (!(error instanceof SqlFilesError || error instanceof MigrationError)) throw error;
  console.error(error.message);
  Deno.exit(1);
}
