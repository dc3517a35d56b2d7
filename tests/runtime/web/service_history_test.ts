import assert from "node:assert/strict";
import { historyReader } from "../../../src/web/service_history.ts";
import { testDatabase } from "../../support/database.ts";
import { looseDatabase } from "../../support/web_app.ts";

Deno.test("the past is read once for all who look within a minute", async () => {
  await using opened = await testDatabase();
  await using database = looseDatabase({ url: opened.url });
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  let reads = 0;
  const read = historyReader({
    query: (...statement) => {
      reads++;
      return database.query(...statement);
    },
  });

  await Promise.all([read(), read(), read()]);
  const histories = await read();

  assert.equal(reads, 1);
  assert.deepEqual(histories?.get("inventory")?.uptimes, [null, null, null, null]);
});

Deno.test("a page goes out without the past while reading it takes long", async () => {
  await using opened = await testDatabase();
  await using database = looseDatabase({ url: opened.url });
  await opened.owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1:1/')`;
  // Whoever reads it waits for this lock.
  const blocker = await opened.connect();
  await blocker`begin`;
  await blocker`lock table uptuple.service in access exclusive mode`;
  const startedAt = performance.now();

  const histories = await historyReader(database)();

  assert.equal(histories, null);
  assert.ok(performance.now() - startedAt < 4000);
  await blocker`rollback`;
});

Deno.test("a page goes out without the past when it cannot be read", async () => {
  await using database = looseDatabase({ url: "postgres://someone@127.0.0.1:1/nowhere" });

  assert.equal(await historyReader(database)(), null);
});
