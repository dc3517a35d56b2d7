import assert from "node:assert/strict";
import { selfSigned } from "../../support/certificates.ts";
import { testDatabase } from "../../support/database.ts";
import { addHeartbeat, letPass, noticesOf } from "../../support/heartbeats.ts";
import { rawServer } from "../../support/raw_server.ts";
import { replyTo, resolver } from "../../support/resolver.ts";
import { startWorker } from "../../support/runtime.ts";
import { until } from "../../support/wait.ts";

Deno.test("the program checks every kind with the permissions that it is started with, and finds what is overdue", async () => {
  await using database = await testDatabase();
  const { owner } = database;
  await using tcp = await rawServer((socket) => socket.write("220 ready\r\n"));
  await using tls = await rawServer((socket) => socket.write("* OK\r\n"), { certificate: await selfSigned() });
  await using dns = await resolver({
    udp: (query) => replyTo(query, [{ type: "A", name: "www.example.com", data: "192.0.2.1" }]),
  });
  const add = (name: string, url: string, options: Record<string, unknown> = {}, insecure = false) =>
    owner`
      select uptuple.add_service(
        name => ${name}, url => ${url}, options => ${owner.json(options as never)}, insecure => ${insecure}
      )`;
  await add("tcp", `tcp://127.0.0.1:${tcp.port}`, { expect: true });
  await add("tls", `tls://127.0.0.1:${tls.port}`, { expect: true }, true);
  await add("dns", "dns:www.example.com", { resolver: dns.address, answers: ["192.0.2.1"] });
  await owner`select uptuple.add_service('dns of the system', 'dns:uptuple.invalid', timeout => '2 seconds')`;
  await add("certificate", `certificate://127.0.0.1:${tls.port}`, { days: 3 }, true);
  await add("postgresql", "postgresql:${UPTUPLE_SECRET_DSN}");
  await addHeartbeat(owner, "backup");
  await letPass(owner, "backup", "66 minutes");

  await using program = startWorker(database.url, { UPTUPLE_SECRET_DSN: database.url });
  await program.ready;
  await until("every kind has a verdict", async () => {
    const [row] = await owner`select count(*)::integer as n from uptuple.service_state where checked_at is not null`;
    return row.n === 7;
  }, 30_000);

  const rows = await owner<{ service: string; checked_status: string; reason: string }[]>`
    select service, checked_status, reason from uptuple.status order by service`;
  assert.deepEqual(
    rows.map(({ service, checked_status }) => [service, checked_status]),
    [
      ["backup", "DOWN"],
      ["certificate", "UP"],
      ["dns", "UP"],
      // There is no such name (RFC 6761), whether or not a resolver can be reached from here.
      ["dns of the system", "DOWN"],
      ["postgresql", "UP"],
      ["tcp", "UP"],
      ["tls", "UP"],
    ],
    JSON.stringify(rows),
  );
  assert.deepEqual(await noticesOf(owner, "backup"), ["service.failed"]);
  assert.deepEqual([...await owner<object[]>`select * from uptuple.invariant_violations`], []);
});
