import { openClient, type Sql } from "../../src/database/client.ts";
import { migrate } from "../../src/database/migrate.ts";
import { findCheckServer } from "./check_server.ts";
import type { CreatedFunction } from "./house_rules.ts";
import type { Problem } from "./problem.ts";

/** What the server found, or why it was not asked. */
export type Findings = { skipped: string } | { checked: number; problems: Problem[]; remarks: Problem[] };

/** A line of plpgsql_check's report. */
interface Finding {
  line: number | null;
  level: string;
  message: string;
  detail: string | null;
  hint: string | null;
}

/** A function in the catalog. */
interface CatalogFunction {
  oid: number;
  name: string;
  source: string;
  language: string;
  /** The table that a trigger function serves; 0 for any other function. */
  table: number;
}

/**
 * Makes the schema on a server and has plpgsql_check look into each function over it: columns and types that do not exist,
 * variables that nobody reads, paths without a return, injection. Functions in SQL are compiled again, with the search path
 * that they run with.
 *
 * Remarks are about speed, such as a function that need not be volatile; they are shown and do not fail. What the extension
 * says of casts (42804) is left out where it is noise: implicit ones between numbers, and a literal that a declaration begins
 * with, which it takes for a text.
 *
 * @param functions What the files create, to name file and line.
 */
export async function checkOnServer(functions: CreatedFunction[]): Promise<Findings> {
  await using server = await findCheckServer();
  if (server === null) {
    return {
      skipped:
        "no CHECK_DATABASE_URL, and none of Debian's postgresql-15 to -18 with its -plpgsql-check package is here",
    };
  }
  await migrate(server.url);
  const sql = openClient(server.url, { maxConnections: 1, applicationName: "uptuple check" });
  try {
    const lack = await extensionLack(sql);
    return lack === null ? await checkFunctions(sql, functions) : { skipped: lack };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Why the extension cannot be had on this server; null if it is there. */
async function extensionLack(sql: Sql): Promise<string | null> {
  try {
    await sql`create extension if not exists plpgsql_check`;
    return null;
  } catch (error) {
    return `CHECK_DATABASE_URL's server has no plpgsql_check: ${error instanceof Error ? error.message : error}`;
  }
}

async function checkFunctions(sql: Sql, functions: CreatedFunction[]): Promise<Findings> {
  await sql`set search_path = pg_catalog, pg_temp, public`;
  const catalog = await sql<CatalogFunction[]>`
    select p.oid::int8::int4 as oid, p.proname as name, p.prosrc as source, l.lanname as language,
      coalesce(t.tgrelid, 0)::int8::int4 as table
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    left join pg_trigger t on t.tgfoid = p.oid and not t.tgisinternal
    where p.pronamespace = 'uptuple'::regnamespace and l.lanname in ('sql', 'plpgsql')
    order by p.proname, p.oid`;

  const problems: Problem[] = [];
  const remarks: Problem[] = [];
  for (const each of catalog) {
    const origin = functions.find(({ name, body }) => name === each.name && body === each.source);
    for (const finding of await lookInto(sql, each)) {
      const list = finding.level === "performance" ? remarks : problems;
      list.push({
        file: origin?.file ?? `uptuple.${each.name}`,
        line: (origin?.bodyLine ?? 1) + Math.max(finding.line ?? 1, 1) - 1,
        message: [`${finding.level}: ${finding.message}`, finding.detail, finding.hint].filter(Boolean).join("; "),
      });
    }
  }
  return { checked: catalog.length, problems, remarks };
}

async function lookInto(sql: Sql, { oid, language, table }: CatalogFunction): Promise<Finding[]> {
  try {
    if (language === "plpgsql") {
      return await sql<Finding[]>`
        select lineno as line, level, message, detail, hint
        from plpgsql_check_function_tb(${oid}::oid, ${table}::oid,
          fatal_errors => false, other_warnings => true, extra_warnings => true, security_warnings => true,
          performance_warnings => true)
        where sqlstate <> '42804' or (level <> 'performance' and statement is distinct from 'statement block')`;
    }
    await sql`select fmgr_sql_validator(${oid}::oid)`;
    return [];
  } catch (error) {
    const { message, detail, hint } = error as { message: string; detail?: string; hint?: string };
    return [{ line: null, level: "error", message, detail: detail ?? null, hint: hint ?? null }];
  }
}
