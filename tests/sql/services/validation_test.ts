import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";

/** An argument of add_service in SQL, the message of its refusal, and its hint. */
type Refusal = [argument: string, message: string, hint: string];

const LONG = "x".repeat(201);

const REFUSALS: Refusal[] = [
  [
    "name => null",
    "name is null, and must be 1 to 200 characters without control characters or blanks at its ends",
    "For example name => 'inventory'.",
  ],
  [
    "name => ''",
    "name is '', and must be 1 to 200 characters without control characters or blanks at its ends",
    "For example name => 'inventory'.",
  ],
  [
    "name => ' inventory'",
    "name is ' inventory', and must be 1 to 200 characters without control characters or blanks at its ends",
    "For example name => 'inventory'.",
  ],
  [
    `name => '${LONG}'`,
    `name is '${LONG}', and must be 1 to 200 characters without control characters or blanks at its ends`,
    "For example name => 'inventory'.",
  ],
  [
    "name => E'a\\tb'",
    "name is 'a\tb', and must be 1 to 200 characters without control characters or blanks at its ends",
    "For example name => 'inventory'.",
  ],
  [
    "every => null",
    "every is null, and must be whole seconds from 1 second to 1 day",
    "For example every => '30 seconds'.",
  ],
  [
    "every => '0 seconds'",
    "every is 00:00:00, and must be whole seconds from 1 second to 1 day",
    "For example every => '30 seconds'.",
  ],
  [
    "every => '-30 seconds'",
    "every is -00:00:30, and must be whole seconds from 1 second to 1 day",
    "For example every => '30 seconds'.",
  ],
  [
    "every => '1.5 seconds'",
    "every is 00:00:01.5, and must be whole seconds from 1 second to 1 day",
    "For example every => '30 seconds'.",
  ],
  [
    "every => '25 hours'",
    "every is 25:00:00, and must be whole seconds from 1 second to 1 day",
    "For example every => '30 seconds'.",
  ],
  [
    "every => '1 month'",
    "every is 1 mon, and must be whole seconds from 1 second to 1 day",
    "For example every => '30 seconds'.",
  ],
  [
    "timeout => '31 seconds', every => '30 seconds'",
    "timeout is 00:00:31, and must be from 100 ms to the smaller of the interval (00:00:30) and 20 seconds",
    "Leave timeout out for the smaller of the interval and 10 seconds.",
  ],
  [
    "timeout => '6 seconds', every => '5 seconds'",
    "timeout is 00:00:06, and must be from 100 ms to the smaller of the interval (00:00:05) and 20 seconds",
    "Leave timeout out for the smaller of the interval and 10 seconds.",
  ],
  [
    "timeout => '99 milliseconds'",
    "timeout is 00:00:00.099, and must be from 100 ms to the smaller of the interval (00:00:30) and 20 seconds",
    "Leave timeout out for the smaller of the interval and 10 seconds.",
  ],
  [
    "method => null",
    "method null is not one that can be sent",
    "Use one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, PROPFIND.",
  ],
  [
    "method => 'TRACE'",
    "method 'TRACE' is not one that can be sent",
    "Use one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, PROPFIND.",
  ],
  [
    "method => 'CONNECT'",
    "method 'CONNECT' is not one that can be sent",
    "Use one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, PROPFIND.",
  ],
  [
    "headers => null",
    "headers must be a JSON object of names and values",
    `For example headers => '{"Accept": "application/json"}'.`,
  ],
  [
    `headers => '["Accept"]'`,
    "headers must be a JSON object of names and values",
    `For example headers => '{"Accept": "application/json"}'.`,
  ],
  [
    `headers => '{"Host": "a", "host": "b"}'`,
    "headers has a name more than once, in different case",
    "Case does not matter in the name of a header; leave one of them out.",
  ],
  [
    `headers => '{"Bad Name": "x"}'`,
    "headers has the name 'Bad Name', which is not a header name",
    "Header names are letters, digits and hyphens.",
  ],
  [
    `headers => '{"": "x"}'`,
    "headers has the name '', which is not a header name",
    "Header names are letters, digits and hyphens.",
  ],
  [
    `headers => '{"X-A": 1}'`,
    "headers has a value for 'X-A' that cannot be sent",
    "Header values are strings of Latin-1 characters, without line breaks or control characters.",
  ],
  [
    `headers => '{"X-A": "a\\r\\nX-B: b"}'`,
    "headers has a value for 'X-A' that cannot be sent",
    "Header values are strings of Latin-1 characters, without line breaks or control characters.",
  ],
  [
    `headers => '{"X-A": "在庫"}'`,
    "headers has a value for 'X-A' that cannot be sent",
    "Header values are strings of Latin-1 characters, without line breaks or control characters.",
  ],
  [
    `headers => '{"Content-Length": "5"}'`,
    "headers must not set 'Content-Length'",
    "The probe frames its own messages; leave this header out.",
  ],
  [
    `headers => '{"transfer-encoding": "chunked"}'`,
    "headers must not set 'transfer-encoding'",
    "The probe frames its own messages; leave this header out.",
  ],
  [
    "method => 'HEAD', body => 'x'",
    "body cannot be sent with the method HEAD",
    "Leave body out, or use GET, POST, PUT, PATCH or DELETE.",
  ],
  ["method => 'POST', body => repeat('x', 65537)", "body has 65537 bytes", "A body may have up to 65536 bytes."],
  [
    "expected_statuses => null",
    "expected_statuses is empty, so no answer could ever be right",
    "Write statuses from 100 to 599, such as '200-299, 401'.",
  ],
  [
    "expected_statuses => ''",
    "expected_statuses is empty, so no answer could ever be right",
    "Write statuses from 100 to 599, such as '200-299, 401'.",
  ],
  [
    "expected_statuses => '2xx'",
    "expected_statuses has '2xx', which is neither a status nor a range",
    "Write statuses from 100 to 599, such as '200-299, 401'.",
  ],
  [
    "expected_statuses => '299-200'",
    "expected_statuses has '299-200', which is neither a status nor a range",
    "Write statuses from 100 to 599, such as '200-299, 401'.",
  ],
  [
    "expected_statuses => '200, 600'",
    "expected_statuses has '600', which is neither a status nor a range",
    "Write statuses from 100 to 599, such as '200-299, 401'.",
  ],
  [
    "failure_threshold => 0",
    "failure_threshold is 0, and must be between 1 and 100",
    "3 means that the third DOWN in a row opens an incident.",
  ],
  [
    "recovery_threshold => 101",
    "recovery_threshold is 101, and must be between 1 and 100",
    "1 means that the first UP closes an incident.",
  ],
  [
    "confirm_every => '0.5 seconds'",
    "confirm_every is 00:00:00.5, and must be whole seconds from 1 second to 1 day",
    "Leave it out for the smaller of the interval and 30 seconds.",
  ],
  [
    "confirm_every => '2 days'",
    "confirm_every is 2 days, and must be whole seconds from 1 second to 1 day",
    "Leave it out for the smaller of the interval and 30 seconds.",
  ],
  [
    "follow_redirects => null",
    "follow_redirects is null, and must be between 0 and 5",
    "0 means that a redirect is the answer.",
  ],
  [
    "follow_redirects => 6",
    "follow_redirects is 6, and must be between 0 and 5",
    "0 means that a redirect is the answer.",
  ],
  [
    `group_name => '${LONG}'`,
    `group_name is '${LONG}', and must be 1 to 200 characters without control characters or blanks at its ends`,
    "For example group_name => 'inventory'.",
  ],
  ["tags => null", "tags must be up to 100 words, none of them empty", "For example tags => '{payments,eu}'."],
  [`tags => '{"a",""}'`, "tags must be up to 100 words, none of them empty", "For example tags => '{payments,eu}'."],
  [`tags => '{a,null}'`, "tags must be up to 100 words, none of them empty", "For example tags => '{payments,eu}'."],
  [
    "regions => null",
    "regions is null, and must name exactly one region",
    "A second region needs quorum rules, which do not exist yet. Names are up to 63 letters, digits, dots, hyphens and underscores.",
  ],
  [
    "regions => '{}'",
    "regions is {}, and must name exactly one region",
    "A second region needs quorum rules, which do not exist yet. Names are up to 63 letters, digits, dots, hyphens and underscores.",
  ],
  [
    `regions => '{"eu west"}'`,
    `regions is {"eu west"}, and must name exactly one region`,
    "A second region needs quorum rules, which do not exist yet. Names are up to 63 letters, digits, dots, hyphens and underscores.",
  ],
];

