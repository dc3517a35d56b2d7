import assert from "node:assert/strict";
import { fail, record, recover } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";
import type { StatusPage } from "../../../src/web/status/status_page.ts";

async function read(sql: TestSql, slug = "default"): Promise<StatusPage> {
  const [row] = await sql`select uptuple.status_page(${slug}) as page`;
  assert.notEqual(row.page, null);
  return row.page;
}

Deno.test("a status page shows what was chosen for it, under the names that were chosen, and nothing else", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const operator = await database.connect("uptuple_operator");
  for (const name of ["shop", "checkout", "blog", "secret"]) await addService(operator, name);
  await operator`select uptuple.update_service('shop', group_name => 'sales')`;
  await operator`select uptuple.update_service('checkout', group_name => 'sales')`;
  await operator`select uptuple.add_status_page(title => 'Example', groups => '{sales}', services => '{blog}')`;
  await operator`select uptuple.show_on_status_page(service => 'blog', as_name => 'The blog', place => -1)`;
  await operator`select uptuple.show_on_status_page(group_name => 'sales', as_name => 'Sales')`;
  await record(owner, "blog", "UP");
  await fail(owner, "checkout");
  await fail(owner, "secret");

  const page = await read(await database.connect("uptuple_viewer"));

  assert.equal(page.page.title, "Example");
  assert.deepEqual(page.components.map(({ name, group, status }) => [name, group, status]), [
    ["The blog", null, "operational"],
    ["checkout", "Sales", "major_outage"],
    ["shop", "Sales", "unknown"],
  ]);
  assert.deepEqual(page.incidents.map(({ component }) => component.name), ["checkout"]);
  const text = JSON.stringify(page);
  for (const hidden of ["secret", "127.0.0.1", "it is DOWN", "manual"]) assert.ok(!text.includes(hidden), hidden);
});

