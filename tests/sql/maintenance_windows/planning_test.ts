import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import { cancel, end, passTime, plan } from "../../support/maintenance.ts";
import { addService } from "../../support/services.ts";

/** What the view says of all maintenance. */
async function windows(sql: TestSql): Promise<Record<string, unknown>[]> {
  const rows = await sql<Record<string, unknown>[]>`
    select maintenance, sequence, title, description, state, recurrence, schedule, everything, services, groups, tags, services_covered
    from uptuple.maintenance_windows
    order by maintenance`;
  return rows.map((row) => ({ ...row }));
}

async function states(sql: TestSql): Promise<unknown[]> {
  return (await windows(sql)).map(({ state }) => state);
}

/** What a refusal says: its SQLSTATE and message. */
async function refusal(call: PromiseLike<unknown>): Promise<[code: string, message: string]> {
  try {
    await call;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return [code, message];
  }
  throw new Error("It was not refused.");
}

Deno.test("maintenance that starts now is under way at once, and over when its time has passed", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");

  await owner`select uptuple.plan_maintenance('Move', services => '{shop}', duration => '2 hours', description => 'To another rack.')`;

  assert.deepEqual(await windows(owner), [{
    maintenance: "1",
    sequence: 0,
    title: "Move",
    description: "To another rack.",
    state: "in_progress",
    recurrence: "ONCE",
    schedule: null,
    everything: false,
    services: ["shop"],
    groups: [],
    tags: [],
    services_covered: "1",
  }]);
  await passTime(owner, 2 * 3600);
  assert.deepEqual(await states(owner), ["completed"]);
});

Deno.test("the status of a service says until when it is in maintenance, and which", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await addService(owner, "blog");
  await plan(owner, { services: ["shop"], duration: "1 hour" });
  await owner`select uptuple.plan_maintenance('Later', services => '{shop}', starts_at => clock_timestamp() + interval '30 minutes', duration => '1 hour')`;
  const viewer = await database.connect("uptuple_viewer");

  const rows = await viewer`
    select service, maintenance_title as title, round(extract(epoch from maintenance_until - clock_timestamp()) / 60)::integer as minutes
    from uptuple.status order by service`;

  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { service: "blog", title: null, minutes: null },
    { service: "shop", title: "Maintenance", minutes: 90 },
  ]);
});

Deno.test("maintenance on a day is by the clocks of its zone", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  // The last Sunday of October 2027, on which clocks go back.
  await owner`
    select uptuple.plan_maintenance(everything => true, day => '2027-10-31', from_time => '02:30', until_time => '03:30', time_zone => 'europe/berlin')`;

  const [row] = await owner`select starts_at, ends_at from uptuple.maintenance_windows`;
  assert.deepEqual([row.starts_at.toISOString(), row.ends_at.toISOString()], [
    "2027-10-31T00:30:00.000Z",
    "2027-10-31T02:30:00.000Z",
  ]);
});

Deno.test("weekly maintenance follows the clocks of its zone through both changes of a year", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.plan_maintenance(everything => true, weekdays => '{sunday}', from_time => '02:30', until_time => '03:30', time_zone => 'Europe/Berlin')`;

  const rows = await owner`
    select to_char(lower(span) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as starts, (upper(span) - lower(span))::text as length
    from uptuple.maintenance_window planned
    cross join lateral (
      values ('2026-03-20Z'::timestamptz, '2026-04-06Z'::timestamptz), ('2026-10-17Z', '2026-11-02Z')
    ) stretch (since, until)
    cross join lateral uptuple.recurring_spans(planned, since, until) span`;

  assert.deepEqual(rows.map(({ starts, length }) => `${starts} ${length}`), [
    "2026-03-22 01:30 01:00:00",
    "2026-03-29 01:00 00:30:00",
    "2026-04-05 00:30 01:00:00",
    "2026-10-18 00:30 01:00:00",
    "2026-10-25 00:30 02:00:00",
    "2026-11-01 01:30 01:00:00",
  ]);
});

Deno.test("maintenance by a cron starts as tasks do and lasts as long as it says", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.plan_maintenance(everything => true, cron => '30 2 * * *', duration => '1 hour', time_zone => 'Europe/Berlin')`;

  const rows = await owner`
    select to_char(lower(span) at time zone 'UTC', 'MM-DD HH24:MI') as starts, (upper(span) - lower(span))::text as length
    from uptuple.maintenance_window planned
    cross join lateral (
      values ('2026-03-28Z'::timestamptz, '2026-03-31Z'::timestamptz), ('2026-10-24Z', '2026-10-27Z')
    ) stretch (since, until)
    cross join lateral uptuple.recurring_spans(planned, since, until) span`;

  assert.deepEqual(rows.map(({ starts, length }) => `${starts} ${length}`), [
    "03-28 01:30 01:00:00",
    "03-29 01:00 01:00:00",
    "03-30 00:30 01:00:00",
    "10-24 00:30 01:00:00",
    "10-25 00:30 01:00:00",
    "10-26 01:30 01:00:00",
  ]);
});

