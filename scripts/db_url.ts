import { readConfig } from "../src/config.ts";
import { databaseInUse } from "../src/database/in_use.ts";

/** Prints the URL of the database in use, password included, for `psql "$(deno task --quiet db:url)"`. */
async function main(): Promise<void> {
  const { databaseUrl, dataDir } = readConfig((name) => Deno.env.get(name));
  console.log(await databaseInUse(databaseUrl, dataDir));
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exit(1);
}
