import assert from "node:assert/strict";
import { DatabaseUnavailableError } from "../../../../src/database/connect.ts";
import { createApp } from "../../../../src/web/app.tsx";
import { publishedPages } from "../../../../src/web/status/published.ts";
import { statusPage } from "../../../support/status_pages.ts";

/** A database that has one status page and counts what it is asked. */
function countingDatabase() {
  const database = {
    questions: 0,
    isAway: false,
    page: statusPage(),
    query<Row extends object>(text: TemplateStringsArray): Promise<Row[]> {
      database.questions += 1;
      if (database.isAway) return Promise.reject(new DatabaseUnavailableError("it is away"));
      const row = text[0]?.includes("status_page_history") ? { history: {} } : { page: database.page };
      return Promise.resolve([row as unknown as Row]);
    },
  };
  return database;
}

Deno.test("ten thousand readers cost the database no more than one", async () => {
  const database = countingDatabase();
  const app = createApp({ database, access: { kind: "public" } });

  for (let turn = 0; turn < 100; turn++) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => app.request("/status")));
    for (const answer of answers) {
      assert.equal(answer.status, 200);
      await answer.body?.cancel();
    }
  }

  // Once the page and its past, and the page again for every two seconds that this took.
  assert.ok(database.questions <= 20, `${database.questions} questions`);
});

Deno.test("while the database is away the last page is shown, and without one the page is unavailable", async () => {
  const database = countingDatabase();
  const pages = publishedPages(database);
  const read = () => pages.document("default", "text", ({ status }) => status.page.title);
  assert.equal(new TextDecoder().decode((await read())?.body), "Example status");

  database.isAway = true;

  assert.equal(new TextDecoder().decode((await read())?.body), "Example status");
  const fresh = publishedPages(database);
  await assert.rejects(fresh.document("default", "text", () => ""), DatabaseUnavailableError);
});

Deno.test("a document is written once for each name, and anew when the page says something else", async () => {
  const database = countingDatabase();
  const pages = publishedPages(database);
  let written = 0;
  const read = (name: string) =>
    pages.document("default", name, ({ status }) => {
      written += 1;
      return status.page.title;
    });

  const first = await read("a");
  assert.equal(await read("a"), first);
  await read("b");
  assert.equal(written, 2);
});

Deno.test("pages that do not exist are asked for again and again without filling the memory", async () => {
  const database = countingDatabase();
  database.page = null as never;
  const pages = publishedPages(database);
  for (let number = 0; number < 1000; number++) {
    assert.equal(await pages.document(`p${number}`, "text", () => ""), null);
  }

  const before = database.questions;
  assert.equal(await pages.document("p999", "text", () => ""), null);
  assert.equal(database.questions, before);
  assert.equal(await pages.document("p0", "text", () => ""), null);
  assert.ok(database.questions > before, "the oldest was forgotten");
});
