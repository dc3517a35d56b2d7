import assert from "node:assert/strict";
import { readConfig } from "../../../src/config.ts";
import { connect } from "../../../src/database/connect.ts";
import { createRuntime } from "../../../src/runtime.ts";
import { testDatabase } from "../../support/database.ts";
import { until } from "../../support/wait.ts";
import { switchableTarget } from "../../support/watched.ts";

/** More than the probes that may begin together, and fewer than those that may be under way. */
const HANGING = 250;

Deno.test("hundreds of targets that hang do not hold up the check of one that answers", async () => {
  await using database = await testDatabase();
  await using hanging = switchableTarget();
  await using healthy = switchableTarget();
  hanging.hang();
  await database.owner`
    select uptuple.add_service(name => 'hanging ' || n, url => ${hanging.url}, every => '1 hour', timeout => '20 seconds')
    from generate_series(1, ${HANGING}::integer) n`;
  await using inside = runtimeOn(database.url);
  const stillHanging = async () => {
    const [row] = await database
      .owner`select count(*)::integer as n from uptuple.job where state = 'RUNNING' and purpose = 'FIRST'`;
    return row.n;
  };
  await until("all of them are being checked", async () => await stillHanging() === HANGING);

  await database.owner`select uptuple.add_service(name => 'healthy', url => ${healthy.url}, every => '1 hour')`;
  await until("the healthy one is up", async () => {
    const [row] = await database.owner`select status from uptuple.status where service = 'healthy'`;
    return row.status === "UP";
  });
  assert.equal(await stillHanging(), HANGING);

  hanging.answer(200);
  await inside.stop();
});

/** A runtime in this process that probes only. */
function runtimeOn(url: string): AsyncDisposable & { stop(): Promise<void> } {
  const config = readConfig((name) => ({ UPTUPLE_ROLES: "probe" })[name]);
  const database = connect({ url, maxConnections: 2 });
  const runtime = createRuntime(config, { database, url }, () => undefined);
  const tick = runtime.tick();
  let stopped: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    await runtime.stop();
    await tick;
    await database.close();
  }

  const stop = () => stopped ??= stopAll();
  return { stop, [Symbol.asyncDispose]: stop };
}