Deno.test("recurring maintenance is made some weeks ahead, and an hourly task goes on from there without doing it twice", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.plan_maintenance(everything => true, cron => '0 3 * * *', duration => '1 hour')`;
  const count = async () => {
    const [row] = await owner`
      select count(*)::integer as made, count(distinct during)::integer as different from uptuple.maintenance_occurrence`;
    assert.equal(row.made, row.different);
    return row.made;
  };
  const made = await count();
  assert.ok(made === 60 || made === 61, `${made} are made ahead`);

  const [again] = await owner`select uptuple.extend_maintenance() as made`;
  await passTime(owner, 10 * 86_400);
  const [later] = await owner`select uptuple.extend_maintenance() as made`;

  assert.deepEqual([again.made, later.made], ["0", "10"]);
  assert.equal(await count(), made + 10);
});

Deno.test("the next time of what is rare is known, however far ahead", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.plan_maintenance(everything => true, cron => '0 3 29 2 *', duration => '1 hour')`;

  const [row] =
    await owner`select state, to_char(starts_at at time zone 'UTC', 'MM-DD HH24:MI') as starts from uptuple.maintenance_windows`;
  const [again] = await owner`select uptuple.extend_maintenance() as made`;

  assert.deepEqual([row.state, row.starts, again.made], ["scheduled", "02-29 03:00", "0"]);
});

Deno.test("recurring maintenance that would be under way now begins now", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.plan_maintenance('weekly', everything => true, weekdays => '{MON,TUE,WED,THU,FRI,SAT,SUN}', from_time => '00:00', until_time => '24:00')`;
  await owner`select uptuple.plan_maintenance('cron', everything => true, cron => '0 * * * *', duration => '2 hours')`;

  const rows = await owner`
    select title, state, extract(epoch from clock_timestamp() - starts_at) < 60 as just_begun from uptuple.maintenance_windows order by title`;

  assert.deepEqual(rows.map((row) => ({ ...row })), [
    { title: "cron", state: "in_progress", just_begun: true },
    { title: "weekly", state: "in_progress", just_begun: true },
  ]);
});

Deno.test("a recurrence keeps to its bounds", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`
    select uptuple.plan_maintenance(
      everything => true, cron => '0 3 * * *', duration => '1 hour',
      starts_at => date_trunc('day', now(), 'UTC') + interval '72 hours', ends_at => date_trunc('day', now(), 'UTC') + interval '144 hours'
    )`;

  const [row] = await owner`
    select count(*)::integer as made, min(lower(during)) >= date_trunc('day', now(), 'UTC') + interval '72 hours' as not_before
    from uptuple.maintenance_occurrence`;
  await passTime(owner, 7 * 86_400);
  await owner`select uptuple.extend_maintenance()`;

  assert.deepEqual({ ...row }, { made: 3, not_before: true });
  assert.deepEqual(await states(owner), ["completed"]);
});

Deno.test("ending recurring maintenance early leaves its next time, and cancelling it does not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.plan_maintenance(everything => true, cron => '0 * * * *', duration => '2 hours')`;

  await end(owner, "1");
  assert.deepEqual(await states(owner), ["scheduled"]);
  assert.equal((await refusal(end(owner, "1")))[0], "UT002");

  await cancel(owner, "1");
  assert.deepEqual(await states(owner), ["cancelled"]);
  const rows = await owner`select distinct state from uptuple.maintenance_calendar order by state`;
  assert.deepEqual(rows.map(({ state }) => state), ["cancelled", "completed"]);
  assert.equal((await refusal(cancel(owner, "1")))[0], "UT002");
});

