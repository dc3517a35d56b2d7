import assert from "node:assert/strict";
import { coverageReader } from "../../../src/web/coverage.ts";
import { testDatabase } from "../../support/database.ts";
import { looseDatabase } from "../../support/web_app.ts";

Deno.test("the figures of a day are read once for all who look within a minute", async () => {
  await using opened = await testDatabase();
  await using database = looseDatabase({ url: opened.url });
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  let reads = 0;
  const read = coverageReader({
    query: (...statement) => {
      reads++;
      return database.query(...statement);
    },
  });

  await Promise.all([read(), read(), read()]);
  const coverage = await read();

  assert.equal(reads, 1);
  assert.deepEqual(coverage.get("inventory"), { service: "inventory", uptime: null, coverage: null });
});

Deno.test("a page goes out without the figures while reading them takes long", async () => {
  await using opened = await testDatabase();
  await using database = looseDatabase({ url: opened.url });
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  // Whoever reads the view waits for this lock.
  const blocker = await opened.connect();
  await blocker`begin`;
  await blocker`lock table uptuple.service in access exclusive mode`;
  const startedAt = performance.now();

  const coverage = await coverageReader(database)();

  assert.equal(coverage.size, 0);
  assert.ok(performance.now() - startedAt < 2000);
  await blocker`rollback`;
});

Deno.test("a page goes out without the figures when they cannot be read", async () => {
  await using database = looseDatabase({ url: "postgres://someone@127.0.0.1:1/nowhere" });

  assert.equal((await coverageReader(database)()).size, 0);
});
