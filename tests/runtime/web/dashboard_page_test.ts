import assert from "node:assert/strict";
import { createApp } from "../../../src/web/app.tsx";
import { splitSql } from "../../../src/web/sql_text.tsx";
import { testDatabase, type TestSql } from "../../support/database.ts";
import { until } from "../../support/wait.ts";
import { looseDatabase, openTestApp } from "../../support/web_app.ts";

Deno.test("a newcomer is given three lines of SQL, and they work as they stand", async () => {
  await using opened = await openTestApp();

  const page = await opened.page();
  const lines = statementsIn(page);

  assert.match(page, /<h1>Nothing is watched yet<\/h1>/);
  assert.deepEqual(lines.map((line) => line.split("(")[0]), [
    "select uptuple.add_service",
    "select uptuple.add_channel",
    "select * from uptuple.status;",
  ]);
  for (const line of lines) await opened.owner.unsafe(line);
  assert.match(await opened.page(), /<bdi>inventory<\/bdi>.*<bdi>ops<\/bdi>/s);
});

Deno.test("a service without a check is unknown, and waits for its first", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");

  const text = textOf(await opened.page());

  assert.match(text, /The service is unknown/);
  assert.match(text, /inventory http:\/\/127\.0\.0\.1:1\/ · waiting for its first check Unknown/);
});

Deno.test("a service shows its state, since when, and its last check with latency", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await opened.owner`select uptuple.record_health('inventory', 'UP', 'HTTP 204', 23.4)`;
  await opened
    .owner`update uptuple.service_state set since = since - interval '2 hours 5 minutes', checked_at = checked_at - interval '8 minutes'`;

  const page = await opened.page();

  assert.match(page, /<title>All up – Uptuple<\/title>/);
  assert.match(
    textOf(page),
    /The service is up .* inventory http:\/\/127\.0\.0\.1:1\/ Up for 2 h 5 min 23 ms 8 min ago/,
  );
});

Deno.test("a service that fails below its threshold says how far it is, and is still up", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await record(opened.owner, "inventory", "UP", "DOWN");

  const text = textOf(await opened.page());

  assert.match(text, /The service is up/);
  assert.match(text, /Failing 1 of 3: no answer Up/);
  assert.doesNotMatch(text, /Open incidents/);
});

Deno.test("a service in maintenance says until when, and its failures are not told as any other's", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await opened.owner`select uptuple.plan_maintenance('Move <b>', services => '{inventory}', duration => '2 hours')`;
  await record(opened.owner, "inventory", "UP", "DOWN");

  const page = await opened.page();

  assert.match(textOf(page), /· Failing in maintenance: no answer Move <b> , until [\d: -]+ UTC Up/);
  assert.match(page, /<title>All up – Uptuple<\/title>/);
});

Deno.test("a service that is down shows its incident: since when, why, and who was told", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await addService(opened.owner, "checkout");
  await opened.owner`select uptuple.add_channel(name => 'ops', url => 'http://127.0.0.1:1/')`;
  await record(opened.owner, "checkout", "UP");
  await record(opened.owner, "inventory", "DOWN", "DOWN", "DOWN");
  await opened.owner`update uptuple.incident set started_at = clock_timestamp() - interval '12 minutes'`;

  const page = await opened.page();

  assert.match(page, /<title>1 down – Uptuple<\/title>/);
  assert.match(textOf(page), /1 of 2 services is down 1 down 1 up/);
  assert.match(
    textOf(page),
    /Open incidents inventory no answer First failed at [\d: -]+ UTC , 1 notice on the way\. Down for 12 min/,
  );

  assert.match(page, /<a href="\/incidents\/1"><bdi>no answer<\/bdi><\/a>/);

  await record(opened.owner, "inventory", "UP");
  assert.match(textOf(await opened.page()), /All 2 services are up/);
  assert.doesNotMatch(textOf(await opened.page()), /Open incidents/);
});