Deno.test("what is once can be moved before it starts, and then only its end", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await plan(owner, { everything: true, startsIn: 3600, duration: "1 hour" });
  const spans = async () => {
    const [row] = await owner`
      select round(extract(epoch from starts_at - clock_timestamp()) / 60)::integer as starts, round(extract(epoch from ends_at - clock_timestamp()) / 60)::integer as ends
      from uptuple.maintenance_windows`;
    return [row.starts, row.ends];
  };

  await owner`select uptuple.change_maintenance(1, starts_at => clock_timestamp() + interval '3 hours')`;
  assert.deepEqual(await spans(), [180, 240]);
  await owner`select uptuple.change_maintenance(1, starts_at => clock_timestamp() - interval '1 day', duration => '30 minutes')`;
  assert.deepEqual(await spans(), [0, 30]);
  assert.equal((await refusal(owner`select uptuple.change_maintenance(1, starts_at => now())`))[0], "UT002");
  await passTime(owner, 3600);
  assert.deepEqual(await states(owner), ["completed"]);
  assert.deepEqual(
    await refusal(owner`select uptuple.change_maintenance(1, duration => '3 hours')`).then(([code]) => code),
    "UT002",
  );
});

Deno.test("a start in the past, given to what is still to come, means now", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await plan(owner, { everything: true, startsIn: 3600, duration: "1 hour" });

  await owner`select uptuple.change_maintenance(1, starts_at => clock_timestamp() - interval '10 minutes', ends_at => clock_timestamp() + interval '1 hour')`;

  const [row] =
    await owner`select state, extract(epoch from clock_timestamp() - starts_at)::float8 as ago from uptuple.maintenance_windows`;
  assert.equal(row.state, "in_progress");
  assert.ok(row.ago < 30);
  assert.equal(
    (await refusal(owner`select uptuple.change_maintenance(1, starts_at => clock_timestamp())`))[0],
    "UT002",
  );
});

