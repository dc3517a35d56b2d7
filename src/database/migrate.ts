import { OLDEST_PROGRAM, RELEASE } from "../release.ts";
import { openClient, type Sql } from "./client.ts";
import { type DefinitionPlan, planDefinitions, readDefinitions } from "./definitions.ts";
import { MigrationError } from "./migration_error.ts";
import { refuseOldServer } from "./server_version.ts";
import { type DefinitionFile, readSqlFiles, SQL_DIRECTORY, type SqlFile, type SqlFiles } from "./sql_files.ts";
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
}

/** Who may do what in the database. */
interface Situation {
  server_version_num: number;
  server_version: string;
  current_role: string;
  /** Null: there is no schema yet. */
  owner: string | null;
  /** Whether the connecting role may create schemas in the database. */
  may_create: boolean;
  missing_roles: string[];
}

/** What the steps of a migration share. */
interface Migration {
  sql: Sql;
  files: SqlFiles;
  program: Program;
  lockTimeoutMs: number;
  report: MigrationReport;
  /** The file whose statements the server was last heard to reach. */
  reached: { path: string | null };
}

/** A piece of a step's SQL, and the file it is the text of. */
interface Piece {
  text: string;
  file?: SqlFile;
}

/** Our roles, which belong to the cluster. */
const ROLES = ["uptuple_owner", "uptuple_worker", "uptuple_operator", "uptuple_viewer", "uptuple_task"];
/** One migrator at a time in a database. The number spells "uptuple". */
const LOCK = "33056217763966053";
/** How long to wait for another migrator to finish its step, in ms. */
const OTHER_MIGRATOR_TIMEOUT_MS = 300_000;
/** Raised by a step that finds another generation than it was planned for. */
const OVERTAKEN = "UT900";
/** What passes by itself: a lock held too long, a deadlock, a catalog row that a sibling database's migrator wrote too. */
const PASSING = new Set(["55P03", "40P01", "XX000", "23505", "42710"]);
const ATTEMPTS = 10;
const NO_SCHEMA = 'The database has no schema "uptuple" yet';
/** Starts the notices by which a step tells which file it has come to. */
const REACHED = "uptuple migrator reached ";

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
    onNotice({ message }) {
      if (message?.startsWith(REACHED)) reached.path = message.slice(REACHED.length);
    },
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
 * @throws {MigrationError} If there is no schema, or its release does not fit; the message says what to do.
 */
export async function verifySchema(
  database: { query<Row extends object>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> },
  program: Program = { release: RELEASE, oldestProgram: OLDEST_PROGRAM },
): Promise<void> {
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
}

async function run(migration: Migration): Promise<MigrationReport> {
  const { sql, files, program, report } = migration;
  const installation = await readInstallation(sql);
  if (installation === "not readable") {
    await verifySchema({ query: (text, ...values) => runTagged(sql, text, values) }, program);
    report.outcome = "verified";
    return report;
  }
  if (installation !== null && installation.release >= program.release) {
    refuseTooOldProgram(installation, program);
    report.release = installation.release;
    if (installation.release > program.release) report.outcome = "newer";
    if (report.outcome === "newer" || installation.sql_digest === files.digest) return report;
  }

  const before = await readSituation(sql);
  refuseOldServer(before.server_version_num, before.server_version);
  if (before.owner === null && !before.may_create) {
    throw new MigrationError(
      `${NO_SCHEMA}, and ${before.current_role} may not create it: run "deno task migrate" as the database's owner.`,
    );
  }
  await step(migration, null, [{ text: files.bootstrap.text, file: files.bootstrap }]);
  const situation = await readSituation(sql);
  report.owner = situation.owner;
  report.missingRoles = situation.missing_roles;
  while (!await advance(migration, situation)) { /* Each turn is one step forward, or another migrator's. */ }
  report.release = program.release;
  return report;
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
  if (installation.release > program.release) {
    refuseTooOldProgram(installation, program);
    return true;
  }
  if (installation.sql_digest === files.digest && installation.release === program.release) return true;

  const pending = await pendingMigrations(migration);
  const [next] = pending;
  const adapt = (file: SqlFile) => ({
    file,
    text: replaceMissingRoles(file.text, situation.missing_roles, situation.current_role),
  });
  if (next !== undefined) {
    const done = await step(migration, installation, [
      actAs(situation),
      adapt(next),
      { text: `insert into uptuple.migration (file, sha256) values (${quote(next.path)}, ${quote(next.sha256)})` },
      record(program, ""),
    ]);
    if (done) {
      report.outcome = "migrated";
      report.applied.push(next.path);
    }
    return false;
  }

  const plan = planDefinitions(files.definitions, await readDefinitions(sql));
  const done = await step(migration, installation, [
    actAs(situation),
    ...definitionPieces(plan, adapt),
    record(program, files.digest),
  ]);
  if (done) {
    report.outcome = "migrated";
    report.defined.push(...plan.define.map(({ file }) => file.path));
    report.dropped.push(...plan.vanished);
  }
  return done;
}

function definitionPieces(plan: DefinitionPlan, adapt: (file: SqlFile) => Piece): Piece[] {
  return [
    { text: "set local check_function_bodies = off" },
    ...plan.drop.map((identity) => ({ text: dropIfExists(identity) })),
    ...plan.forget.map((path) => ({ text: `delete from uptuple.definition where path = ${quote(path)}` })),
    ...plan.define.flatMap(({ file, replaces }) => [
      adapt(file),
      { text: rememberDefinition(file) },
      ...(replaces.length === 0 ? [] : [{ text: dropReplaced(file, replaces) }]),
    ]),
  ];
}

