import assert from "node:assert/strict";
import { testDatabase, type TestSql } from "../../support/database.ts";

async function next(sql: TestSql, expression: string, zone: string, after: string): Promise<string | null> {
  const [row] = await sql`select uptuple.cron_next(${expression}, ${zone}, ${after}::timestamptz) as next`;
  return row.next === null ? null : row.next.toISOString().replace(".000Z", "Z");
}

const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Antarctica/Troll", "Australia/Lord_Howe", "Africa/Cairo"];

const EXPRESSIONS = [
  "* * * * *",
  "*/7 * * * *",
  "0 3 * * *",
  "30 2 * * *",
  "15,45 1-2 * * MON-FRI",
  "0 */3 * * *",
  "@monthly",
  "0 0 29 2 *",
  "0 12 L * *",
  "0 0 LW * *",
  "0 12 15W * ?",
  "0 9 * * MON#1,FRIL",
  "0 0 13 * FRI",
  "*/20 30 2 * * *",
  "30 */30 1 * * *",
  "0 15 12 */10 1-8 5",
];

/** Numbers from 0 to 1, the same in each run: a failure can be repeated. */
function* pseudoRandom(seed: number): Generator<number, never> {
  for (let state = seed;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Instants all over 2023 to 2026, half of them close to a change of clocks somewhere. */
function instants(count: number): string[] {
  const random = pseudoRandom(20240331);
  const changes = [
    "2024-03-10T07:00Z",
    "2024-11-03T06:00Z",
    "2024-03-31T01:00Z",
    "2024-10-27T01:00Z",
    "2025-04-24T22:00Z",
  ];
  return Array.from({ length: count }, (_, index) => {
    const change = changes[index % changes.length] ?? "";
    const base = index % 2 === 0 ? Date.parse("2023-01-01Z") : Date.parse(change) - 3 * 3_600_000;
    const span = index % 2 === 0 ? 3 * 365 * 86_400_000 : 6 * 3_600_000;
    return new Date(base + Math.floor(random.next().value * span)).toISOString();
  });
}

Deno.test("the next fire is later than the instant it was asked for, and is the same from any instant up to it", async () => {
  await using database = await testDatabase();
  const broken = await database.owner<Record<string, unknown>[]>`
    select expression, zone, after, fire
    from unnest(${EXPRESSIONS}::text[]) expression,
      unnest(${ZONES}::text[]) zone,
      unnest(${instants(40)}::timestamptz[]) after,
      uptuple.cron_next(expression, zone, after) fire
    where (
      fire > after
      and uptuple.cron_next(expression, zone, fire - interval '1 microsecond') = fire
      and uptuple.cron_next(expression, zone, after + (fire - after) / 2) = fire
      and date_trunc('second', fire) = fire
    ) is not true`;
  assert.deepEqual([...broken], []);
});

Deno.test("the answers are the same whatever the session's TimeZone", async () => {
  await using database = await testDatabase();
  const answers = async () => {
    const [row] = await database.owner`
      select array_agg(extract(epoch from uptuple.cron_next(expression, zone, to_timestamp(after)))::float8 order by expression, zone, after) as fires
      from unnest(${EXPRESSIONS}::text[]) expression,
        unnest(${ZONES}::text[]) zone,
        unnest(${instants(12).map((instant) => Date.parse(instant) / 1000)}::float8[]) after`;
    return row.fires;
  };
  await database.owner`set timezone = 'UTC'`;
  const expected = await answers();
  assert.equal(expected.length, EXPRESSIONS.length * ZONES.length * 12);

  for (const zone of ["America/New_York", "Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe", "Europe/Berlin"]) {
    await database.owner`select set_config('timezone', ${zone}, false)`;
    assert.deepEqual(await answers(), expected, zone);
  }
});

Deno.test("a task of every minute runs once in each real minute of a day of 23, 25 or 24 and a half hours", async () => {
  await using database = await testDatabase();
  const days: [zone: string, date: string, minutes: number][] = [
    ["America/New_York", "2024-03-10", 23 * 60],
    ["America/New_York", "2024-11-03", 25 * 60],
    ["Australia/Lord_Howe", "2024-10-06", 23.5 * 60],
    ["Australia/Lord_Howe", "2024-04-07", 24.5 * 60],
    ["Antarctica/Troll", "2024-03-31", 22 * 60],
    ["Africa/Cairo", "2024-04-26", 23 * 60],
    ["Asia/Kolkata", "2024-03-10", 24 * 60],
  ];
  for (const [zone, date, minutes] of days) {
    const [row] = await database.owner`
      select count(*)::integer as fires
      from uptuple.cron_upcoming('* * * * *', ${zone}, ${date}::date::timestamp at time zone ${zone} - interval '1 s', 1600) fire
      where (fire at time zone ${zone})::date = ${date}::date`;
    assert.equal(row.fires, minutes, `${zone} on ${date}`);
  }
});

Deno.test("a fixed time runs exactly once on each local day of a year, in every zone", async () => {
  await using database = await testDatabase();
  for (const zone of ZONES) {
    for (const expression of ["30 2 * * *", "30 1 * * *", "15 0 * * *", "0 30 23 * * *"]) {
      const days = await database.owner<Record<string, unknown>[]>`
        select day, count(fire)
        from generate_series(date '2024-01-01', date '2024-12-31', interval '1 day') day
        left join uptuple.cron_upcoming(${expression}, ${zone}, '2023-12-30Z', 372) fire
          on (fire at time zone ${zone})::date = day::date
        group by day
        having count(fire) <> 1`;
      assert.deepEqual([...days], [], `${expression} in ${zone}`);
    }
  }
});

Deno.test("in the second pass of an overlap a fixed time waits for what has not been shown yet", async () => {
  await using database = await testDatabase();
  const secondPass = "2021-10-31T03:20:00+02:00";
  assert.equal(await next(database.owner, "45 3 * * *", "Europe/Riga", secondPass), "2021-11-01T01:45:00Z");
  assert.equal(await next(database.owner, "0,45 3,4 * * *", "Europe/Riga", secondPass), "2021-10-31T02:00:00Z");
  assert.equal(await next(database.owner, "*/45 3 * * *", "Europe/Riga", secondPass), "2021-10-31T01:45:00Z");
});

Deno.test("the daylight-saving rule is the same with seconds as without", async () => {
  await using database = await testDatabase();
  for (const [five, six] of [["30 2 * * *", "0 30 2 * * *"], ["*/20 1-3 * * *", "0 */20 1-3 * * *"]] as const) {
    const [row] = await database.owner`
      select
        (select array_agg(fire) from uptuple.cron_upcoming(${five}, 'Europe/Berlin', '2024-03-29Z', 3000) fire)
          = (select array_agg(fire) from uptuple.cron_upcoming(${six}, 'Europe/Berlin', '2024-03-29Z', 3000) fire) as same`;
    assert.equal(row.same, true, five);
  }
});

Deno.test("each second of a minute that the clocks skip is one run at the end of the gap", async () => {
  await using database = await testDatabase();
  const [row] = await database.owner`
    select array_agg(fire order by fire) as fires
    from uptuple.cron_upcoming('* 30 2 * * *', 'America/New_York', '2024-03-10T05:00Z', 2) fire`;
  assert.deepEqual(row.fires, [new Date("2024-03-10T07:00:00Z"), new Date("2024-03-11T06:30:00Z")]);
});

Deno.test("an expression that can never fire has no next fire, and says so at once", async () => {
  await using database = await testDatabase();
  const never = ["0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 0 29W * SUN", "0 0 0 31W * SUN#1", "0 0 0 L-30 2 *"];
  for (const expression of never) {
    const asked = performance.now();
    assert.equal(await next(database.owner, expression, "UTC", "2026-01-01T00:00:00Z"), null, expression);
    assert.ok(performance.now() - asked < 1000, expression);
  }
});

Deno.test("a schedule that only ever falls into a zone's gap never fires there", async () => {
  await using database = await testDatabase();
  const gapOnly = "0 */30 2 ? 3 SUN#2";
  assert.equal(await next(database.owner, gapOnly, "America/New_York", "2026-01-01T00:00:00Z"), null);
  assert.equal(await next(database.owner, gapOnly, "Europe/Berlin", "2026-01-01T00:00:00Z"), "2026-03-08T01:00:00Z");
  await assert.rejects(
    database.owner`select uptuple.cron_validate(${gapOnly}, 'America/New_York')`,
    /cron expression "0 \*\/30 2 \? 3 SUN#2" never fires in America\/New_York/,
  );
});

Deno.test("what fires after 28 years, or after 40, is found", async () => {
  await using database = await testDatabase();
  assert.equal(await next(database.owner, "0 0 0 29 2 MON", "UTC", "2016-03-01T00:00:00Z"), "2044-02-29T00:00:00Z");
  assert.equal(await next(database.owner, "0 0 * 2 MON#5", "UTC", "2072-03-01T00:00:00Z"), "2112-02-29T00:00:00Z");
});

Deno.test("the days that L, W and # name are found in the months that have them", async () => {
  await using database = await testDatabase();
  const cases: [expression: string, after: string, next: string][] = [
    ["0 0 L-3 * *", "2024-02-20T00:00Z", "2024-02-26T00:00:00Z"],
    ["0 0 L-30 * *", "2024-02-01T00:00Z", "2024-03-01T00:00:00Z"],
    ["0 0 L,15 * *", "2024-02-16T00:00Z", "2024-02-29T00:00:00Z"],
    ["0 0 31W * *", "2024-02-01T00:00Z", "2024-03-29T00:00:00Z"],
    ["0 0 30W 6 *", "2024-01-01T00:00Z", "2024-06-28T00:00:00Z"],
    ["0 0 1W 6 *", "2024-01-01T00:00Z", "2024-06-03T00:00:00Z"],
    ["0 0 ? * 5L", "2024-02-01T00:00Z", "2024-02-23T00:00:00Z"],
    ["0 0 ? * SUNL", "2024-02-01T00:00Z", "2024-02-25T00:00:00Z"],
    ["0 0 ? * 7#1", "2024-02-05T00:00Z", "2024-03-03T00:00:00Z"],
    ["0 0 ? * thu#5", "2024-03-01T00:00Z", "2024-05-30T00:00:00Z"],
    ["0 0 ? * FRI-SUN", "2024-02-01T00:00Z", "2024-02-02T00:00:00Z"],
    ["0 0 ? * 5-7", "2024-02-04T00:00Z", "2024-02-09T00:00:00Z"],
    ["0 0 */100,1-7 * MON", "2024-02-06T00:00Z", "2024-03-04T00:00:00Z"],
    ["0 0 * JAN,jul 0", "2024-02-06T00:00Z", "2024-07-07T00:00:00Z"],
  ];
  for (const [expression, after, expected] of cases) {
    assert.equal(await next(database.owner, expression, "UTC", after), expected, expression);
  }
});

Deno.test("steps over weekdays count from Sunday with five fields, as in Vixie's cron, and from Monday with six, as in Spring", async () => {
  await using database = await testDatabase();
  const weekdays = async (expression: string) => {
    const [row] = await database.owner`
      select array_agg(distinct to_char(fire, 'ID')::integer) as days from uptuple.cron_upcoming(${expression}, 'UTC', '2024-01-01Z', 20) fire`;
    return row.days;
  };
  await database.owner`set timezone = 'UTC'`;
  assert.deepEqual(await weekdays("0 0 * * */3"), [3, 6, 7]);
  assert.deepEqual(await weekdays("0 0 0 * * */3"), [1, 4, 7]);
});

Deno.test("a nickname is the expression that it stands for", async () => {
  await using database = await testDatabase();
  const after = "2024-05-15T10:20:00Z";
  const nicknames = {
    "@yearly": "2025-01-01T00:00:00Z",
    "@annually": "2025-01-01T00:00:00Z",
    "@monthly": "2024-06-01T00:00:00Z",
    "@weekly": "2024-05-19T00:00:00Z",
    "@daily": "2024-05-16T00:00:00Z",
    "@midnight": "2024-05-16T00:00:00Z",
    " @Hourly ": "2024-05-15T11:00:00Z",
  };
  for (const [nickname, expected] of Object.entries(nicknames)) {
    assert.equal(await next(database.owner, nickname, "UTC", after), expected, nickname);
  }
});

Deno.test("a zone whose name is also an abbreviation keeps its summer time", async () => {
  await using database = await testDatabase();
  for (const [zone, noon] of [["CET", "10:00"], ["eet", "09:00"], ["MET", "10:00"], ["WET", "11:00"]] as const) {
    assert.equal(await next(database.owner, "0 12 1 7 *", zone, "2026-01-01Z"), `2026-07-01T${noon}:00Z`, zone);
  }
});

Deno.test("cron_upcoming gives as many fires as asked for, in order", async () => {
  await using database = await testDatabase();
  const rows = await database.owner<{ cron_upcoming: Date }[]>`
    select uptuple.cron_upcoming('0 9 * * MON-FRI', 'Europe/Berlin', '2026-03-26T08:00Z', 3)`;
  assert.deepEqual(rows.map((row) => row.cron_upcoming.toISOString()), [
    "2026-03-27T08:00:00.000Z",
    "2026-03-30T07:00:00.000Z",
    "2026-03-31T07:00:00.000Z",
  ]);
  for (const count of [0, 10001]) {
    await assert.rejects(
      database.owner`select uptuple.cron_upcoming('@daily', 'UTC', now(), ${count})`,
      new RegExp(`count must be between 1 and 10000, not ${count}`),
    );
  }
  for (const call of ["cron_next('@daily', 'UTC', 'infinity')", "cron_upcoming('@daily', 'UTC', '-infinity')"]) {
    await assert.rejects(database.owner.unsafe(`select uptuple.${call}`), /after must be a point in time/);
  }
});

Deno.test("a viewer may ask when an expression fires", async () => {
  await using database = await testDatabase();
  const viewer = await database.connect("uptuple_viewer");
  assert.equal(await next(viewer, "@daily", "UTC", "2024-01-01T00:00:00Z"), "2024-01-02T00:00:00Z");
  await viewer`select uptuple.cron_validate('0 3 * * *', 'europe/berlin')`;
});
