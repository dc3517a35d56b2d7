import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { sign, signingKey } from "../../../src/alerts/signature.ts";
import { type ExampleReceiver, type ReceivedNotice, startReceiver } from "../../../scripts/example_receiver.ts";
import { type TestDatabase, testDatabase } from "../../support/database.ts";
import { until } from "../../support/wait.ts";
import { cuttableWire } from "../../support/wire.ts";

const ID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
const KEY = `whsec_${Buffer.from("twenty-four bytes or so!").toString("base64")}`;
const OTHER_KEY = `whsec_${Buffer.from("a key that comes after it").toString("base64")}`;

/** A notice's body that says which one it is. */
function bodyOf(service: string): string {
  return JSON.stringify({
    type: "service.failed",
    timestamp: "2026-01-02T03:04:05Z",
    data: { service, reason: "caf\u00e9" },
  });
}

/** Posts, and gives the answer's status. */
async function send(
  receiver: ExampleReceiver,
  body: BodyInit,
  headers: Record<string, string> = { "webhook-id": ID },
): Promise<number> {
  const response = await fetch(receiver.url, { method: "POST", headers, body });
  await response.body?.cancel();
  return response.status;
}

/** What is stored, in the order in which it came. */
async function stored(database: TestDatabase): Promise<{ event_id: string; body: string; posts: number }[]> {
  return [
    ...await database.owner<{ event_id: string; body: string; posts: number }[]>`
    select event_id, body, posts from example_receiver.notice order by arrival`,
  ];
}

Deno.test("a notice is stored as it came when the receiver says so", async () => {
  await using database = await testDatabase({ migrated: false });
  await using receiver = await startReceiver({ port: 0, url: database.url });
  assert.equal(await send(receiver, bodyOf("one"), { "webhook-id": "a" }), 200);
  assert.deepEqual(await stored(database), [{ event_id: "a", body: bodyOf("one"), posts: 1 }]);
  assert.equal(await send(receiver, bodyOf("two"), { "webhook-id": "b" }), 200);
  assert.deepEqual((await stored(database)).map(({ event_id }) => event_id), ["a", "b"]);
});

Deno.test("a notice that comes again is accepted, and neither stored nor acted on again", async () => {
  await using database = await testDatabase({ migrated: false });
  const notices: ReceivedNotice[] = [];
  await using receiver = await startReceiver({
    port: 0,
    url: database.url,
    onNotice: (notice) => notices.push(notice),
  });
  assert.deepEqual([await send(receiver, bodyOf("one")), await send(receiver, bodyOf("one"))], [200, 200]);
  assert.deepEqual(await stored(database), [{ event_id: ID, body: bodyOf("one"), posts: 2 }]);
  assert.deepEqual(notices.map(({ data }) => data.service), ["one"]);
});

Deno.test("another notice under a known id is refused for good, and the first one stays", async () => {
  await using database = await testDatabase({ migrated: false });
  await using receiver = await startReceiver({ port: 0, url: database.url });
  assert.equal(await send(receiver, bodyOf("one")), 200);
  assert.equal(await send(receiver, bodyOf("another")), 409);
  assert.equal(await send(receiver, `${bodyOf("one")} `), 409);
  assert.equal(await send(receiver, bodyOf("one")), 200);
  assert.deepEqual(await stored(database), [{ event_id: ID, body: bodyOf("one"), posts: 4 }]);
});

Deno.test("copies of a notice that come at once are stored once and all accepted", async () => {
  await using database = await testDatabase({ migrated: false });
  const notices: ReceivedNotice[] = [];
  const options = { port: 0, url: database.url, onNotice: (notice: ReceivedNotice) => void notices.push(notice) };
  await using one = await startReceiver(options);
  await using other = await startReceiver(options);
  const statuses = await Promise.all(
    [one, other, one, other, one, other].map((receiver) => send(receiver, bodyOf("one"))),
  );
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200]);
  assert.deepEqual(await stored(database), [{ event_id: ID, body: bodyOf("one"), posts: 6 }]);
  assert.equal(notices.length, 1);
});

