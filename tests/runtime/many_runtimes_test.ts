import assert from "node:assert/strict";
import { readConfig } from "../../src/config.ts";
import { connect } from "../../src/database/connect.ts";
import { createRuntime } from "../../src/runtime.ts";
import { testDatabase } from "../support/database.ts";
import { until } from "../support/wait.ts";
import { switchableTarget } from "../support/watched.ts";

Deno.test("ten runtimes on one database share the work with no configuration: each window is probed once", async () => {
  await using database = await testDatabase();
  await using target = switchableTarget();
  await database.owner`
    select uptuple.add_service(name => 'service ' || n, url => ${target.url}, every => '1 second')
    from generate_series(1, 40) n`;
  const runtimes = Array.from({ length: 10 }, () => {
    const config = readConfig((name) => ({ UPTUPLE_ROLES: "probe,deliver" })[name]);
    const inside = connect({ url: database.url, maxConnections: 2 });
    return { config, inside, runtime: createRuntime(config, { database: inside, url: database.url }, () => undefined) };
  });
  const ticks = runtimes.map(({ runtime }) => runtime.tick());

  await until("every runtime has worked, and every service has been probed in three windows", async () => {
    const [row] = await database.owner`
      select count(distinct worker)::integer as workers,
        (select min(windows)::integer from (
          select count(*) as windows from uptuple.result where purpose = 'GRID' group by service_id
        ) per_service) as windows
      from uptuple.result`;
    return row.workers === 10 && row.windows >= 3;
  }, 40_000);
  await Promise.all(runtimes.map(({ runtime }) => runtime.stop()));
  await Promise.all(ticks);
  await Promise.all(runtimes.map(({ inside }) => inside.close()));

  assert.deepEqual([...await database.owner<object[]>`select * from uptuple.invariant_violations`], []);
  const [left] = await database.owner`
    select count(*)::integer as n from uptuple.job where state = 'RUNNING' or state = 'FAILED' or attempts > 1`;
  assert.equal(left.n, 0);
});
