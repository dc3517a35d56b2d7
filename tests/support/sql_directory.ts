import { dirname, join } from "node:path";
import { SQL_DIRECTORY } from "../../src/database/sql_files.ts";

/** A directory of SQL files for the migrator, removed when disposed of. */
export interface SqlDirectory extends AsyncDisposable {
  path: string;
  /** Writes a file, or removes it if the text is null. */
  put(path: string, text: string | null): Promise<void>;
}

/**
 * Makes a directory with the program's own bootstrap.sql and the given files.
 *
 * @param files Texts by path, such as `functions/jobs/claim_jobs.sql`.
 */
export async function sqlDirectory(files: Record<string, string>): Promise<SqlDirectory> {
  const path = await Deno.makeTempDir({ prefix: "uptuple-sql-" });
  await Deno.copyFile(join(SQL_DIRECTORY, "bootstrap.sql"), join(path, "bootstrap.sql"));
  const directory: SqlDirectory = {
    path,
    async put(file, text) {
      if (text === null) return await Deno.remove(join(path, file));
      await Deno.mkdir(dirname(join(path, file)), { recursive: true });
      await Deno.writeTextFile(join(path, file), text);
    },
    async [Symbol.asyncDispose]() {
      await Deno.remove(path, { recursive: true });
    },
  };
  for (const [file, text] of Object.entries(files)) await directory.put(file, text);
  return directory;
}
