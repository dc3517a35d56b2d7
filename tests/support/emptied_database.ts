import { type TestDatabase, testDatabase, type TestSql } from "./database.ts";

let shared: Promise<TestDatabase> | undefined;

Deno.test.afterAll(async () => {
  await (await shared)?.[Symbol.asyncDispose]();
});

/**
 * The test file's own database, with all that was stored in it taken away: as after a fresh install, in a tenth of the time that
 * a clone takes. For tests that change no definitions; those clone a database of their own with `testDatabase`.
 *
 * One test at a time. Its connections are new ones and are closed when the test disposes of it.
 */
export async function emptiedDatabase(): Promise<TestDatabase> {
  const database = await (shared ??= testDatabase());
  const connections: TestSql[] = [];
  const connect: TestDatabase["connect"] = async (role) => {
    const connection = await database.connect(role);
    connections.push(connection);
    return connection;
  };
  await empty(database.owner);
  return {
    url: database.url,
    urlFor: database.urlFor,
    owner: await connect(),
    connect,
    async [Symbol.asyncDispose]() {
      await Promise.all(connections.map((connection) => connection.end({ timeout: 0 })));
    },
  };
}

/** Leaves only what a migration puts there, and empty partitions. Foreign keys are not looked at, so that the order does not matter. */
async function empty(owner: TestSql): Promise<void> {
  await owner`
    do $empty$
    declare
      relation record;
    begin
      set local session_replication_role = replica;
      for relation in
        select oid::regclass as name, relkind
        from pg_class
        where relnamespace = 'uptuple'::regnamespace and relkind in ('r', 'p', 'S') and not relispartition
          and relname !~ '^(migration|definition|installation|region|enqueue_cursor|retention|roll_up_mark|task.*)$'
      loop
        if relation.relkind = 'S' then
          perform setval(relation.name, 1, false);
        else
          execute format('delete from %s', relation.name);
        end if;
      end loop;
      delete from uptuple.region where name <> 'default';
      update uptuple.enqueue_cursor set enqueued_until = extract(epoch from clock_timestamp());
      update uptuple.retention set gone_before = null;
      update uptuple.roll_up_mark
      set rolled_from = today, rolled_until = today, done_to_service = null
      from (select extract(epoch from date_trunc('day', clock_timestamp(), 'UTC'))::bigint as today) clock;
    end
    $empty$`;
}
