import assert from "node:assert/strict";
import { fail, record } from "../../support/alerts.ts";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { addService } from "../../support/services.ts";

async function badge(
  sql: TestSql,
  service: string,
  kind: string,
  stretch = "24h",
  onlyPublic = false,
): Promise<string> {
  const [row] =
    await sql`select label, message, color from uptuple.badge(${service}, ${kind}, ${stretch}, ${onlyPublic})`;
  return `${row.label} | ${row.message} | ${row.color}`;
}

Deno.test("the status badge has the state and its colour, and grey for what nobody knows", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const name of ["good", "bad", "new", "off"]) await addService(owner, name);
  await record(owner, "good", "UP");
  await fail(owner, "bad");
  await owner`select uptuple.disable_service('off')`;

  assert.equal(await badge(owner, "good", "status"), "status | up | brightgreen");
  assert.equal(await badge(owner, "bad", "status"), "status | down | red");
  assert.equal(await badge(owner, "new", "status"), "status | unknown | lightgrey");
  assert.equal(await badge(owner, "off", "status"), "status | paused | lightgrey");
  assert.equal(await badge(owner, "none", "status"), "status | unknown | lightgrey");
});

/** Windows of the last hour, one a minute, with how many of them failed. */
async function addWindows(sql: TestSql, id: string, windows: number, down: number, latencyMs: number): Promise<void> {
  await sql`select uptuple.ensure_partitions()`;
  await sql`update uptuple.service_active set during = tstzrange(clock_timestamp() - make_interval(mins => ${windows} + 1), null) where service_id = ${id}`;
  await sql`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, region, purpose, status, latency_ms)
    select (second - active.phase_seconds) / 60 * 60 + active.phase_seconds - number * 60, ${id}, clock_timestamp(), 1, 'default', 'GRID',
      case when number <= ${down} then 'DOWN' else 'UP' end, ${latencyMs}
    from uptuple.service_active active
    cross join (select extract(epoch from clock_timestamp())::bigint as second) now
    cross join generate_series(1, ${windows}) number
    where active.service_id = ${id}`;
}

Deno.test("the uptime badge is cut and not rounded, so that 100% never failed", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addWindows(owner, await addService(owner, "good", { every: "1 minute" }), 30, 0, 20);
  await addWindows(owner, await addService(owner, "bad", { every: "1 minute" }), 30, 1, 20);

  assert.equal(await badge(owner, "good", "uptime", "7d"), "uptime 7d | 100% | brightgreen");
  assert.equal(await badge(owner, "bad", "uptime"), "uptime 24h | 96.66% | yellow");
  assert.equal(await badge(owner, "none", "uptime", "90d"), "uptime 90d | unknown | lightgrey");
});

Deno.test("the latency badge is the mean of what was up", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await addWindows(owner, await addService(owner, "fast", { every: "1 minute" }), 10, 0, 42.4);
  await addWindows(owner, await addService(owner, "slow", { every: "1 minute" }), 10, 0, 2345);
  await addService(owner, "new");

  assert.equal(await badge(owner, "fast", "latency"), "latency 24h | 42 ms | brightgreen");
  assert.equal(await badge(owner, "slow", "latency"), "latency 24h | 2.3 s | orange");
  assert.equal(await badge(owner, "new", "latency"), "latency 24h | unknown | lightgrey");
});

Deno.test("for the public, a service that no status page shows is as one that does not exist", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  for (const name of ["shown", "hidden"]) {
    await addService(owner, name);
    await record(owner, name, "UP");
  }
  await owner`select uptuple.add_status_page(services => '{shown}')`;

  assert.equal(await badge(owner, "shown", "status", "24h", true), "status | up | brightgreen");
  for (const name of ["hidden", "none"]) {
    assert.equal(await badge(owner, name, "status", "24h", true), "status | unknown | lightgrey");
    assert.equal(await badge(owner, name, "uptime", "24h", true), "uptime 24h | unknown | lightgrey");
  }
});

Deno.test("a badge that there is not is refused by the name of its argument", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await assert.rejects(badge(owner, "x", "colour"), { code: "22023", message: /^kind is 'colour'/ });
  await assert.rejects(badge(owner, "x", "uptime", "1y"), { code: "22023", message: /^stretch is '1y'/ });
});
