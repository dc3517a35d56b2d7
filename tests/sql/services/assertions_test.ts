import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";

/** An assertion of an https:// check, or a list of them, and the message of its refusal. */
const REFUSED: [assertions: unknown, message: RegExp][] = [
  [{}, /^assertions must be a JSON array$/],
  ["[]", /^assertions must be a JSON array$/],
  [[7], /^assertion 1 is 7, and must be an object with one of status, header, body, json/],
  [[{}], /^assertion 1 is \{\}, and must be an object/],
  [[null], /^assertion 1 is null, and must be an object/],
  [[[]], /^assertion 1 is \[\], and must be an object/],
  [[{ status: 200 }, { speed: 1 }], /^assertion 2 is \{"speed": 1\}, and must be an object/],
  [[{ status: 200, body: { contains: "x" } }], /^assertion 1 is .*, and must be an object with one of/],
  [[{ status: "2xx" }], /^assertion 1 has '2xx', which is neither a status nor a range$/],
  [[{ status: "" }], /^assertion 1 is empty, so no answer could ever be right$/],
  [[{ status: [200] }], /^assertion 1 has '\[200\]', which is neither/],
  [[{ status: 200, "<": 3 }], /^assertion 1 has \{"<": 3\} for its operators$/],
  [[{ header: "content type", exists: true }], /^assertion 1 has 'content type', which is not a header name$/],
  [[{ header: 7, exists: true }], /^assertion 1 names no header$/],
  [[{ header: "etag" }], /^assertion 1 has \{\} for its operators$/],
  [[{ header: "etag", exists: "yes" }], /^assertion 1 has "yes" for 'exists', and it must be true or false$/],
  [[{ header: "etag", "<": "3" }], /^assertion 1 has the operator '<', which header does not have$/],
  [[{ header: "etag", "==": 3 }], /^assertion 1 has 3 for '==', and it must be a text of up to 500 characters$/],
  [[{ header: "etag", equals: "3" }], /^assertion 1 has the operator 'equals', which header does not have$/],
  [[{ body: "ok" }], /^assertion 1 has "ok" for its operators$/],
  [[{ body: {} }], /^assertion 1 has \{\} for its operators$/],
  [[{ body: { contains: "" } }], /^assertion 1 has "" for 'contains', and it must be a text of 1 to 500 characters$/],
  [[{ body: { contains: "x".repeat(501) } }], /for 'contains', and it must be a text of 1 to 500 characters$/],
  [[{ body: { contains: 7 } }], /^assertion 1 has 7 for 'contains'/],
  [[{ body: { exists: true } }], /^assertion 1 has the operator 'exists', which body does not have$/],
  [[{ body: { contains: "x" }, matches: "y" }], /^assertion 1 has 'matches' beside body$/],
  [[{ latency_ms: { "<": "800" } }], /^assertion 1 has "800" for '<', and it must be a number/],
  [[{ latency_ms: { "<": -1 } }], /^assertion 1 has -1 for '<', and it must be a number from 0/],
  [[{ latency_ms: 800 }], /^assertion 1 has 800 for its operators$/],
  [[{ latency_ms: { "=<": 800 } }], /^assertion 1 has the operator '=<'/],
  [[{ certificate_days: { contains: "7" } }], /^assertion 1 has the operator 'contains'/],
  [[{ json: "$.a" }], /^assertion 1 has \{\} for its operators$/],
  [[{ json: "a.b", exists: true }], /^assertion 1 has a path that does not start with \$/],
  [[{ json: "$.a[", exists: true }], /^assertion 1 has a path that cannot be read: '\$\.a\['/],
  [[{ json: "$.a b", exists: true }], /^assertion 1 has a path that cannot be read/],
  [[{ json: "", exists: true }], /^assertion 1 has a path that does not start with \$/],
  [[{ json: "$." + "a".repeat(200), exists: true }], /^assertion 1 has a path that has 202 characters/],
  [[{ json: "$.a", "<": true }], /^assertion 1 has true for '<', and it must be a number, or a text/],
  [[{ json: "$.a", "<": null }], /^assertion 1 has null for '<'/],
  // Paths whose work grows faster than the body.
  [[{ json: "$[0,0,0][0,0,0][0,0,0]", exists: true }], /several subscripts in one pair of brackets/],
  [[{ json: "$.**.**", exists: true }], /\*\* more than once/],
  [[{ json: "$[*] ? (@ == $[*])", exists: true }], /\$ more than once, or a variable/],
  [[{ json: "$x.a", exists: true }], /\$ more than once, or a variable/],
  [[{ json: "$ ? (@.a[*] == @.b[*])", exists: true }], /compares with a path on the right/],
  [[{ json: "$ ? (@.a[*] >= - (@.b[*]))", exists: true }], /compares with a path on the right/],
  [[{ json: "$.keyvalue().keyvalue()", exists: true }], /has keyvalue\(\)/],
  [[{ json: '$ ? (@ like_regex "(a+)+$")', exists: true }], /has like_regex/],
  [[{ json: "$.a /* $ */", exists: true }], /\$ more than once|a backslash or a comment/],
  // Patterns that could take long, or that no server can read.
  [[{ body: { matches: "(a)\\1" } }], /^assertion 1 has a pattern that has a back-reference: /],
  [[{ body: { matches: "(a)\\\\\\1" } }], /has a back-reference/],
  [[{ body: { matches: "(?=.*x)y" } }], /looks ahead or behind/],
  [[{ body: { matches: "((?!x)a|b)*z" } }], /looks ahead or behind/],
  [[{ body: { matches: "(?<=x)y" } }], /looks ahead or behind/],
  [[{ body: { matches: "(?<!x)y" } }], /looks ahead or behind/],
  [[{ body: { matches: "***=literal" } }], /changes the syntax of patterns/],
  [[{ body: { matches: "(?b)\\(a\\)\\1" } }], /has a back-reference|changes the syntax of patterns/],
  [[{ body: { matches: "(?ib)\\(a\\)" } }], /changes the syntax of patterns/],
  [[{ body: { matches: "((a{1,50}){1,50}){1,50}" } }], /counted repetitions that are too large together/],
  [[{ body: { matches: "x".repeat(501) } }], /^assertion 1 has a pattern that has 501 characters/],
  [[{ body: { matches: "(" } }], /^assertion 1 has a pattern that cannot be read: '\('/],
  [[{ body: { matches: "[z-a]" } }], /has a pattern that cannot be read/],
  [[{ body: { matches: "a{9999}" } }], /pattern that/],
  [[{ body: { not_matches: "\\" } }], /has a pattern that cannot be read/],
  [[{ body: { matches: 7 } }], /^assertion 1 has 7 for 'matches'/],
  // Nests.
  [[{ any: [] }], /^assertion 1 has any, which needs a list of assertions, at most four levels deep$/],
  [[{ any: { status: 200 } }], /^assertion 1 has any, which needs a list/],
  [[{ all: [{ status: 200 }, { speed: 1 }] }], /^assertion 1\.2 is \{"speed": 1\}/],
  [[{ any: [{ status: 200, otherwise: "DEGRADED" }] }], /^assertion 1\.1 has the otherwise "DEGRADED"$/],
  [[{ status: 200, otherwise: "UP" }], /^assertion 1 has the otherwise "UP"$/],
  [[{ status: 200, otherwise: null }], /^assertion 1 has the otherwise null$/],
  [[{ status: 200, name: "" }], /^assertion 1 has a name that is no text of 1 to 100 characters$/],
  [[{ status: 200, name: "a\nb" }], /^assertion 1 has a name/],
  [[{ any: [{ any: [{ any: [{ any: [{ status: 200 }] }] }] }] }], /^assertion 1\.1\.1\.1 has any, which needs/],
  [Array.from({ length: 21 }, () => ({ status: 200 })), /^assertions has 21 of them$/],
  [[{ any: Array.from({ length: 20 }, () => ({ status: 200 })) }], /^assertions has 21 of them$/],
];

