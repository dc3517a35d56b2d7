import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";
import {
  addCheckedService,
  addService,
  assertNoViolations,
  checkNextWindow,
  claim,
  claimOne,
  complete,
  completeBatch,
  completion,
  type Observation,
} from "../../support/services.ts";
import { safeJson } from "../../../src/database/safe_text.ts";

const MEGABYTE = "x".repeat(1_000_000);

/** What a target may make a probe report. All of it passes through the runtime's `safeJson`, as it does in production. */
const OBSERVATIONS: Record<string, Observation> = {
  "a message of one megabyte": { error: { code: "protocol", message: MEGABYTE } },
  "a body of one megabyte": { status: 200, body: MEGABYTE, body_capped: true },
  "a detail of one megabyte": {
    status: 200,
    redirects: [{ status: 302, location: `https://example.com/${MEGABYTE}` }],
  },
  "NUL and half a surrogate pair": { error: { code: "protocol", message: "a\0b\ud800c" } },
  "control characters and escapes": { error: { code: "protocol", message: "\u0001\u001b[31mred\u007f\r\n\ttab" } },
  "quotes and backslashes": {
    error: { code: "protocol", message: `'"\\'; drop table uptuple.job; -- $$ \${x} %s %I` },
  },
  "emoji and right-to-left": { error: { code: "dns", message: "👩‍👩‍👧‍👦 \u202eevil\u202c ﷽ e\u0301" } },
  "no message": { error: { code: "dns" } },
  "a message that is no text": { error: { code: "dns", message: { nested: ["deep", 1, null] } } },
  "an empty message": { error: { code: "dns", message: "" } },
  "hostile headers": { status: 200, headers: { "content-type": "text/html\0; \u0007", "": "", "__proto__": "x" } },
  "timings that are no times": {
    status: 200,
    timings: { total: -5, dns: "fast", connect: null, tls: 1e300, first_byte: 1e-300, other: {} },
  },
  "a status with a fraction": { status: 200.4 },
  "a strange status": { status: 99999 },
  "names of hostile certificates": {
    status: 200,
    certificate: { subject: "CN=\u0000evil.example\u0000", names: ["*", "\ufffe", "'"] },
  },
};

/** What no probe reports, and what must not be stored. */
const POISONS: Record<string, unknown> = {
  nothing: {},
  "null": null,
  "a list": [200],
  "a text": "200",
  "a number": 200,
  "a status in words": { status: "200" },
  "a status beyond all numbers": { status: 1e300 },
  "a status and an error without a code": { status: 200, error: {} },
  "a code that is no code": { error: { code: "'; drop table uptuple.job; --", message: "x" } },
  "a code of one megabyte": { error: { code: "a".repeat(1_000_000) } },
  "a code that is no text": { error: { code: 7 } },
};

Deno.test("hostile text breaks no completion, and what is stored of it is short and printable", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const [name, observation] of Object.entries(OBSERVATIONS)) {
    await t.step(name, async () => {
      await addService(owner, name, { every: "1 day" });
      const job = await claimOne(owner);

      assert.equal(await complete(owner, job, safeJson(observation)), true);

      const [stored] = await owner`
        select length(reason) as reason_length, reason, length(detail::text) as detail_length, latency_ms
        from uptuple.result where job_id = ${job.job_id}`;
      assert.ok(
        stored.reason_length >= 1 && stored.reason_length <= 500,
        `a reason of ${stored.reason_length} characters`,
      );
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(stored.reason, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/);
      assert.ok(stored.detail_length === null || stored.detail_length <= 16_000);
      assert.ok(stored.latency_ms === null || stored.latency_ms >= 0);
    });
  }
  await assertNoViolations(owner);
});

Deno.test("what is no observation is BROKEN and stored nowhere", async (t) => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  for (const [name, observation] of Object.entries(POISONS)) {
    await t.step(name, async () => {
      await addService(owner, name, { every: "1 day" });
      const job = await claimOne(owner);

      assert.deepEqual(await completeBatch(owner, [completion(job, observation as Observation)]), ["BROKEN"]);

      const [row] = await owner`select state, length(error) <= 500 as short from uptuple.job where id = ${job.job_id}`;
      assert.deepEqual({ ...row }, { state: "READY", short: true });
    });
  }
  const [results] = await owner`select count(*)::integer from uptuple.result`;
  assert.equal(results.count, 0);
});

Deno.test("all that targets can report together in one batch is accepted in one go", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const observations = Object.values(OBSERVATIONS);
  for (let n = 0; n < observations.length; n++) await addService(owner, `service ${n}`, { every: "1 day" });
  const jobs = await claim(owner, observations.length);

  const outcomes = await completeBatch(
    owner,
    jobs.map((job, index) => completion(job, safeJson(observations[index] as Observation))),
  );

  assert.deepEqual(outcomes, jobs.map(() => "ACCEPTED"));
});

Deno.test("a service with a hostile name goes through its whole life, notices included", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  const name = `'; drop table uptuple.job; -- "$$ \\ %I 💥`;
  await owner`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1/hook')`;
  await addCheckedService(owner, name, { failureThreshold: 1 });

  await checkNextWindow(owner, name, safeJson({ error: { code: "protocol", message: `${name}\0${MEGABYTE}` } }));
  await checkNextWindow(owner, name, { status: 200 });

  const events = await owner<{ kind: string; service: string }[]>`
    select kind, data ->> 'service' as service from uptuple.event order by id`;
  assert.deepEqual(events.map((event) => ({ ...event })), [
    { kind: "service.failed", service: name },
    { kind: "service.recovered", service: name },
  ]);
  await owner`select uptuple.remove_service(${name})`;
  await assertNoViolations(owner);
});

Deno.test("a timing smaller or larger than a column can hold is brought into its range", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await addService(owner, "inventory", { every: "1 day" });
  const job = await claimOne(owner);

  // Numbers as JSON allows them and JavaScript does not.
  const [answer] = await owner`
    select uptuple.complete_job(
      ${job.job_id}, ${job.owner_token},
      '{"status": 200, "timings": {"total": 1e400, "dns": -1e400, "connect": 1e-400, "tls": 0.0005, "first_byte": 12.34567}}'
    ) as completed`;

  assert.equal(answer.completed, true);
  const [stored] = await owner`select latency_ms, dns_ms, connect_ms, tls_ms, first_byte_ms from uptuple.result`;
  assert.deepEqual({ ...stored }, {
    latency_ms: 86_400_000,
    dns_ms: 0,
    connect_ms: 0,
    tls_ms: 0.001,
    first_byte_ms: 12.346,
  });
});
