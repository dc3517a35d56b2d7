import assert from "node:assert/strict";
import { readConfig } from "../../../src/config.ts";
import { connect } from "../../../src/database/connect.ts";
import { createRuntime } from "../../../src/runtime.ts";
import { testDatabase } from "../../support/database.ts";
import { answer, says, target } from "../../support/targets.ts";
import { until } from "../../support/wait.ts";

const OK = says(answer("200 OK"));

Deno.test("the networks of the environment hold for checks and for webhook posts alike", async () => {
  await using database = await testDatabase();
  await using allowed = await target(OK, { address: "127.0.0.2" });
  await using denied = await target(OK);
  const sql = database.owner;
  await sql`select uptuple.add_channel(name => 'denied', url => ${denied.url})`;
  await sql`select uptuple.add_channel(name => 'allowed', url => ${allowed.url})`;
  await sql`select uptuple.add_service(name => 'denied', url => ${denied.url}, every => '1 hour', failure_threshold => 1)`;
  await sql`select uptuple.add_service(name => 'allowed', url => ${allowed.url}, every => '1 hour')`;

  await using _runtime = runtimeIn(database.url, {
    UPTUPLE_ROLES: "probe,deliver",
    UPTUPLE_NETWORK_POLICY: "strict",
    UPTUPLE_ALLOW_NETWORKS: "127.0.0.2/32",
  });
  await until("both are checked and the notice is tried on both channels", async () => {
    const [row] = await sql`
      select
        (select count(*) from uptuple.result) >= 2
        and (select count(*) from uptuple.delivery where last_attempt_at is not null) >= 2 as yes`;
    return row?.yes;
  });

  const statuses = await sql`select service, status from uptuple.status order by service`;
  assert.deepEqual([...statuses], [{ service: "allowed", status: "UP" }, { service: "denied", status: "DOWN" }]);
  const [refused] = await sql`select reason from uptuple.status where service = 'denied'`;
  assert.match(refused?.reason, /127\.0\.0\.1 is in the denied network 127\.0\.0\.0\/8/);
  await until("the allowed channel was told", () => allowed.requests.some((request) => request.startsWith("POST")));
  assert.equal(denied.requests.length, 0);
  const [delivery] = await sql`
    select last_answer from uptuple.delivery join uptuple.channel on channel.id = channel_id where channel.name = 'denied'`;
  assert.match(JSON.stringify(delivery?.last_answer), /denied network/);
});

/** A runtime in this process with these variables. */
function runtimeIn(url: string, variables: Record<string, string>): AsyncDisposable {
  const config = readConfig((name) => variables[name]);
  const database = connect({ url, maxConnections: 2 });
  const runtime = createRuntime(config, { database, url }, () => undefined);
  const tick = runtime.tick();
  return {
    async [Symbol.asyncDispose]() {
      await runtime.stop();
      await tick;
      await database.close();
    },
  };
}