/** Assertions that are stored as they are, or as given beside them. */
const ACCEPTED: [assertion: object, stored?: object][] = [
  [{ status: 200 }, { status: "200" }],
  [{ status: "401,200 - 299" }, { status: "200-299, 401" }],
  [{ header: "Content-Type", matches: "^application/(.*\\+)?json" }, {
    header: "content-type",
    matches: "^application/(.*\\+)?json",
  }],
  [{ header: "x-cache", exists: false }],
  [{ body: { contains: "All good 🔥", not_contains: "error" } }],
  [{ body: { "==": "" } }],
  [{ body: { matches: "(?i)healthy|d[e\\]]graded\\(\\?=" }, otherwise: "DEGRADED" }],
  [{ body: { matches: "\\d{4}-\\d{2}-\\d{2}T(\\d{2}:){2}\\d{2}" }, name: "has a date" }],
  [{ json: "$.queue.depth", "<": 3, ">=": 0 }],
  [{ json: "strict $.a", "==": null }],
  [{ json: '$.checks[*] ? (@.name == "db, $x ** 1").status', "==": "pass" }],
  [{ json: '$."a key"[last].size()', ">": 0 }],
  [{ json: "$.**.error", exists: false }],
  [{ json: "$.when", ">=": "2026-01-01" }],
  [{ json: "$.list", "==": [1, { a: 2 }] }],
  [{ latency_ms: { "<": 800.5 }, otherwise: "DOWN" }],
  [{ certificate_days: { ">=": 14 } }],
  [{ any: [{ status: "404" }, { all: [{ status: "200" }, { body: { contains: "ok" } }] }] }],
];

function add(sql: TestSql, assertions: unknown, rest = "url => 'https://example.com/'"): Promise<unknown> {
  return sql.unsafe(`select uptuple.add_service(name => 'a', ${rest}, assertions => $1::text::jsonb)`, [
    JSON.stringify(assertions),
  ]);
}