Deno.test("an incident without a channel says that nobody was told", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await record(opened.owner, "inventory", "DOWN", "DOWN", "DOWN");

  const text = textOf(await opened.page());

  assert.match(text, /First failed at .*, nobody was told\./);
  assert.match(text, /Nobody will be told: there is no channel\. select uptuple\.add_channel\(/);
});

Deno.test("a service nobody has heard of is unknown and not up, and a paused one is neither", async () => {
  await using opened = await openTestApp();
  for (const name of ["forgotten", "off", "well"]) await addService(opened.owner, name);
  for (const name of ["forgotten", "off", "well"]) await record(opened.owner, name, "UP");
  await opened.owner`select uptuple.disable_service('off')`;
  await opened.owner`
    update uptuple.service_state set verdict_at = verdict_at - interval '10 minutes', checked_at = checked_at - interval '10 minutes'
    where service_id = (select id from uptuple.service where name = 'forgotten')`;

  const text = textOf(await opened.page());

  assert.match(text, /1 of 2 services is unknown 1 unknown 1 up 1 paused/);
  assert.match(text, /forgotten http:\/\/127\.0\.0\.1:1\/ No result for 10 min Unknown/);
  assert.match(text, /off http:\/\/127\.0\.0\.1:1\/ Paused/);
});

Deno.test("a new service that fails below its threshold is unknown, and says how it fails", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await opened.owner`select uptuple.record_health('inventory', 'DOWN', 'HTTP 503, expected 200-299')`;

  assert.match(textOf(await opened.page()), /Failing 1 of 3: HTTP 503, expected 200-299 Unknown/);
});

Deno.test("a service that could not even be asked says why", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await opened
    .owner`select uptuple.record_health('inventory', 'INCONCLUSIVE', 'the secret UPTUPLE_SECRET_KEY is missing')`;

  const text = textOf(await opened.page());

  assert.match(text, /The service is unknown/);
  assert.match(text, /Inconclusive: the secret UPTUPLE_SECRET_KEY is missing Unknown/);
});

Deno.test("services stand in their groups, and those without one at the end", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "lonely");
  await addService(opened.owner, "till", "Shop");
  await addService(opened.owner, "cart", "Shop");
  await addService(opened.owner, "ledger", "Bank");
  await record(opened.owner, "ledger", "DOWN", "DOWN", "DOWN");

  const text = textOf(await opened.page());

  assert.match(
    text,
    /Services Bank 1 down 24 h 7 d 30 d 90 d ledger .* Shop 2 unknown .* cart .* till .* Without a group 1 unknown .* lonely /,
  );
});

Deno.test("uptime of the last day stands beside the share of it that is covered", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await opened.owner`
    update uptuple.service_active set interval_seconds = 60, phase_seconds = 0, during = tstzrange(
      date_trunc('minute', clock_timestamp()) - interval '1 hour', date_trunc('minute', clock_timestamp()) - interval '20 minutes'
    )`;
  await opened.owner`select uptuple.ensure_partitions()`;
  await opened.owner`
    insert into uptuple.result (scheduled_slot, service_id, recorded_at, revision, region, purpose, status)
    select extract(epoch from minute), 1, minute, 1, 'default', 'GRID', case when nr <= 3 then 'DOWN' else 'UP' end
    from generate_series(1, 30) nr
    cross join lateral (select date_trunc('minute', clock_timestamp()) - interval '1 hour' + nr * interval '1 minute' as minute) at`;

  // A page does not wait long for the figures, the first one perhaps not long enough.
  const text = await until("uptime is on the page", async () => {
    const shown = textOf(await opened.page());
    return shown.includes("75 %") && shown;
  });
  // Of 40 windows 30 have a verdict, and of those 27 are up.
  assert.match(text, /(90 % 75 % ){4}/);
});

