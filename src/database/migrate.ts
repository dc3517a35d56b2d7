import { OLDEST_PROGRAM, RELEASE } from "../release.ts";
import { openClient, type Sql } from "./client.ts";
import { codeOf } from "./connection_errors.ts";
import { definitionPieces, planDefinitions, readDefinitions } from "./definitions.ts";
import { MigrationError } from "./migration_error.ts";
import { noteReached, type Piece, quote, quoteName, step, type StepContext } from "./migration_step.ts";
import { refuseOldServer } from "./server_version.ts";
import { definitionFile, readSqlFiles, sha256, SQL_DIRECTORY, type SqlFile, type SqlFiles } from "./sql_files.ts";
import { replaceMissingRoles } from "./sql_text.ts";

export { MigrationError };

/** How to migrate, where it differs from the usual. */
export interface MigrationOptions {
  /** Another directory than the program's own `sql/`. */
  sqlDirectory?: string;
  /** Another release than the program's own. */
  program?: Program;
  /** How long a statement may wait for the lock on an object in use, in ms, before it steps back and tries again. */
  lockTimeoutMs?: number;
}

/** What a program says of itself to a schema. */
export interface Program {
  release: number;
  /** The oldest release that may run on the schema that this program makes. */
  oldestProgram: number;
}

/** What a migration did. */
export interface MigrationReport {
  /**
   * `migrated`: something was applied. `current`: there was nothing to do. `newer`: the schema is of a newer release, on
   * which this program may run. `verified`: the connecting role does not own the schema, and its release fits.
   */
  outcome: "migrated" | "current" | "newer" | "verified";
  /** The migrations applied, such as `migrations/0001_services.sql`. */
  applied: string[];
  /** The functions and views created or replaced, by path. */
  defined: string[];
  /** What was dropped and not created again, such as `function uptuple.old(text)`. */
  dropped: string[];
  /** The release that the schema is of now. */
  release: number;
  /** The role that owns the schema, null if there is no telling. */
  owner: string | null;
  /** Our roles that do not exist here and could not be created: grants to them went to the owner. */
  missingRoles: string[];
}

/** One row of `uptuple.installation`. */
interface Installation {
  release: number;
  oldest_program: number;
  sql_digest: string;
  generation: string;
  /** Our roles that do not exist in the cluster now. */
  missing_roles: string[];
}

/** Who may do what in the database. */
interface Situation {
  server_version_num: number;
  server_version: string;
  current_role: string;
  /** Null: there is no schema yet. */
  owner: string | null;
  /** Whether the connecting role is a member of the owner. */
  is_owner: boolean;
  /** Whether the connecting role may create schemas in the database. */
  may_create: boolean;
  missing_roles: string[];
}

/** What the steps of a migration share. */
interface Migration extends StepContext {
  files: SqlFiles;
  program: Program;
  report: MigrationReport;
}

/** Our roles, which belong to the cluster. */
const ROLES = ["uptuple_owner", "uptuple_worker", "uptuple_operator", "uptuple_viewer", "uptuple_task"];
const NO_SCHEMA = 'The database has no schema "uptuple" yet';
/**
 * Brings the schema to this program's release: roles and schema, then the missing migrations, each in a transaction of its
 * own, then in one transaction the functions and views that changed. Having nothing to do costs one query.
 *
 * Any number of programs may migrate at once: each step runs under a lock and only in the state that it was planned for. An
 * older program leaves a newer schema as it is. A role that cannot act as the schema's owner only verifies its release.
 *
 * @param url Of a direct connection or of a transaction pooler: no step is more than one transaction.
 * @throws {MigrationError} If an applied migration was changed, if SQL fails (it names file and line), if releases do not fit.
 * @throws {SqlFilesError} If the files break the rules of their directory.
 * @throws {ServerTooOldError} If the server is older than PostgreSQL 15.
 */