Deno.test("add_service refuses each argument that cannot work, names it, quotes the value and says the cure", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  for (const [argument, message, hint] of REFUSALS) {
    const others = [["name", "'inventory'"], ["url", "'http://127.0.0.1/'"]]
      .filter(([name]) => !argument.startsWith(`${name} =>`))
      .map(([name, value]) => `${name} => ${value}`);
    await t.step(argument.slice(0, 60), async () => {
      await assert.rejects(owner.unsafe(`select uptuple.add_service(${[argument, ...others].join(", ")})`), {
        code: "22023",
        message,
        hint,
      });
    });
  }

  const [rows] = await owner`select count(*)::integer from uptuple.service`;
  assert.equal(rows.count, 0);
});

Deno.test("update_service refuses what add_service refuses, and changes nothing", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'inventory', url => 'http://127.0.0.1/')`;
  const rows = async () => [
    ...await owner<object[]>`select * from uptuple.service join uptuple.service_revision on service_id = id`,
  ];
  const before = await rows();

  const onlyAdd = /^(regions|name) =>|=> null/;
  for (const [argument, message, hint] of REFUSALS.filter(([argument]) => !onlyAdd.test(argument))) {
    await t.step(argument.slice(0, 60), async () => {
      await assert.rejects(owner.unsafe(`select uptuple.update_service('inventory', ${argument})`), {
        code: "22023",
        message,
        hint,
      });
    });
  }
  await t.step("new_name", async () => {
    await assert.rejects(owner`select uptuple.update_service('inventory', new_name => '')`, {
      code: "22023",
      message: /^new_name is ''/,
    });
  });

  assert.deepEqual(await rows(), before);
});

Deno.test("methods are taken in any case and stored as they are sent", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await owner`select uptuple.add_service(name => 'a', url => 'http://127.0.0.1/', method => 'patch', body => '{}')`;
  await owner`select uptuple.add_service(name => 'b', url => 'http://127.0.0.1/', method => 'Get', body => 'a GET may have a body')`;

  const methods = await owner<{ method: string }[]>`
    select config ->> 'method' as method from uptuple.service_revision order by service_id`;
  assert.deepEqual(methods.map((row) => row.method), ["PATCH", "GET"]);
});

Deno.test("header values may hold all that can be sent: tabs, Latin-1 and secrets", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const headers = { "X-A": "caf\u00e9 \t~", "X-B": "Bearer ${UPTUPLE_SECRET_TOKEN}", "X-C": "" };

  await owner`select uptuple.add_service(name => 'a', url => 'http://127.0.0.1/', headers => ${owner.json(headers)})`;

  const [stored] = await owner`select config -> 'headers' as headers from uptuple.service_revision`;
  assert.deepEqual(stored.headers, headers);
});

Deno.test("the bounds themselves are allowed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  await owner`
    select uptuple.add_service(
      name => 'shortest', url => 'http://127.0.0.1/', every => '1 second', timeout => '1 second', failure_threshold => 1,
      recovery_threshold => 100, confirm_every => '1 second', follow_redirects => 0
    )`;
  await owner`
    select uptuple.add_service(
      name => ${
    "é".repeat(200)
  }, url => 'http://127.0.0.1/', every => '1 day', timeout => '20 seconds', failure_threshold => 100,
      confirm_every => '1 day', follow_redirects => 5, group_name => ${"g".repeat(200)}, expected_statuses => '100-599',
      method => 'POST', body => ${"x".repeat(65536)}
    )`;

  const rows = await owner<object[]>`
    select interval_seconds, timeout_ms from uptuple.service join uptuple.service_revision on service_id = id order by id`;
  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { interval_seconds: 1, timeout_ms: 1000 },
    { interval_seconds: 86400, timeout_ms: 20000 },
  ]);
});

Deno.test("the default timeout is ten seconds, or the interval if that is shorter", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'a', url => 'http://127.0.0.1/', every => '5 seconds')`;
  await owner`select uptuple.add_service(name => 'b', url => 'http://127.0.0.1/', every => '1 hour')`;

  const rows = await owner<
    { timeout_ms: number }[]
  >`select timeout_ms from uptuple.service_revision order by service_id`;
  assert.deepEqual(rows.map((row) => row.timeout_ms), [5000, 10000]);
});