Deno.test("recurring maintenance gets another time from its next occurrence on", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.plan_maintenance(everything => true, cron => '0 * * * *', duration => '2 hours')`;

  await owner`select uptuple.change_maintenance(1, cron => '30 4 * * *', title => 'Nightly')`;

  const rows = await owner`
    select state, extract(minute from starts_at at time zone 'UTC')::integer as minute, count(*)::integer as count
    from uptuple.maintenance_calendar where state = 'scheduled' group by 1, 2`;
  assert.equal(rows.length, 1);
  assert.equal(rows[0].minute, 30);
  const [running] = await owner`select state, title, sequence, schedule from uptuple.maintenance_windows`;
  assert.deepEqual({ ...running }, {
    state: "in_progress",
    title: "Nightly",
    sequence: 1,
    schedule: "30 4 * * * for 02:00:00, UTC",
  });
});

Deno.test("the calendar knows an occurrence by the same uid whatever of it is changed, with a number that grows", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await plan(owner, { services: ["shop"], startsIn: 3600 });
  const entry = async () => {
    const [row] = await owner`select uid, sequence, state, title, services from uptuple.maintenance_calendar`;
    return { ...row };
  };
  const before = await entry();

  await owner`select uptuple.change_maintenance(1, title => 'Moved', starts_at => clock_timestamp() + interval '2 hours')`;
  assert.deepEqual(await entry(), { ...before, sequence: 1, title: "Moved" });
  await cancel(owner, "1");
  assert.deepEqual(await entry(), { ...before, sequence: 2, title: "Moved", state: "cancelled" });
});

Deno.test("what is unclear is refused with the cure, and changes nothing", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const refused: [PromiseLike<unknown>, string, RegExp][] = [
    [owner`select uptuple.plan_maintenance(duration => '1 hour')`, "22023", /nothing is chosen/],
    [
      owner`select uptuple.plan_maintenance(everything => true, tags => '{a}', duration => '1 hour')`,
      "22023",
      /everything is asked for/,
    ],
    [
      owner`select uptuple.plan_maintenance(services => '{shops}', duration => '1 hour')`,
      "UT001",
      /no service named 'shops'/,
    ],
    [owner`select uptuple.plan_maintenance(services => '{shop}')`, "22023", /the end of the maintenance is not clear/],
    [owner`select uptuple.plan_maintenance(services => '{shop}', duration => '0')`, "22023", /duration is 00:00:00/],
    [
      owner`select uptuple.plan_maintenance(services => '{shop}', ends_at => now() - interval '1 hour')`,
      "22023",
      /must end later/,
    ],
    [owner`select uptuple.plan_maintenance(services => '{shop}', ends_at => 'infinity')`, "22023", /points in time/],
    [owner`select uptuple.plan_maintenance(services => '{shop}', cron => '0 3 * * *')`, "22023", /a cron needs it/],
    [
      owner`select uptuple.plan_maintenance(services => '{shop}', cron => '* * * * * *', duration => '1 s')`,
      "22023",
      /once a minute/,
    ],
    [
      owner`select uptuple.plan_maintenance(services => '{shop}', cron => '0 3 30 2 *', duration => '1 hour')`,
      "22023",
      /never fires/,
    ],
    [
      owner`select uptuple.plan_maintenance(services => '{shop}', weekdays => '{SUN}', from_time => '02:00')`,
      "22023",
      /these need both/,
    ],
    [
      owner`select uptuple.plan_maintenance(services => '{shop}', weekdays => '{Sonntag}', from_time => '02:00', until_time => '03:00')`,
      "22023",
      /days of the week/,
    ],
    [
      owner`select uptuple.plan_maintenance(services => '{shop}', weekdays => '{SUN}', cron => '0 3 * * *', duration => '1 hour')`,
      "22023",
      /together/,
    ],
    [
      owner`select uptuple.plan_maintenance(services => '{shop}', duration => '1 hour', cron => '0 3 * * *', time_zone => 'UTC+2')`,
      "22023",
      /time_zone/,
    ],
    [owner`select uptuple.end_maintenance(7)`, "UT001", /no maintenance 7/],
    [owner`select uptuple.cancel_maintenance(null)`, "UT001", /no maintenance null/],
  ];

  for (const [call, code, message] of refused) {
    const [refusedCode, refusedMessage] = await refusal(call);
    assert.equal(refusedCode, code, refusedMessage);
    assert.match(refusedMessage, message);
  }
  assert.deepEqual(await windows(owner), []);
});

Deno.test("maintenance of before there are results is refused, since reports of it cannot be counted anew", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`update uptuple.retention set gone_before = clock_timestamp() - interval '30 days' where kind = 'results'`;

  const [code] = await refusal(plan(owner, { everything: true, startsIn: -31 * 86_400 }));

  assert.equal(code, "UT002");
});

Deno.test("operators plan maintenance; viewers see it and may not", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const operator = await database.connect("uptuple_operator");
  const viewer = await database.connect("uptuple_viewer");
  const maintenance = await plan(operator, { services: ["shop"] });
  await operator`select uptuple.change_maintenance(${maintenance}, title => 'Ours')`;

  assert.equal((await refusal(plan(viewer, { services: ["shop"] })))[0], "42501");
  const [seen] = await viewer`select title, state, created_by from uptuple.maintenance_windows`;
  assert.deepEqual({ ...seen }, { title: "Ours", state: "in_progress", created_by: "uptuple_test_operator" });
  assert.equal((await viewer`select from uptuple.maintenance_calendar`).length, 1);
  await end(operator, maintenance);
  assert.equal((await refusal(cancel(operator, maintenance)))[0], "UT002");
});