Deno.test("what is wrong with the monitor itself stands on the page, with the cure as SQL to copy", async () => {
  await using opened = await openTestApp();
  await addService(opened.owner, "inventory");
  await opened.owner`select uptuple.add_channel(name => 'o''ps; drop', url => 'http://127.0.0.1:1/')`;
  await opened.owner`
    update uptuple.channel set suspended_at = clock_timestamp(), suspended_reason = 'HTTP 401', probe_at = clock_timestamp()`;
  await record(opened.owner, "inventory", "DOWN", "DOWN", "DOWN");
  await opened.owner`update uptuple.delivery set state = 'DEAD', finished_at = clock_timestamp()`;

  const page = await opened.page();
  const text = textOf(page);

  assert.match(text, /Error: No runtime is probing: every service will be UNKNOWN\. Start one with deno task start/);
  assert.match(text, /Error: The channel o'ps; drop is suspended: HTTP 401/);
  assert.match(text, /Error: A notice is dead\./);
  assert.match(text, /Channels o'ps; drop nothing delivered yet HTTP 401 Suspended 1 dead notice/);
  assert.deepEqual(statementsIn(page), [
    "select uptuple.update_channel(name => 'o''ps; drop');",
    "select * from uptuple.dead_letter_causes;",
  ]);
  for (const statement of statementsIn(page)) await opened.owner.unsafe(statement);
});

Deno.test("a cure is split into what one says and what one runs, quotes respected", () => {
  assert.deepEqual(splitSql("First select f('a;''b'); and then select 1; at last."), [
    { text: "First", sql: false },
    { text: "select f('a;''b');", sql: true },
    { text: "and then", sql: false },
    { text: "select 1;", sql: true },
    { text: "at last.", sql: false },
  ]);
  assert.deepEqual(splitSql("Start another one."), [{ text: "Start another one.", sql: false }]);
});

Deno.test("runtimes that live or were lost are shown with their release, those that stopped are not", async () => {
  await using opened = await openTestApp();
  await opened.owner`select uptuple.report_worker(name, 'default', '{probe,web}', 7)
    from unnest(array['one', 'two', 'three']) name`;
  await opened.owner`select uptuple.retire_worker('two')`;
  await opened.owner`update uptuple.worker set seen_at = clock_timestamp() - interval '5 minutes' where name = 'three'`;

  const text = textOf(await opened.page());

  assert.match(
    text,
    /Runtimes one probe, web Alive release 7, for \d+ s three probe, web Lost release 7, seen 5 min ago Channels/,
  );
});

Deno.test("a runtime in quarantine is shown with since when and why it is not believed", async () => {
  await using opened = await openTestApp();
  const canary = [{ host: "canary.example", observation: { error: { code: "dns", message: "no such name" } } }];
  await opened.owner`
    select uptuple.report_worker('one', 'default', '{probe}', 7, unanswered => 9, canary => ${
    opened.owner.json(canary)
  })`;

  const text = textOf(await opened.page());

  assert.match(
    text,
    /one probe nothing answers its probes, and its canary does not either: canary\.example: no such name Not believed release 7, for \d+ s/,
  );
});

Deno.test("hostile names and reasons stay text, each isolated from the direction of what surrounds it", async () => {
  await using opened = await openTestApp();
  const name = `"><script>alert('${"\u202e"}1')</script>&amp;`;
  await opened
    .owner`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:1/', group_name => ${name}, tags => array['<b>'])`;
  await opened.owner`select uptuple.add_channel(name => ${name}, url => 'http://127.0.0.1:1/')`;
  await opened.owner`select uptuple.report_worker(${name}, 'default', '{web}', 1)`;
  await opened.owner`select uptuple.record_health(${name}, 'DOWN', ${name}) from generate_series(1, 3)`;

  const page = await opened.page();
  const escaped = "&quot;&gt;&lt;script&gt;alert(&#39;\u202e1&#39;)&lt;/script&gt;&amp;amp;";

  assert.equal(
    page.match(/<script/g)?.length,
    page.match(/<script [^>]*src="\/assets\//g)?.length,
    "all are files of ours",
  );
  // Of the group, the service with its reason, the incident with its reason, the channel, and the runtime.
  assert.equal(page.split(`<bdi>${escaped}</bdi>`).length - 1, 7);
  assert.match(page, /<bdi>&lt;b&gt;<\/bdi>/);
  const elsewhere = page.replaceAll(`<bdi>${escaped}</bdi>`, "").replaceAll(/ (data-key|data-group|href)="[^"]*"/g, "");
  assert.doesNotMatch(elsewhere, /alert\(/);
});

Deno.test("no password and no query of a URL is on the page", async () => {
  await using opened = await openTestApp();
  await opened.owner`
    select uptuple.add_service(name => 'inventory', url => 'https://user:hunter2@example.com/health?key=topsecret&x=\${UPTUPLE_SECRET_K}')`;

  const page = await opened.page();

  assert.match(textOf(page), /https:\/\/\*\*\*@example\.com\/health\?…/);
  assert.doesNotMatch(page, /hunter2|topsecret|UPTUPLE_SECRET_K/);
});

Deno.test("without JavaScript the page reloads itself, and can be paused", async () => {
  await using opened = await openTestApp();

  const live = await opened.page();
  const paused = await opened.page("/?refresh=off");

  assert.match(live, /<noscript><meta http-equiv="refresh" content="30"\/?><\/noscript>/);
  assert.match(live, /<a href="\?refresh=off">Pause<\/a>/);
  assert.doesNotMatch(paused, /http-equiv="refresh"|data-refresh-seconds/);
  assert.match(paused, /<a href="\?">Go live<\/a>/);
});

Deno.test("every page has headers that let no other site in, and none allows inline code or style", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });

  for (const path of ["/", "/login", "/nothing", "/healthz", "/readyz", "/assets/style.css"]) {
    const answer = await opened.app.request(path, { headers: { authorization: "Bearer sesame" } });
    const policy = answer.headers.get("content-security-policy") ?? "";

    assert.match(policy, /^default-src 'none'; style-src 'self'; script-src 'self';/, path);
    assert.match(policy, /frame-ancestors 'none'; base-uri 'none'$/, path);
    assert.doesNotMatch(policy, /unsafe|\*|http/, path);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff", path);
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer", path);
    assert.equal(answer.headers.get("x-frame-options"), "DENY", path);
    assert.doesNotMatch(await answer.text(), /<style|<script>|\sstyle=|\son[a-z]+=/, path);
  }
});

Deno.test("pages are kept by no cache, and the files they name for ever, to anybody", async () => {
  await using opened = await openTestApp({ kind: "token", token: "sesame" });
  const page = await (await opened.app.request("/", { headers: { accept: "text/html" } })).text();
  const files = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");

  for (const path of ["/", "/login", "/nothing"]) {
    assert.equal((await opened.app.request(path)).headers.get("cache-control"), "no-store", path);
  }
  assert.equal(new Set(files).size, 5);
  for (const file of files) {
    const answer = await opened.app.request(file);
    const stale = await opened.app.request(file.replace(/v=.*/, "v=0"));
    assert.equal(answer.status, 200, file);
    assert.equal(answer.headers.get("cache-control"), "public, max-age=31536000, immutable", file);
    assert.equal(stale.headers.get("cache-control"), "no-cache", file);
    assert.equal(await stale.text(), await answer.text(), file);
  }
});

Deno.test("the files have their types", async () => {
  await using opened = await openTestApp();
  const types = ["style.css", "live.js", "uplot.js", "uplot.css", "icon.svg"].map(async (file) =>
    (await opened.app.request(`/assets/${file}`)).headers.get("content-type")
  );

  assert.deepEqual(await Promise.all(types), [
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/css; charset=utf-8",
    "image/svg+xml",
  ]);
});

Deno.test("without a database there is a page that says so, looks again, and gives nothing away", async () => {
  await using database = looseDatabase({ url: "postgres://someone:verysecret@127.0.0.1:1/nowhere" });
  const app = createApp({ database, access: { kind: "public" } });

  const answer = await app.request("/");
  const page = await answer.text();

  assert.equal(answer.status, 503);
  assert.equal(answer.headers.get("retry-after"), "5");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.match(page, /<h1>The database does not answer<\/h1>/);
  assert.match(page, /data-refresh-seconds="5"/);
  assert.doesNotMatch(page, /127\.0\.0\.1|nowhere|someone|verysecret|ECONNREFUSED/);
});

Deno.test("before the schema is there, there is a page that says so and looks again", async () => {
  await using empty = await testDatabase({ migrated: false });
  await using database = looseDatabase({ url: empty.url });
  const app = createApp({ database, access: { kind: "public" } });

  const answer = await app.request("/");
  const page = await answer.text();

  assert.equal(answer.status, 503);
  assert.match(page, /<h1>The schema is not ready<\/h1>/);
  assert.doesNotMatch(page, /42P01|3F000|relation|does not exist/);
});

Deno.test("a page that fails has a reference into the log and nothing of the program's inside", async () => {
  await using opened = await openTestApp();
  await opened.owner`create or replace view uptuple.status as
    select * from (
      select name as service, group_name, tags, 'default'::text as region, (1 / 0)::text as status, created_at as since,
        created_at as checked_at, ''::text as checked_status, 1::real as latency_ms, ''::text as code, ''::text as reason,
        true as recent, 1 as failure_streak, 1 as failure_threshold, 1::bigint as incident_id, interval '1 s' as every, ''::text as url, 1 as revision,
        created_at as maintenance_until, ''::text as maintenance_title
      from uptuple.service
    ) broken`;
  await addService(opened.owner, "inventory");

  const answer = await opened.app.request("/");
  const page = await answer.text();

  assert.equal(answer.status, 500);
  assert.match(textOf(page), /Something went wrong .* under this reference: [0-9a-f-]{36}/);
  assert.doesNotMatch(page, /division|22012|\.ts/);
});

Deno.test("a page that is not there says so", async () => {
  await using opened = await openTestApp();

  const answer = await opened.app.request("/nothing");

  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /<h1>There is no such page<\/h1>/);
});

