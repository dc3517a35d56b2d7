import { PostgreSqlContainer } from "@testcontainers/postgresql";

/**
 * Starts PostgreSQL in a container, prints its URL, and stops it when standard input ends. A program of its own, with a lock
 * file of its own: a program downloads all that its lock file names, and who does not ask for containers should not.
 *
 * TEST_POSTGRES_IMAGE names another image than `postgres:18`.
 */
async function main(): Promise<void> {
  const container = await new PostgreSqlContainer(Deno.env.get("TEST_POSTGRES_IMAGE") ?? "postgres:18")
    .withUsername("postgres")
    .withCommand(["postgres", "-c", "fsync=off", "-c", "max_connections=300"])
    .start();
  console.log(container.getConnectionUri());
  await Deno.stdin.readable.pipeTo(new WritableStream());
  await container.stop();
}

await main();
Deno.exit(0);
