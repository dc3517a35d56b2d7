import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addPastService,
  DAY,
  HOUR,
  nowSecond,
  type PastWindow,
  rollUp,
  unroll,
  writePast,
} from "../../support/history.ts";
import { chanceFrom } from "../../support/random.ts";

Deno.test("percentiles are within 5 % of the true ones, and the mean is exact, over fast, slow, steady and jumping services", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const chance = chanceFrom(5);
  const now = await nowSecond(owner);
  const start = now - now % DAY - 2 * DAY;
  const shapes: Record<string, () => number> = {
    fast: () => 0.05 + chance.below(1000) / 5000,
    slow: () => 3000 + chance.below(12_000),
    steady: () => 42,
    jumping: () => chance.percent(50) ? 2 : 800,
    tailed: () => Math.exp(3 + chance.below(1000) / 300) * (chance.percent(3) ? 30 : 1),
  };
  for (const [name, latency] of Object.entries(shapes)) {
    const id = await addPastService(owner, name, 300, start);
    const windows: PastWindow[] = [];
    for (let slot = start; slot < now - 10; slot += 300) {
      windows.push(
        chance.percent(5) ? { slot, status: "DOWN", latency: 19_000 } : { slot, status: "UP", latency: latency() },
      );
    }
    await writePast(owner, id, windows);
  }
  await unroll(owner, start);
  await rollUp(owner);

  for (const name of Object.keys(shapes)) {
    for (const since of [start, start + 7 * HOUR + 1000, now - 5 * HOUR]) {
      const [shown] = await owner`select * from uptuple.percentiles(${name}, to_timestamp(${since}))`;
      const [exact] = await owner`
        select count(*) as windows, avg(latency_ms) as mean,
          percentile_disc(array[0.5, 0.95, 0.99]) within group (order by latency_ms) as percentiles
        from uptuple.result
        join uptuple.service on service.id = result.service_id
        where service.name = ${name} and result.status = 'UP' and result.scheduled_slot >= ${since}`;
      assert.equal(shown.windows, exact.windows);
      assert.ok(Math.abs(shown.mean / exact.mean - 1) < 0.001, `${name}: mean ${shown.mean}, exactly ${exact.mean}`);
      for (const [at, percentile] of ["p50", "p95", "p99"].entries()) {
        const off = shown[percentile] / exact.percentiles[at] - 1;
        assert.ok(
          Math.abs(off) <= 0.05,
          `${name}: ${percentile} ${shown[percentile]}, exactly ${exact.percentiles[at]}`,
        );
      }
    }
  }
});

Deno.test("a latency from nothing to a day has its bucket, and the middle of it is less than 4.5 % away", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;

  const [worst] = await owner`
    select max(abs(uptuple.bucket_ms(uptuple.latency_bucket(latency::real)) / latency - 1)) as off
    from generate_series(1, 5000) n
    cross join lateral (select exp(ln(0.02) + n / 5000.0 * (ln(86400000.0) - ln(0.02)))::float8 as latency) scale`;
  const [ends] = await owner`
    select uptuple.latency_bucket(0) as nothing, uptuple.latency_bucket(0.01) as least, uptuple.latency_bucket(1) as one,
      uptuple.latency_bucket(86400000) as a_day, uptuple.latency_bucket(null) as none`;

  assert.ok(worst.off < 0.045, `${worst.off}`);
  assert.deepEqual({ ...ends }, { nothing: -53, least: -53, one: 0, a_day: 213, none: null });
});

Deno.test("without a window that was up there are no percentiles; a name that is not there is said so", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const hour = await nowSecond(owner) - 2 * HOUR;
  const id = await addPastService(owner, "inventory", 600, hour);
  await writePast(owner, id, [{ slot: Math.ceil(hour / 600) * 600, status: "DOWN", latency: 9 }]);

  const [none] = await owner`select * from uptuple.percentiles('inventory')`;
  assert.deepEqual({ ...none }, { windows: "0", mean: null, p50: null, p95: null, p99: null });
  for (const report of ["percentiles", "uptime", "daily", "downtime", "windows"]) {
    await assert.rejects(owner.unsafe(`select * from uptuple.${report}('nobody')`), {
      code: "UT001",
      message: "there is no service named 'nobody'",
    });
  }
});