Deno.test("the viewer's role is enough for the page", async () => {
  await using viewed = await testDatabase();
  await using database = looseDatabase({ url: await viewed.urlFor("uptuple_viewer") });
  const app = createApp({ database, access: { kind: "public" } });

  assert.equal((await app.request("/")).status, 200);
  assert.equal((await app.request("/readyz")).status, 200);
});

async function addService(sql: TestSql, name: string, group: string | null = null): Promise<void> {
  await sql`select uptuple.add_service(name => ${name}, url => 'http://127.0.0.1:1/', group_name => ${group})`;
}

/** Records one verdict after another. */
async function record(sql: TestSql, service: string, ...verdicts: ("UP" | "DOWN")[]): Promise<void> {
  for (const verdict of verdicts) {
    await sql`select uptuple.record_health(${service}, ${verdict}, ${
      verdict === "DOWN" ? "no answer" : "HTTP 200"
    }, 5)`;
  }
}

/** The text of a page as one line. */
function textOf(page: string): string {
  return decode(page.replace(/<wbr\/?>/g, "").replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ");
}

/** The statements that a page offers to copy. */
function statementsIn(page: string): string[] {
  return [...page.matchAll(/<pre><code>([^<]*)<\/code><\/pre>/g)].map((match) => decode(match[1] ?? ""));
}

function decode(html: string): string {
  return html.replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&#39;", "'")
    .replaceAll(
      "&amp;",
      "&",
    );
}
