import { PostgreSqlContainer } from "@testcontainers/postgresql";
import { withDatabase } from "../../src/database/url.ts";
import type { TestCluster } from "./cluster.ts";

/** Starts PostgreSQL in a container; TEST_POSTGRES_IMAGE names another image than `postgres:18`. */
export async function startContainer(): Promise<TestCluster> {
  const container = await new PostgreSqlContainer(Deno.env.get("TEST_POSTGRES_IMAGE") ?? "postgres:18")
    .withUsername("postgres")
    .withCommand(["postgres", "-c", "fsync=off", "-c", "max_connections=300"])
    .start();
  return {
    url: withDatabase(container.getConnectionUri(), "postgres"),
    async stop() {
      await container.stop();
    },
  };
}