export async function migrate(url: string, options: MigrationOptions = {}): Promise<MigrationReport> {
  const files = await readSqlFiles(options.sqlDirectory ?? SQL_DIRECTORY);
  const reached: Migration["reached"] = { path: null };
  const sql = openClient(url, {
    maxConnections: 1,
    applicationName: "uptuple migrate",
    onNotice: ({ message }) => noteReached(reached, message),
  });
  try {
    return await run({
      sql,
      files,
      program: options.program ?? { release: RELEASE, oldestProgram: OLDEST_PROGRAM },
      lockTimeoutMs: options.lockTimeoutMs ?? 5000,
      report: { outcome: "current", applied: [], defined: [], dropped: [], release: 0, owner: null, missingRoles: [] },
      reached,
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Checks that this program may run on the schema that is there.
 *
 * @param database Logged in with any of our roles.
 * @returns The schema's release.
 * @throws {MigrationError} If there is no schema, or its release does not fit; the message says what to do.
 */
export async function verifySchema(
  database: { query<Row extends object>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> },
  program: Program = { release: RELEASE, oldestProgram: OLDEST_PROGRAM },
): Promise<{ release: number }> {
  let installed: { release: number; oldest_program: number } | undefined;
  try {
    [installed] = await database.query<{ release: number; oldest_program: number }>`
      select release, oldest_program from uptuple.installed`;
  } catch (error) {
    const code = codeOf(error);
    if (code === "42P01" || code === "3F000") {
      throw new MigrationError(
        `The database has no schema "uptuple" yet: run "deno task migrate" as a role that may create it.`,
      );
    }
    if (code === "42501") {
      throw new MigrationError(
        `This login may not use the schema "uptuple": grant it uptuple_worker (grant uptuple_worker to <login>).`,
      );
    }
    throw error;
  }
  if (installed === undefined || installed.release < program.release) {
    throw new MigrationError(
      `The schema is of release ${installed?.release ?? 0}, and this program of ${program.release}: ` +
        `run "deno task migrate" as the role that owns the schema.`,
    );
  }
  refuseTooOldProgram(installed, program);
  return { release: installed.release };
}

async function run(migration: Migration): Promise<MigrationReport> {
  const { sql, files, program, report } = migration;
  const installation = await readInstallation(sql);
  if (installation === "not readable") return await verifyOnly(migration);
  if (installation !== null && isSettled(installation, migration)) return report;

  const before = await readSituation(sql);
  refuseOldServer(before.server_version_num, before.server_version);
  if (before.owner === null && !before.may_create) {
    throw new MigrationError(
      `${NO_SCHEMA}, and ${before.current_role} may not create it: run "deno task migrate" as the database's owner.`,
    );
  }
  if (before.owner !== null && !before.is_owner) return await verifyOnly(migration);

  await step(migration, null, [{ text: files.bootstrap.text, file: files.bootstrap }]);
  const situation = await readSituation(sql);
  report.owner = situation.owner;
  report.missingRoles = situation.missing_roles;
  report.release = program.release;
  while (!await advance(migration, situation)) { /* Each turn is one step forward, or another migrator's. */ }
  return report;
}

async function verifyOnly({ sql, program, report }: Migration): Promise<MigrationReport> {
  const query = <Row extends object>(text: TemplateStringsArray, ...values: unknown[]) =>
    sql<Row[]>(text, ...values as never[]);
  const { release } = await verifySchema({ query }, program);
  return { ...report, outcome: "verified", release };
}

/**
 * Whether there is nothing to do, because it is done or because a newer program did more.
 *
 * @throws {MigrationError} If this program is too old for the schema.
 */
function isSettled(installation: Installation, { files, program, report }: Migration): boolean {
  refuseTooOldProgram(installation, program);
  if (installation.release > program.release) {
    report.outcome = "newer";
    report.release = installation.release;
    return true;
  }
  if (installation.release < program.release) return false;
  report.release = installation.release;
  return installation.sql_digest === digestOf(files, installation.missing_roles);
}

/** Without all our roles the same files make another schema. */
function digestOf(files: SqlFiles, missingRoles: string[]): string {
  return missingRoles.length === 0 ? files.digest : sha256([files.digest, ...missingRoles].join("\n"));
}

/** Takes the next step. @returns True when nothing is left. */
async function advance(migration: Migration, situation: Situation): Promise<boolean> {
  const { sql, files, program, report } = migration;
  const installation = await readInstallation(sql);
  if (installation === null || installation === "not readable") {
    throw new MigrationError(
      `The schema "uptuple" belongs to ${situation.owner}, and ${situation.current_role} cannot act as that role: ` +
        `connect as ${situation.owner}, or grant it (grant ${situation.owner} to ${situation.current_role}).`,
    );
  }
  if (isSettled(installation, migration)) return true;

  const adapt = ({ text }: SqlFile) => replaceMissingRoles(text, situation.missing_roles, situation.current_role);
  const [next] = await pendingMigrations(migration);
  if (next !== undefined) {
    const done = await step(migration, installation, [
      actAs(situation),
      { file: next, text: adapt(next) },
      { text: `insert into uptuple.migration (file, sha256) values (${quote(next.path)}, ${quote(next.sha256)})` },
      record(program, ""),
    ]);
    if (done) {
      report.outcome = "migrated";
      report.applied.push(next.path);
    }
    return false;
  }

  const definitions = files.definitions.map((file) => definitionFile(file.path, adapt(file)));
  const plan = planDefinitions(definitions, await readDefinitions(sql));
  const done = await step(migration, installation, [
    actAs(situation),
    ...definitionPieces(plan),
    record(program, digestOf(files, situation.missing_roles)),
  ]);
  if (done) {
    report.outcome = "migrated";
    report.defined.push(...plan.define.map(({ file }) => file.path));
    report.dropped.push(...plan.vanished);
  }
  return done;
}

/** Which migrations are missing. Checks that the others are what was applied. */
async function pendingMigrations({ sql, files }: Migration): Promise<SqlFile[]> {
  const rows = await sql<{ file: string; sha256: string }[]>`select file, sha256 from uptuple.migration`;
  const applied = new Map(rows.map((row) => [row.file, row.sha256]));
  for (const [path, sha256] of applied) {
    const file = files.migrations.find((migration) => migration.path === path);
    if (file === undefined) {
      throw new MigrationError(
        `${path} was applied to this database, and this program does not have it: use the program that does.`,
      );
    }
    if (file.sha256 !== sha256) {
      throw new MigrationError(
        `${path} was changed after it was applied to this database: put it back as it was, and make the change in a new migration.`,
      );
    }
  }
  return files.migrations.filter((file) => !applied.has(file.path));
}

function actAs(situation: Situation): Piece {
  return { text: `set local role ${quoteName(situation.owner ?? situation.current_role)}` };
}

function record(program: Program, digest: string): Piece {
  return {
    text: `update uptuple.installation set generation = generation + 1, release = ${program.release},
  oldest_program = ${program.oldestProgram}, sql_digest = ${quote(digest)}, applied_at = clock_timestamp()`,
  };
}

/** @returns Null if there is no schema; that it is not readable if it belongs to somebody else. */
async function readInstallation(sql: Sql): Promise<Installation | null | "not readable"> {
  try {
    const [row] = await sql<Installation[]>`
      select release, oldest_program, sql_digest, generation, array(
          select role from unnest(${ROLES}::text[]) as role
          where not exists (select from pg_catalog.pg_roles where rolname = role)
        ) as missing_roles
      from uptuple.installation`;
    return row ?? null;
  } catch (error) {
    const code = codeOf(error);
    if (code === "42P01" || code === "3F000") return null;
    if (code === "42501") return "not readable";
    throw error;
  }
}

async function readSituation(sql: Sql): Promise<Situation> {
  const [row] = await sql<Situation[]>`
    select
      current_setting('server_version_num')::int as server_version_num,
      current_setting('server_version') as server_version,
      current_user as current_role,
      pg_get_userbyid(nspowner) as owner,
      coalesce(pg_has_role(nspowner, 'member'), false) as is_owner,
      has_database_privilege(current_database(), 'create') as may_create,
      array(select role from unnest(${ROLES}::text[]) as role where not exists (select from pg_roles where rolname = role))
        as missing_roles
    from (select) as one
    left join pg_namespace on nspname = 'uptuple'`;
  if (row === undefined) throw new MigrationError("The server said nothing of its roles.");
  return row;
}

function refuseTooOldProgram(installed: { release: number; oldest_program: number }, program: Program): void {
  if (program.release >= installed.oldest_program) return;
  throw new MigrationError(
    `This program is of release ${program.release}, and the schema of release ${installed.release} works only with ` +
      `programs of release ${installed.oldest_program} or newer: update this program.`,
  );
}