Deno.test("a copy that comes while the first one is being stored waits for it", async () => {
  await using database = await testDatabase({ migrated: false });
  await using receiver = await startReceiver({ port: 0, url: database.url });
  const first = await database.connect();
  let answered = false;
  const copy = await first.begin(async (sql) => {
    await sql`insert into example_receiver.notice (event_id, body) values (${ID}, ${bodyOf("one")})`;
    const sending = send(receiver, bodyOf("one")).finally(() => answered = true);
    await until("the copy waits", async () => {
      const [row] = await database.owner`
        select count(*)::integer as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return row.waiting === 1;
    });
    assert.equal(answered, false);
    return { sending };
  });
  assert.equal(await copy.sending, 200);
  assert.deepEqual(await stored(database), [{ event_id: ID, body: bodyOf("one"), posts: 2 }]);
});

Deno.test("of two notices that claim the same id at once, one is stored and the other refused", async () => {
  await using database = await testDatabase({ migrated: false });
  await using receiver = await startReceiver({ port: 0, url: database.url });
  const statuses = await Promise.all([send(receiver, bodyOf("one")), send(receiver, bodyOf("two"))]);
  assert.deepEqual(statuses.toSorted(), [200, 409]);
  const [notice, ...others] = await stored(database);
  assert.equal(notice?.body, bodyOf(statuses[0] === 200 ? "one" : "two"));
  assert.deepEqual(others, []);
});

Deno.test("a receiver that dies between storing and answering has the notice once when it comes again", async () => {
  await using database = await testDatabase({ migrated: false });
  const script = `
    import { startReceiver } from ${
    JSON.stringify(new URL("../../../scripts/example_receiver.ts", import.meta.url).href)
  };
    const receiver = await startReceiver({
      port: 0,
      url: Deno.env.get("RECEIVER_DATABASE_URL"),
      onNotice: () => Deno.kill(Deno.pid, "SIGKILL"),
    });
    console.log(receiver.url);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", script],
    env: { RECEIVER_DATABASE_URL: database.url },
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const url = (await lines.read()).value?.trim() ?? "";

  await assert.rejects(fetch(url, { method: "POST", headers: { "webhook-id": ID }, body: bodyOf("one") }));
  assert.equal((await child.status).signal, "SIGKILL");
  await lines.cancel();
  assert.deepEqual(await stored(database), [{ event_id: ID, body: bodyOf("one"), posts: 1 }]);

  const notices: ReceivedNotice[] = [];
  await using heir = await startReceiver({ port: 0, url: database.url, onNotice: (notice) => notices.push(notice) });
  assert.equal(await send(heir, bodyOf("one")), 200);
  assert.deepEqual(await stored(database), [{ event_id: ID, body: bodyOf("one"), posts: 2 }]);
  assert.deepEqual(notices, []);
});

Deno.test("a receiver whose database is away asks to try again later", async () => {
  await using database = await testDatabase({ migrated: false });
  const wire = cuttableWire(database.url);
  await using receiver = await startReceiver({ port: 0, url: wire.url });
  await wire[Symbol.asyncDispose]();
  assert.equal(await send(receiver, bodyOf("one")), 503);
  assert.deepEqual(await stored(database), []);
});

Deno.test("with a signing secret only what is signed by it, for now, is stored", async () => {
  await using database = await testDatabase({ migrated: false });
  await using receiver = await startReceiver({ port: 0, url: database.url, signingSecret: KEY });
  const now = Math.floor(Date.now() / 1000);
  const signed = async (keys: string[], timestamp = now, id = ID, body = bodyOf("one")) => ({
    "webhook-id": ID,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": await sign(
      { id, timestamp, body: new TextEncoder().encode(body) },
      keys.map((key) => signingKey(key, "key")),
    ),
  });
  const refused = [
    { "webhook-id": ID },
    { ...await signed([KEY]), "webhook-signature": "" },
    { ...await signed([KEY]), "webhook-signature": "v1," },
    { ...await signed([KEY]), "webhook-signature": `v2,${(await signed([KEY]))["webhook-signature"].slice(3)}` },
    { ...await signed([KEY]), "webhook-timestamp": String(now + 1) },
    { ...await signed([KEY]), "webhook-timestamp": "" },
    await signed([OTHER_KEY]),
    await signed([KEY], now - 400),
    await signed([KEY], now + 400),
    await signed([KEY], now, "another id"),
    await signed([KEY], now, ID, bodyOf("another")),
  ];
  for (const headers of refused) {
    assert.equal(await send(receiver, bodyOf("one"), headers), 401, JSON.stringify(headers));
  }
  assert.deepEqual(await stored(database), []);

  assert.equal(await send(receiver, bodyOf("one"), await signed([KEY])), 200);
  assert.equal(await send(receiver, bodyOf("one"), await signed([OTHER_KEY, KEY], now - 200)), 200);
  assert.equal((await stored(database)).length, 1);
});

Deno.test("what is no notice is refused with a status that tells the sender not to try again", async () => {
  await using database = await testDatabase({ migrated: false });
  await using receiver = await startReceiver({ port: 0, url: database.url });
  const id = { "webhook-id": ID };
  assert.equal(await send(receiver, bodyOf("one"), {}), 400);
  assert.equal(await send(receiver, "", id), 400);
  assert.equal(await send(receiver, "not JSON", id), 400);
  assert.equal(await send(receiver, "null", id), 400);
  assert.equal(await send(receiver, `{"type": "service.failed"}`, id), 400);
  assert.equal(await send(receiver, new Uint8Array([0x22, 0xff, 0x22]), id), 400);
  assert.equal(await send(receiver, JSON.stringify("x".repeat(70_000)), id), 413);
  assert.equal((await fetch(receiver.url)).status, 405);
  assert.deepEqual(await stored(database), []);
});

Deno.test("hostile text in a notice is stored as it came", async () => {
  await using database = await testDatabase({ migrated: false });
  await using receiver = await startReceiver({ port: 0, url: database.url });
  const body =
    `{"type": "service.failed", "data": {"service": "'; drop table x; --", "reason": "\\u0000 \\ud800 \ud83d\udd25 \\" \u202e"}}`;
  assert.deepEqual([await send(receiver, body), await send(receiver, body)], [200, 200]);
  assert.deepEqual(await stored(database), [{ event_id: ID, body, posts: 2 }]);
});

Deno.test("a receiver that starts again keeps what it has", async () => {
  await using database = await testDatabase({ migrated: false });
  {
    await using receiver = await startReceiver({ port: 0, url: database.url });
    assert.equal(await send(receiver, bodyOf("one")), 200);
  }
  await using receiver = await startReceiver({ port: 0, url: database.url });
  assert.equal(await send(receiver, bodyOf("other")), 409);
  assert.equal((await stored(database)).length, 1);
});