async function config(sql: TestSql): Promise<Record<string, unknown>> {
  const [row] = await sql`select config from uptuple.service_revision order by revision desc limit 1`;
  return row.config;
}

Deno.test("an assertion that could not be decided, or could take long, is refused when it is written", async (t) => {
  await using database = await emptiedDatabase();

  for (const [assertions, message] of REFUSED) {
    await t.step(JSON.stringify(assertions).slice(0, 80), async () => {
      await assert.rejects(
        add(database.owner, assertions),
        (error: { message: string; hint?: string; code: string }) => {
          assert.match(error.message, message);
          assert.equal(error.code, "22023");
          assert.ok(error.message.length < 1000, "the message is bounded");
          assert.ok(error.hint && error.hint.length > 5, "a hint has the cure");
          return true;
        },
      );
    });
  }
});

Deno.test("assertions are stored as they were written, but for the spelling of headers and statuses", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await add(owner, []);

  for (const [assertion, stored] of ACCEPTED) {
    await t.step(JSON.stringify(assertion), async () => {
      await owner`select uptuple.update_service('a', assertions => ${owner.json([assertion] as never)})`;

      assert.deepEqual((await config(owner)).assertions, [stored ?? assertion]);
      await owner`select uptuple.update_service('a', failure_threshold => 2)`;
      assert.deepEqual((await config(owner)).assertions, [stored ?? assertion], "another change keeps them");
    });
  }
});

Deno.test("the body is read, and headers are reported, only where an assertion looks at them", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await add(owner, [{ status: 200 }, { latency_ms: { "<": 800 } }]);
  const { read_body, want_headers } = await config(owner);
  assert.deepEqual([read_body, want_headers], [undefined, undefined]);

  await owner`
    select uptuple.update_service('a', assertions => ${
    owner.json([
      { any: [{ header: "X-B", exists: true }, { all: [{ json: "$", exists: true }] }] },
      { header: "x-a", exists: true },
      { header: "x-b", "==": "1" },
    ] as never)
  })`;
  const changed = await config(owner);
  assert.deepEqual([changed.read_body, changed.want_headers], [true, ["x-a", "x-b"]]);

  await owner`select uptuple.update_service('a', assertions => '[]')`;
  assert.deepEqual(await config(owner), {
    method: "GET",
    headers: {},
    expected_statuses: "{[200,300)}",
    follow_redirects: 0,
  });
});

Deno.test("an answer to HEAD has no body to assert, and a plain connection no certificate", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const body = [{ any: [{ status: 200 }, { body: { contains: "ok" } }] }];

  await assert.rejects(add(owner, body, "url => 'http://example.com/', method => 'head'"), {
    message: "assertions look at the body, and an answer to HEAD has none",
    hint: "Use GET.",
  });
  await add(owner, body, "url => 'http://example.com/'");
  await assert.rejects(owner`select uptuple.update_service('a', method => 'HEAD')`, { code: "22023" });
  await assert.rejects(add(owner, [{ certificate_days: { ">": 7 } }], "url => 'http://example.com/'"), {
    message: "assertions ask for the days of a certificate, and 'http://example.com/' has none",
  });
});

Deno.test("each kind of check has the subjects that it can see, and no others", async () => {
  await using database = await emptiedDatabase();
  const subjects: Record<string, object> = {
    status: { status: 200 },
    header: { header: "a", exists: true },
    body: { body: { contains: "a" } },
    json: { json: "$", exists: true },
    latency_ms: { latency_ms: { "<": 1 } },
    certificate_days: { certificate_days: { ">": 1 } },
  };
  const seen: Record<string, string[]> = {};

  for (const url of ["https://x/", "tcp://x:1", "tls://x:1", "dns:x", "certificate://x", "postgresql://x/y"]) {
    seen[url] = [];
    for (const [subject, assertion] of Object.entries(subjects)) {
      const [answer] = await database.owner`
        select uptuple.check_assertions(${
        database.owner.json([assertion] as never)
      }, uptuple.service_kind(${url}), ${url}) as ok`
        .catch((error: Error) => {
          assert.match(error.message, /^assertion 1 looks at \w+, which this check does not have$/);
          return [{ ok: null }];
        });
      if (answer.ok !== null) seen[url]?.push(subject);
    }
  }

  assert.deepEqual(seen, {
    "https://x/": ["status", "header", "body", "json", "latency_ms", "certificate_days"],
    "tcp://x:1": ["body", "json", "latency_ms"],
    "tls://x:1": ["body", "json", "latency_ms", "certificate_days"],
    "dns:x": ["latency_ms"],
    "certificate://x": ["latency_ms", "certificate_days"],
    "postgresql://x/y": ["latency_ms"],
  });
});

Deno.test("an assertion on what a server says makes a connection wait for it, and only as long as it is there", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await add(owner, [{ body: { contains: "220" } }], "url => 'tcp://mail.example.com:25'");
  assert.equal((await config(owner)).expect, true);

  await owner`select uptuple.update_service('a', assertions => '[]')`;
  assert.deepEqual(await config(owner), { expect: false });
});
