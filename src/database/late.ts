import { type Database, DatabaseUnavailableError } from "./connect.ts";

/** A database that others may hold before it is open. Until then each call is refused as one to a server that is down. */
export interface LateDatabase extends Database {
  /** From now on calls go to this one. */
  open(database: Database): void;
}

/** For pages, which are served from the first moment. */
export function lateDatabase(): LateDatabase {
  let opened: Database | null = null;
  const current = (): Database => {
    if (opened === null) throw new DatabaseUnavailableError("The database is being opened.");
    return opened;
  };
  return {
    open(database) {
      opened = database;
    },
    async query<Row extends object>(text: TemplateStringsArray, ...values: unknown[]) {
      return await current().query<Row>(text, ...values);
    },
    async listen(channel, onMessage, onReady) {
      return await current().listen(channel, onMessage, onReady);
    },
    get healthy() {
      return opened?.healthy ?? false;
    },
    async close() {
      await opened?.close();
    },
  };
}
