import type { Sql } from "./client.ts";
import { MigrationError } from "./migration_error.ts";
import { type Piece, quote } from "./migration_step.ts";
import type { DefinitionFile } from "./sql_files.ts";
import { codeOnly } from "./sql_text.ts";

/** A file of functions or views as it was last applied. */
export interface Definition {
  path: string;
  sha256: string;
  /** As in `DefinitionFile`. */
  shape: string;
  /** What it defined, as DROP takes it: `function uptuple.add_service(text,text)`. */
  identities: string[];
  /** Whether something of it is no longer there, because a migration or a person dropped it. */
  broken: boolean;
  /** Paths of the definitions that need this one to exist. */
  dependents: string[];
  /** What else needs it, described for a person: a user's view, a table's constraint. */
  foreign: string[];
}

/** What brings the definitions in the database to those of the files. */
export interface DefinitionPlan {
  /** Identities to drop, dependents first. */
  drop: string[];
  /** Paths whose rows in uptuple.definition go. */
  forget: string[];
  /** Files to run, in this order; `replaces` are identities that are in use and can be dropped only afterwards. */
  define: { file: DefinitionFile; replaces: string[] }[];
  /** The identities of `drop` that no file defines any longer. */
  vanished: string[];
}

/** Reads what is defined, and who depends on it. */
export async function readDefinitions(sql: Sql): Promise<Definition[]> {
  const definitions = await sql<Omit<Definition, "dependents" | "foreign">[]>`
    select path, sha256, shape, identities, exists (
        select from unnest(identities) as identity
        where case when identity like 'view %'
          then to_regclass(split_part(identity, ' ', 2)) is null
          else to_regprocedure(substr(identity, strpos(identity, ' ') + 1)) is null
        end
      ) as broken
    from uptuple.definition`;
  const uses = await sql<{ path: string; dependent: string | null; description: string }[]>`
    with defined as (
      select path,
        case when identity like 'view %' then 'pg_class'::regclass else 'pg_proc'::regclass end as class,
        case when identity like 'view %'
          then to_regclass(split_part(identity, ' ', 2))::oid
          else to_regprocedure(substr(identity, strpos(identity, ' ') + 1))::oid
        end as object
      from uptuple.definition, unnest(identities) as identity
    ),
    -- A view is also used through its row type and that type's array.
    handles as (
      select path, class, object from defined
      union all
      select path, 'pg_type'::regclass, pg_type.oid
      from defined
      join pg_class on class = 'pg_class'::regclass and pg_class.oid = object
      join pg_type on pg_type.oid = reltype or pg_type.typelem = reltype
    ),
    -- What depends on a view's rule is the view.
    uses as (
      select handles.path,
        case when classid = 'pg_rewrite'::regclass then 'pg_class'::regclass else classid::regclass end as class,
        coalesce(ev_class, objid) as object,
        objsubid
      from handles
      join pg_depend on refclassid = class and refobjid = object and deptype = 'n'
      left join pg_rewrite on classid = 'pg_rewrite'::regclass and pg_rewrite.oid = objid
    )
    select distinct uses.path, defined.path as dependent,
      pg_describe_object(uses.class, uses.object, uses.objsubid) as description
    from uses
    left join defined using (class, object)
    where uses.path is distinct from defined.path`;
  return definitions.map((definition) => ({
    ...definition,
    dependents: uses.flatMap((use) => use.path === definition.path && use.dependent !== null ? [use.dependent] : []),
    foreign: uses.flatMap((use) => use.path === definition.path && use.dependent === null ? [use.description] : []),
  }));
}

/**
 * Plans the fewest changes. A function with a new body is replaced in place, so that a call under way elsewhere never misses
 * it. What changed otherwise or vanished is dropped, with those of ours that depend on it, and created anew, so that an
 * added default argument leaves no overload behind and a withdrawn grant does not stay. What something else depends on is
 * not dropped but replaced in place too; the server refuses that if its signature changed.
 *
 * @param files In the order in which they can be created.
 * @param existing As `readDefinitions` gives them.
 * @throws {MigrationError} If something else depends on what no file defines any longer.
 */