/** @param identity Such as `function uptuple.status_text(text)`. */
function dropIfExists(identity: string): string {
  return `drop ${identity.replace(" ", " if exists ")}`;
}

/**
 * Notes what a file has just defined: what this transaction wrote to the catalog and no other file has claimed. A block with an
 * exception handler is a transaction within this one, with a later number.
 */
function rememberDefinition(file: DefinitionFile): string {
  return `do $remember$
declare
  found text[];
begin
  select array_agg(identity order by identity) into found
  from (
    select case prokind when 'p' then 'procedure ' when 'a' then 'aggregate ' else 'function ' end || oid::regprocedure::text as identity
    from pg_proc
    where pronamespace = 'uptuple'::regnamespace and age(xmin) <= age(pg_current_xact_id()::xid)
    union all
    select 'view ' || oid::regclass::text
    from pg_class
    where relnamespace = 'uptuple'::regnamespace
      and relkind = 'v'
      and (age(xmin) <= age(pg_current_xact_id()::xid)
        or exists (select from pg_rewrite where ev_class = pg_class.oid and age(pg_rewrite.xmin) <= age(pg_current_xact_id()::xid)))
  ) as written
  where not exists (select from uptuple.definition where written.identity = any (identities));

  if found is null then
    raise exception 'creates no function and no view in schema uptuple';
  end if;
  insert into uptuple.definition (path, sha256, shape, identities)
  values (${quote(file.path)}, ${quote(file.sha256)}, ${quote(file.shape)}, found);
end
$remember$`;
}

/** Drops what a file defined before and no longer does, where it could not be dropped first. */
function dropReplaced(file: SqlFile, identities: string[]): string {
  return `do $drop$
declare
  gone text;
begin
  for gone in
    select unnest(array[${identities.map(quote).join(", ")}]::text[])
    except
    select unnest(identities) from uptuple.definition where path = ${quote(file.path)}
  loop
    execute 'drop ' || gone;
  end loop;
end
$drop$`;
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

/**
 * Runs SQL as one transaction, which is one message to the server, under the migrators' lock.
 *
 * @param planned The state that the SQL was planned for; null for SQL that fits any.
 * @returns False if another migrator has changed that state, and nothing was done.
 * @throws {MigrationError} If the SQL fails.
 */
async function step(migration: Migration, planned: Installation | null, pieces: Piece[]): Promise<boolean> {
  const { sql, lockTimeoutMs, reached } = migration;
  const message = compose([
    { text: "set local client_min_messages = notice" },
    { text: "set local statement_timeout = 0" },
    { text: "set local search_path = pg_catalog, pg_temp" },
    { text: `set local lock_timeout = ${OTHER_MIGRATOR_TIMEOUT_MS}` },
    { text: `select pg_advisory_xact_lock(${LOCK})` },
    { text: `set local lock_timeout = ${lockTimeoutMs}` },
    ...(planned === null ? [] : [{ text: refuseOtherGeneration(planned.generation) }]),
    ...pieces,
  ]);
  for (let attempt = 1;; attempt++) {
    reached.path = null;
    try {
      await sql.unsafe(message.text);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === OVERTAKEN) return false;
      if (code === undefined || isConnectionCode(code)) throw error;
      if (attempt >= ATTEMPTS || !PASSING.has(code)) throw explainFailure(error, message, reached.path);
      await new Promise((done) => setTimeout(done, 100 + Math.random() * 400));
    }
  }
}

/** The SQL of a step, and where in it each file begins. */
interface Message {
  text: string;
  starts: { file: SqlFile; at: number; end: number }[];
}

function compose(pieces: Piece[]): Message {
  const message: Message = { text: "", starts: [] };
  for (const { text, file } of pieces) {
    if (file !== undefined) {
      message.text += `do $reached$ begin raise notice '%', ${quote(REACHED + file.path)}; end $reached$;\n`;
      message.starts.push({ file, at: message.text.length, end: message.text.length + text.length });
    }
    message.text += `${text}\n;\n`;
  }
  return message;
}

function explainFailure(error: unknown, message: Message, reached: string | null): MigrationError {
  const { position, detail, hint, where } = error as {
    position?: string;
    detail?: string;
    hint?: string;
    where?: string;
  };
  // The server counts characters, JavaScript UTF-16 units.
  const at = position === undefined ? -1 : Array.from(message.text).slice(0, Number(position) - 1).join("").length;
  const start = message.starts.find((candidate) => candidate.at <= at && at < candidate.end);
  const line = start === undefined ? "" : `:${message.text.slice(start.at, at).split("\n").length}`;
  const place = start !== undefined ? `sql/${start.file.path}${line}: ` : reached !== null ? `sql/${reached}: ` : "";
  const more = [["detail", detail], ["hint", hint], ["where", where]].filter(([, text]) => text !== undefined)
    .map(([name, text]) => `\n  ${name}: ${text}`).join("");
  return new MigrationError(`${place}${(error as Error).message}${more}`, { cause: error });
}

function refuseOtherGeneration(generation: string): string {
  return `do $guard$
begin
  if (select generation from uptuple.installation) <> ${generation} then
    raise exception 'another migrator was quicker' using errcode = '${OVERTAKEN}';
  end if;
end
$guard$`;
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
      select release, oldest_program, sql_digest, generation from uptuple.installation`;
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

function runTagged<Row extends object>(sql: Sql, text: TemplateStringsArray, values: unknown[]): Promise<Row[]> {
  return sql<Row[]>(text, ...values as never[]);
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : undefined;
}

/** Ours and Node's codes for broken connections have letters and underscores; the server's have five characters. */
function isConnectionCode(code: string): boolean {
  return code.length !== 5 || code.startsWith("08") || code.startsWith("57P");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
