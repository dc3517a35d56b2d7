import assert from "node:assert/strict";
import { connect } from "../../../src/database/connect.ts";
import { createApp } from "../../../src/web/app.tsx";
import { testDatabase } from "../../support/database.ts";
import { looseDatabase, openTestApp } from "../../support/web_app.ts";

/** Nothing listens there. */
const NOWHERE = "postgres://someone:verysecret@127.0.0.1:1/nowhere";

Deno.test("/healthz answers while the process lives, without a database", async () => {
  await using database = looseDatabase({ url: NOWHERE });
  const app = createApp({ database, access: { kind: "token", token: "sesame" } });

  const answer = await app.request("/healthz");

  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), { healthy: true });
  assert.equal(answer.headers.get("cache-control"), "no-store");
});

Deno.test("/readyz answers 200 to anybody when the database has a schema that this program can run on", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });

  const answer = await opened.app.request("/readyz");

  assert.equal(answer.status, 200);
  assert.deepEqual(await answer.json(), { ready: true });
});

Deno.test("/readyz answers 503 without a database, and gives away neither its address nor its password", async () => {
  await using database = looseDatabase({ url: NOWHERE });
  const app = createApp({ database, access: { kind: "public" } });

  const answer = await app.request("/readyz");

  assert.equal(answer.status, 503);
  assert.deepEqual(await answer.json(), { ready: false, problem: "The database does not answer." });
});

Deno.test("/readyz says that the schema is missing, and the cure", async () => {
  await using empty = await testDatabase({ migrated: false });
  await using database = looseDatabase({ url: empty.url });
  const app = createApp({ database, access: { kind: "public" } });

  const answer = await app.request("/readyz");

  assert.equal(answer.status, 503);
  assert.match((await answer.json()).problem, /no schema "uptuple" yet: run "deno task migrate"/);
});

Deno.test("/readyz says that the schema is too new for this program", async () => {
  await using opened = await openTestApp();
  await opened.owner`update uptuple.installation set release = 1000, oldest_program = 999`;

  const answer = await opened.app.request("/readyz");

  assert.equal(answer.status, 503);
  assert.match((await answer.json()).problem, /works only with programs of release 999 or newer/);
});

Deno.test("/readyz answers within a few seconds when the database's network swallows everything", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const database = connect({ url: `postgres://someone@127.0.0.1:${silent.addr.port}/nowhere` });
  const app = createApp({ database, access: { kind: "public" } });
  const startedAt = performance.now();

  const answer = await app.request("/readyz");

  assert.equal(answer.status, 503);
  assert.ok(performance.now() - startedAt < 5000);
  await database.close();
});

Deno.test("a crowd that asks at once costs the database one query", async () => {
  await using opened = await testDatabase();
  await using database = looseDatabase({ url: opened.url });
  let queries = 0;
  const counted: typeof database.query = (...statement) => {
    queries++;
    return database.query(...statement);
  };
  const app = createApp({ database: { query: counted }, access: { kind: "public" } });

  const answers = await Promise.all(Array.from({ length: 50 }, () => app.request("/readyz")));

  assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200]);
  assert.equal(queries, 1);
});