export function planDefinitions(files: DefinitionFile[], existing: Definition[]): DefinitionPlan {
  const byPath = new Map(existing.map((definition) => [definition.path, definition]));
  const fileByPath = new Map(files.map((file) => [file.path, file]));
  const isStale = (path: string) => {
    const definition = byPath.get(path);
    return definition === undefined || definition.broken || definition.sha256 !== fileByPath.get(path)?.sha256;
  };
  const stale = new Set([...byPath.keys(), ...fileByPath.keys()].filter(isStale));

  const reshaped = [...stale].filter((path) => !canBeReplaced(fileByPath.get(path), byPath.get(path)));

  const affected = closure(reshaped, (path) => byPath.get(path)?.dependents ?? []);
  const inUse = [...affected].filter((path) => (byPath.get(path)?.foreign.length ?? 0) > 0);
  const neededBy = (path: string) =>
    existing.filter(({ dependents }) => dependents.includes(path)).map((one) => one.path);
  const kept = closure(inUse, neededBy);

  for (const path of kept) {
    if (fileByPath.has(path)) continue;
    const users = [path, ...kept].flatMap((one) => byPath.get(one)?.foreign ?? []);
    throw new MigrationError(
      `${byPath.get(path)?.identities.join(", ")} is no longer part of Uptuple, but ${
        users[0]
      } depends on it: drop that first.`,
    );
  }

  const dropped = existing.filter(({ path }) => affected.has(path) && !kept.has(path));
  const ordered = dependentsFirst(dropped);
  return {
    drop: ordered.flatMap(({ identities }) => identities),
    forget: existing.filter(({ path }) => stale.has(path) || dropped.some((one) => one.path === path)).map(({ path }) =>
      path
    ),
    define: files
      .filter(({ path }) => stale.has(path) || (affected.has(path) && !kept.has(path)))
      .map((file) => ({ file, replaces: kept.has(file.path) ? byPath.get(file.path)?.identities ?? [] : [] })),
    vanished: ordered.filter(({ path }) => !fileByPath.has(path)).flatMap(({ identities }) => identities),
  };
}

/** Whether `create or replace` brings what is there to what the file says. */
function canBeReplaced(file: DefinitionFile | undefined, definition: Definition | undefined): boolean {
  if (file === undefined || definition === undefined || definition.broken) return false;
  return file.shape === definition.shape && !/\bcreate\s+(?!or\s+replace\b)/i.test(codeOnly(file.text));
}

/** @returns The given paths and all that are reached from them. */
function closure(from: Iterable<string>, next: (path: string) => string[]): Set<string> {
  const reached = new Set(from);
  for (const path of reached) {
    for (const further of next(path)) reached.add(further);
  }
  return reached;
}

function dependentsFirst(definitions: Definition[]): Definition[] {
  const byPath = new Map(definitions.map((definition) => [definition.path, definition]));
  const ordered = new Set<Definition>();
  const visit = (definition: Definition) => {
    if (ordered.has(definition)) return;
    for (const path of definition.dependents) {
      const dependent = byPath.get(path);
      if (dependent !== undefined) visit(dependent);
    }
    ordered.add(definition);
  };
  for (const definition of definitions) visit(definition);
  return [...ordered];
}

/** The SQL that does what was planned, for one transaction as the schema's owner. */
export function definitionPieces(plan: DefinitionPlan): Piece[] {
  return [
    { text: "set local check_function_bodies = off" },
    ...plan.drop.map((identity) => ({ text: dropIfExists(identity) })),
    ...plan.forget.map((path) => ({ text: `delete from uptuple.definition where path = ${quote(path)}` })),
    ...plan.define.flatMap(({ file, replaces }) => [
      { file, text: file.text },
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
function dropReplaced(file: DefinitionFile, identities: string[]): string {
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