Deno.test("a group's later services appear by themselves, and what is hidden or removed goes", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.add_status_page(groups => '{sales}')`;
  assert.deepEqual((await read(owner)).components, []);
  await owner`select uptuple.add_service(name => 'shop', url => 'http://127.0.0.1:1/', group_name => 'sales')`;
  assert.deepEqual((await read(owner)).components.map(({ name }) => name), ["shop"]);

  await owner`select uptuple.remove_service('shop')`;
  assert.deepEqual((await read(owner)).components, []);
  await owner`select uptuple.add_service(name => 'shop', url => 'http://127.0.0.1:1/', group_name => 'sales')`;
  const [hidden] = await owner`select uptuple.hide_from_status_page(group_name => 'sales') as was_there`;
  assert.equal(hidden.was_there, true);
  assert.deepEqual((await read(owner)).components, []);
});

Deno.test("an incident shows what was written for the public, oldest first, and who wrote it stays inside", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`select uptuple.add_status_page(services => '{shop}')`;
  const incident = await fail(owner, "shop");
  await owner`select uptuple.post_update(${incident}, 'investigating', 'We are looking.')`;
  await owner`select uptuple.post_update(${incident}, 'identified', 'Bob pulled the plug.', public => false)`;
  const [row] = await owner`select uptuple.post_update(${incident}, 'identified', 'Teh plug.') as id`;
  await owner`select uptuple.change_update(${row.id}, 'The plug was out.')`;
  await recover(owner, "shop");
  await owner`select uptuple.post_update(${incident}, 'POSTMORTEM', 'It will not happen again.')`;

  const [shown] = (await read(owner)).incidents;

  assert.notEqual(shown?.closed_at, null);
  assert.deepEqual(shown?.updates.map(({ status, body }) => `${status}: ${body}`), [
    "investigating: We are looking.",
    "identified: The plug was out.",
    "postmortem: It will not happen again.",
  ]);
  assert.deepEqual(shown?.updates.map(({ changed_at }) => changed_at !== null), [false, true, false]);
  assert.ok(!JSON.stringify(shown).includes("postgres"));
});

Deno.test("incidents stay for 14 days after their end", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`select uptuple.add_status_page(services => '{shop}')`;
  await fail(owner, "shop");
  await recover(owner, "shop");
  await owner`update uptuple.incident set closed_at = clock_timestamp() - interval '13 days 23 hours'`;
  assert.equal((await read(owner)).incidents.length, 1);

  await owner`update uptuple.incident set closed_at = clock_timestamp() - interval '14 days 1 minute'`;

  assert.equal((await read(owner)).incidents.length, 0);
});

Deno.test("what a page says is the same while nothing changes", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`select uptuple.add_status_page(services => '{shop}')`;
  await fail(owner, "shop");

  const before = await read(owner);
  await record(owner, "shop", "DOWN");

  assert.deepEqual(await read(owner), before);
  await recover(owner, "shop");
  assert.ok(Date.parse((await read(owner)).page.updated_at) > Date.parse(before.page.updated_at));
});

Deno.test("a page of a name that does not exist is null, and changing one says what there is to do", async () => {
  await using database = await testDatabase();
  const { owner } = database;

  const [row] =
    await owner`select uptuple.status_page('nowhere') as page, uptuple.status_page_history('nowhere') as history`;

  assert.deepEqual({ ...row }, { page: null, history: {} });
  await assert.rejects(owner`select uptuple.update_status_page('nowhere', title => 'x')`, {
    code: "UT001",
    message: "there is no status page 'nowhere'",
  });
});

Deno.test("the past of a page has the days in which something was expected, with their windows", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  const id = await addService(owner, "shop", { every: "1 hour" });
  await owner`select uptuple.add_status_page(services => '{shop}')`;
  await owner`update uptuple.service_active set during = tstzrange(clock_timestamp() - interval '3 days', null)`;
  await owner`update uptuple.roll_up_mark set rolled_from = rolled_from - 5 * 86400, rolled_until = rolled_until - 5 * 86400`;
  await owner`select uptuple.ensure_partitions((extract(epoch from clock_timestamp()) - 3 * 86400)::bigint, extract(epoch from clock_timestamp())::bigint)`;
  await owner`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, region, purpose, status)
    select slot, ${id}, clock_timestamp(), 1, 'default', 'GRID', case when number <= 6 then 'DOWN' else 'UP' end
    from uptuple.service_active active
    cross join generate_series(1, 20) number
    cross join lateral (
      select (extract(epoch from clock_timestamp())::bigint / 86400 - 1) * 86400 + active.phase_seconds + number * 3600 as slot
    ) given`;

  const [row] = await owner`select uptuple.status_page_history() as history`;
  const [past] = Object.values(row.history as Record<string, Record<string, number[]>>);

  assert.ok(past !== undefined);
  const yesterday = past.days_ago?.indexOf(1) ?? -1;
  assert.deepEqual([past.day_expected, past.day_up, past.day_down].map((windows) => windows?.[yesterday]), [24, 14, 6]);
  assert.equal(past.uptime, 0.7);
  assert.ok(Number(past.coverage) < 0.5);
});

const REFUSED: [string, string, RegExp][] = [
  [
    "a slug with capitals",
    `select uptuple.add_status_page(slug => 'Eu')`,
    /^slug is 'Eu', which is no part of an address/,
  ],
  ["a slug with a slash", `select uptuple.add_status_page(slug => 'a/b')`, /^slug is 'a\/b'/],
  ["the slug of another address", `select uptuple.add_status_page(slug => 'logo')`, /^slug is 'logo'/],
  ["a page without a title", `select uptuple.add_status_page(title => '')`, /^title/],
  ["a second page of a name", `select uptuple.add_status_page()`, /^there is already a status page 'default'/],
  ["an unknown service", `select uptuple.show_on_status_page(service => 'nope')`, /there is no service named 'nope'/],
  [
    "a service and a group",
    `select uptuple.show_on_status_page(service => 'shop', group_name => 'g')`,
    /both a service and a group/,
  ],
  ["neither", `select uptuple.show_on_status_page()`, /neither a service and a group/],
  [
    "a logo that is SVG",
    `select uptuple.set_status_page_logo('default', convert_to('<svg/>', 'UTF8'))`,
    /^image is neither PNG/,
  ],
  ["an update of no incident", `select uptuple.post_update(7, 'resolved', 'x')`, /^there is no incident 7/],
  ["an unknown word", `select uptuple.post_update(1, 'fixed', 'x')`, /^status is 'fixed'/],
  ["an empty text", `select uptuple.post_update(1, 'resolved', E' \\n')`, /^body has 2 characters/],
  ["a change of no update", `select uptuple.change_update(7, 'x')`, /^there is no update 7/],
];
Deno.test("what cannot be shown is refused when it is written, with the argument and the cure", async (t) => {
  await using database = await testDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  await owner`select uptuple.add_status_page()`;
  for (const [what, statement, message] of REFUSED) {
    await t.step(what, async () => {
      await assert.rejects(owner.unsafe(statement), (error: { message: string; hint?: string }) => {
        assert.match(error.message, message);
        assert.ok((error.hint ?? "") !== "", "there is a hint");
        return true;
      });
    });
  }
});

Deno.test("a logo is known by its first bytes", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await owner`select uptuple.add_status_page()`;
  const images: [string, string][] = [
    ["89504e470d0a1a0a00", "image/png"],
    ["ffd8ffe000", "image/jpeg"],
    ["47494638396100", "image/gif"],
    ["524946460000000057454250", "image/webp"],
  ];
  for (const [hex, type] of images) {
    await owner`select uptuple.set_status_page_logo('default', decode(${hex}, 'hex'))`;
    const [logo] = await owner`select encode(image, 'hex') as image, type from uptuple.status_page_logo('default')`;
    assert.deepEqual({ ...logo }, { image: hex, type });
  }
  await owner`select uptuple.set_status_page_logo('default', null)`;
  assert.deepEqual([...await owner`select * from uptuple.status_page_logo('default')`], []);
});
