import assert from "node:assert/strict";
import type { TestSql } from "../../support/database.ts";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  assertNoViolations,
  checkNextWindow,
  claimOne,
  complete,
  completeBatch,
  completion,
  type Observation,
  startJob,
} from "../../support/services.ts";

/** What a check sees of a certificate that has so many days left, give or take an hour's safety. */
function shown(days: number, fingerprint256 = "AA:01", more: object = {}): Observation {
  const notAfter = new Date(Date.now() + days * 86_400_000 + 3_600_000);
  const certificate = {
    subject: "CN=shop.example",
    issuer: "CN=Authority",
    not_before: "2020-01-01T00:00:00.000Z",
    not_after: notAfter.toISOString(),
    fingerprint256,
    names: ["shop.example", "www.shop.example"],
    ...more,
  };
  return { status: 200, timings: { total: 5 }, certificate };
}

/** What was told of certificates: days left, the notice that fell due, severity. */
async function told(sql: TestSql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select format('%s days, notice %s, %s', data -> 'days_left', data -> 'notice_days', severity) as line
    from uptuple.event where kind = 'certificate.expiring' order by id`;
  return rows.map(({ line }) => line);
}

/** Checks one after another. A certificate that was seen before and has other days left now stands for time that passed. */
async function check(sql: TestSql, ...observations: Observation[]): Promise<void> {
  for (const observation of observations) {
    const { fingerprint256, not_after } = observation.certificate as Record<string, string>;
    await sql`
      update uptuple.service_certificate
      set not_after = ${not_after as string}::timestamptz, next_notice_at = next_notice_at - (not_after - ${not_after as string}::timestamptz)
      where fingerprint = ${fingerprint256 as string} and abs(extract(epoch from not_after - ${not_after as string}::timestamptz)) > 3600`;
    await checkNextWindow(sql, "shop", observation);
  }
}

Deno.test("a certificate is told of at 21, 14, 7, 3 and 1 days, once each, and urgently in the last three", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "shop");

  await check(owner, shown(22), shown(21), shown(21), shown(20), shown(14), shown(7), shown(6), shown(3), shown(2));
  await check(owner, shown(1), shown(0), shown(-1));

  assert.deepEqual(await told(owner), [
    "21 days, notice 21, warning",
    "14 days, notice 14, warning",
    "7 days, notice 7, warning",
    "3 days, notice 3, critical",
    "1 days, notice 1, critical",
  ]);
  await assertNoViolations(owner);
});

Deno.test("a service first seen with five days left gets one notice, the one for seven days", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "shop");

  await check(owner, shown(5), shown(5));

  assert.deepEqual(await told(owner), ["5 days, notice 7, warning"]);
  const [event] = await owner`
    select data ->> 'service' as service, data ->> 'subject' as subject, data ->> 'issuer' as issuer, data ->> 'reason' as reason,
      (data ->> 'not_after')::timestamptz = not_after as exact, incident_id
    from uptuple.event, uptuple.service_certificate where kind = 'certificate.expiring'`;
  assert.deepEqual({ ...event }, {
    service: "shop",
    subject: "CN=shop.example",
    issuer: "CN=Authority",
    reason: "its certificate ends in 5 days",
    exact: true,
    incident_id: null,
  });
});

Deno.test("days that were jumped over are not told, only the tightest", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "shop");

  await check(owner, shown(21), shown(2), shown(2));

  assert.deepEqual(await told(owner), ["21 days, notice 21, warning", "2 days, notice 3, critical"]);
});

Deno.test("a renewed certificate starts anew, and two that take turns are told of once each", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "shop");

  await check(owner, shown(6, "old"), shown(90, "new"), shown(13, "new"));
  await check(owner, shown(6, "one"), shown(5, "other"), shown(6, "one"), shown(5, "other"));

  assert.deepEqual(await told(owner), [
    "6 days, notice 7, warning",
    "13 days, notice 14, warning",
    "6 days, notice 7, warning",
    "5 days, notice 7, warning",
  ]);
});

Deno.test("a certificate that has ended is told of as well, with how long ago", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "shop");

  await check(owner, shown(-4));

  assert.deepEqual(await told(owner), ["-4 days, notice 1, critical"]);
  const [event] =
    await owner`select data ->> 'reason' as reason from uptuple.event where kind = 'certificate.expiring'`;
  assert.match(event.reason, /^its certificate ended on \d{4}-/);
});

Deno.test("the view shows what was seen last under the present configuration", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "shop", { url: "https://shop.example/" });
  await check(owner, shown(90));
  const viewer = await database.connect("uptuple_viewer");

  const [row] = await viewer`select service, days_left, subject, issuer, names from uptuple.certificates`;
  assert.deepEqual({ ...row }, {
    service: "shop",
    days_left: 90,
    subject: "CN=shop.example",
    issuer: "CN=Authority",
    names: ["shop.example", "www.shop.example"],
  });

  await owner`select uptuple.update_service('shop', url => 'http://shop.example/')`;
  assert.equal((await viewer<object[]>`select * from uptuple.certificates`).length, 0);
  await owner`select uptuple.update_service('shop', url => 'https://shop.example/')`;
  await check(owner, shown(90));
  assert.equal((await viewer<object[]>`select * from uptuple.certificates`).length, 1);
  await owner`select uptuple.remove_service('shop')`;
  assert.equal((await viewer<object[]>`select * from uptuple.certificates`).length, 0);
});

Deno.test("an unchanged certificate is not written again", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addCheckedService(owner, "shop");
  const row = async () => ({ ...(await owner`select ctid, * from uptuple.service_certificate`)[0] });
  const observation = shown(10);
  await check(owner, observation);
  const before = await row();

  await check(owner, observation, observation);

  assert.deepEqual(await row(), before);
});

Deno.test("an observation that is rolled back tells of no certificate", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const job = await claimOne(owner);

  await owner.begin(async (tx) => {
    await complete(tx as unknown as TestSql, job, shown(1));
    assert.equal((await told(tx as unknown as TestSql)).length, 1);
    throw new Error("rolled back");
  }).catch((error) => assert.equal(error.message, "rolled back"));

  assert.deepEqual(await told(owner), []);
});

for (
  const [what, more] of [
    ["dates that are none", { not_after: "2026-13-45T00:00:00Z" }],
    ["an end without a zone", { not_after: "2026-12-01" }],
    ["an end for ever", { not_after: "infinity" }],
    ["an end that is no text", { not_after: { a: 1 } }],
  ] as const
) {
  Deno.test(`a certificate with ${what} costs the check nothing, and is not kept`, async () => {
    await using database = await emptiedDatabase();
    const { owner } = database;
    await addService(owner, "shop");

    assert.equal(await complete(owner, await claimOne(owner), shown(1, "odd", more)), true);

    assert.deepEqual(await told(owner), []);
    assert.equal((await owner<object[]>`select from uptuple.service_certificate`).length, 0);
  });
}

Deno.test("a certificate with names that fill pages is known by its end all the same", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const names = Array.from({ length: 100 }, (_, index) => `${index}.`.padEnd(300, "x"));

  await complete(owner, await claimOne(owner), shown(2, "AA", { names }));

  assert.deepEqual(await told(owner), ["2 days, notice 3, critical"]);
});

Deno.test("a disabled service's late check, and one that proves nothing, tell of no certificate", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "shop");
  const late = await claimOne(owner);
  await owner`select uptuple.disable_service('shop')`;
  await complete(owner, late, shown(1));
  assert.deepEqual(await told(owner), []);

  await owner`select uptuple.enable_service('shop')`;
  const { certificate, timings } = shown(1);
  await checkNextWindow(owner, "shop", {
    certificate,
    timings,
    error: { code: "secret.missing", message: "not set" },
  });
  assert.deepEqual(await told(owner), []);
});

Deno.test("two windows of one service in a batch tell once of one certificate, and keep the newer one's", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const id = await addCheckedService(owner, "shop");
  const now = Math.floor(Date.now() / 1000);
  const [older, newer] = [await startJob(owner, id, now - 60), await startJob(owner, id, now - 30)];

  await completeBatch(owner, [completion(newer, shown(2, "new")), completion(older, shown(2, "old"))]);

  assert.deepEqual(await told(owner), ["2 days, notice 3, critical", "2 days, notice 3, critical"]);
  const [kept] = await owner`select fingerprint from uptuple.service_certificate`;
  assert.equal(kept.fingerprint, "new");
});
