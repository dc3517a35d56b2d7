import assert from "node:assert/strict";
import { emptiedDatabase } from "../../support/emptied_database.ts";

/** A URL as a person writes it, and as it is stored. */
const ACCEPTED: [url: string, stored: string][] = [
  ["http://example.com", "http://example.com/"],
  ["HTTPS://Example.COM/Path?Query=1", "https://example.com/Path?Query=1"],
  ["http://example.com?x=1", "http://example.com/?x=1"],
  ["http://example.com/#top", "http://example.com/"],
  ["http://example.com#top", "http://example.com/"],
  ["http://example.com:8080/x", "http://example.com:8080/x"],
  ["http://example.com:/x", "http://example.com/x"],
  ["http://example.com:80/x", "http://example.com/x"],
  ["https://example.com:443/x", "https://example.com/x"],
  ["https://example.com:0080/x", "https://example.com:80/x"],
  ["http://localhost./x", "http://localhost./x"],
  ["http://a_b.example/", "http://a_b.example/"],
  ["http://мтр24.рф/x", "http://xn--24-7lcqj.xn--p1ai/x"],
  ["http://МТР24.РФ/x", "http://xn--24-7lcqj.xn--p1ai/x"],
  ["http://faß.example/", "http://xn--fa-hia.example/"],
  ["http://FAẞ.example/", "http://xn--fa-hia.example/"],
  ["http://bu\u0308cher.example/", "http://xn--bcher-kva.example/"],
  ["http://Bücher.example:8080/ü", "http://xn--bcher-kva.example:8080/ü"],
  ["http://ΣΊΣΥΦΟΣ.example/", "http://xn--kxa6akbbkh.example/"],
  ["http://İ.example/", "http://xn--i-9bb.example/"],
  ["http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"],
  ["http://見.香港/", "http://xn--nw2a.xn--j6w193g/"],
  ["http://ليهمابتكلموشعربي؟.example/", "http://xn--egbpdaj6bu4bxfgehfvwxn.example/"],
  ["http://למההםפשוטלאמדבריםעברית.example/", "http://xn--4dbcagdahymbxekheh6e0a7fei0b.example/"],
  ["http://3年b組金八先生.example/", "http://xn--3b-ww4c5e180e575a65lsy2b.example/"],
  ["http://ﬁle.example/", "http://file.example/"],
  ["http://i❤\ufe0ftea.example/", "http://xn--itea-lw4b.example/"],
  ["http://xn--mgba3gch31f060k.example/", "http://xn--mgba3gch31f060k.example/"],
  ["http://مثال.إختبار/", "http://xn--mgbh0fb.xn--kgbechtv/"],
  ["http://xn--24-7lcqj.xn--p1ai/x", "http://xn--24-7lcqj.xn--p1ai/x"],
  ["http://xn--fa-hia.example/", "http://xn--fa-hia.example/"],
  ["http://exa\u00admple.com/", "http://example.com/"],
  ["http://ex\u200bample.com/", "http://example.com/"],
  ["http://example。com/", "http://example.com/"],
  ["http://ｅｘａｍｐｌｅ.com/", "http://example.com/"],
  ["http://１２７.０.０.１/", "http://127.0.0.1/"],
  ["http://127。0。0。1/", "http://127.0.0.1/"],
  ["http://example.com:6000/", "http://example.com:6000/"],
  ["http://example.com/käse/🧀?q=ü", "http://example.com/käse/🧀?q=ü"],
  ["http://[2001:DB8:0::1]:8080/x", "http://[2001:db8::1]:8080/x"],
  ["http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/"],
  ["http://127.0.0.1:1/", "http://127.0.0.1:1/"],
  ["http://0177.0.0.1/", "http://127.0.0.1/"],
  ["http://2130706433/", "http://127.0.0.1/"],
  ["http://0x7f.1/", "http://127.0.0.1/"],
  ["http://0x7F000001/", "http://127.0.0.1/"],
  ["http://1.2.3/", "http://1.2.0.3/"],
  ["http://127.0.0.1./", "http://127.0.0.1/"],
  ["http://4294967295/", "http://255.255.255.255/"],
  ["http://1.example/", "http://1.example/"],
  ["http://user:p%40ss@example.com/", "http://user:p%40ss@example.com/"],
  ["http://user@example.com/", "http://user@example.com/"],
  ["http://:@example.com/", "http://:@example.com/"],
  ["https://${UPTUPLE_SECRET_HOST}:8443/x", "https://${UPTUPLE_SECRET_HOST}:8443/x"],
  ["https://user:${UPTUPLE_SECRET_PASSWORD}@example.com/", "https://user:${UPTUPLE_SECRET_PASSWORD}@example.com/"],
  ["https://example.com/hook/${UPTUPLE_SECRET_PATH}", "https://example.com/hook/${UPTUPLE_SECRET_PATH}"],
];

/** A URL that cannot work, and what its refusal says after the URL. */
const REFUSED: [url: string, message: RegExp][] = [
  ["", /^url is missing$/],
  ["   ", /^url is missing$/],
  ["hhttps://example.com/", /does not start with http:\/\/ or https:\/\/$/],
  ["ftp://example.com/", /does not start with http:\/\/ or https:\/\/$/],
  ["file:///etc/passwd", /does not start with http:\/\/ or https:\/\/$/],
  ["javascript:alert(1)", /does not start with http:\/\/ or https:\/\/$/],
  ["example.com", /does not start with http:\/\/ or https:\/\/$/],
  ["//example.com/", /does not start with http:\/\/ or https:\/\/$/],
  ["https:example.com", /has no host that can be read$/],
  ["http:/example.com", /has no host that can be read$/],
  ["http://", /has no host$/],
  ["http:///nohost", /has no host$/],
  ["http://:8080/", /has no host$/],
  ["http://user:password@/", /has no host$/],
  ["http://?x", /has no host$/],
  ["http://example.com\\@evil.example/", /has a character that a URL cannot hold$/],
  ["http://ex ample/", /has a character that a URL cannot hold$/],
  [" http://example.com/", /has a character that a URL cannot hold$/],
  ["http://example.com/a b", /has a character that a URL cannot hold$/],
  ["http://example.com/\n", /has a character that a URL cannot hold$/],
  ["http://exa\u0001mple.com/", /has a character that a URL cannot hold$/],
  ["http://example.com:0/", /has the port 0, which does not exist$/],
  ["http://example.com:65536/", /has the port 65536, which does not exist$/],
  ["http://example.com:99999999999/", /has the port 99999999999, which does not exist$/],
  ["http://example.com:http/", /has the port http, which does not exist$/],
  ["http://example.com:-1/", /has the port -1, which does not exist$/],
  ["http://user:secret@/", /^url 'http:\/\/\*\*\*@\/' has no host$/],
  ["http://user:secret@a..b/", /^url 'http:\/\/\*\*\*@a..b\/' has a host with a label that is empty/],
  ["http://xn--a/", /has a host with the label 'xn--a', which encodes no name$/],
  ["http://www.xn--.example/", /has a host with the label 'xn--', which encodes no name$/],
  ["http://xn--99999999/", /which encodes no name$/],
  ["http://a。。b/", /has a host with a label that is empty, too long, or starts with a hyphen$/],
  ["http://\u00ad/", /has a host with a label that is empty, too long, or starts with a hyphen$/],
  ["http://xn--a-xbba.example.xn--zzz/", /which encodes no name$/],
  ["http://xn--example-.com/", /which encodes no name$/],
  ["http://xn--A-0ga.example.xn--mtr24-/", /which encodes no name$/],
  ["http://xn--\u00e4-a.example/", /which encodes no name$/],
  ["http://aא.example/", /has a host whose letters cannot stand beside each other$/],
  ["http://\u0301a.example/", /has a host whose letters cannot stand beside each other$/],
  ["http://a\u200db.example/", /that no host name has, or that is written in more than one way$/],
  ["http://Ꞹ.example/", /that no host name has, or that is written in more than one way$/],
  ["http://Ა.example/", /that no host name has, or that is written in more than one way$/],
  ["http://ᏸ.example/", /that no host name has, or that is written in more than one way$/],
  ["http://\ue000.example/", /that no host name has, or that is written in more than one way$/],
  [`http://${"ü".repeat(60)}a.example/`, /has a host with a label that is empty, too long, or starts with a hyphen$/],
  ["http://a℀b.example/", /has a host with a character that no host name has$/],
  ["http://a\u0085b.example/", /has a (host with a )?character that/],
  ["http://a～b.example/", /has a host with a character that no host name has$/],
  ["http://a..b/", /has a host with a label that is empty, too long, or starts with a hyphen$/],
  ["http://.example.com/", /has a host with a label that is empty, too long, or starts with a hyphen$/],
  ["http://-a.example/", /has a host with a label that is empty, too long, or starts with a hyphen$/],
  [`http://${"a".repeat(64)}.example/`, /has a host with a label that is empty, too long, or starts with a hyphen$/],
  [`http://${"a.".repeat(127)}example/`, /has a host with a label that is empty, too long, or starts with a hyphen$/],
  ["http://exa%6dple.com/", /has a host with a character that no host name has$/],
  ["http://a,b.example/", /has a host with a character that no host name has$/],
  ["http://256.0.0.1/", /^'256.0.0.1' is not an IPv4 address$/],
  ["http://1.2.3.4.5/", /^'1.2.3.4.5' is not an IPv4 address$/],
  ["http://08.0.0.1/", /^'08.0.0.1' is not an IPv4 address$/],
  ["http://4294967296/", /^'4294967296' is not an IPv4 address$/],
  ["http://a.example.1/", /^'a.example.1' is not an IPv4 address$/],
  ["http://[::1/", /has no host that can be read$/],
  ["http://[::g]/", /has no valid IPv6 address in its brackets$/],
  ["http://[127.0.0.1]/", /has no valid IPv6 address in its brackets$/],
  ["http://[fe80::1%eth0]/", /has no valid IPv6 address in its brackets$/],
  ["http://::1/", /has no host/],
  ["http://user:100%@example.com/", /^url has user information with a broken percent-encoding$/],
  [`http://example.com/${"x".repeat(2000)}`, /^url is 2019 characters long$/],
];

Deno.test("a URL that can be probed is stored in its canonical form", async (t) => {
  await using database = await emptiedDatabase();

  for (const [url, stored] of ACCEPTED) {
    await t.step(url, async () => {
      const [row] = await database
        .owner`select uptuple.service_url(${url}) as url, uptuple.service_url(${stored}) as again`;
      assert.equal(row.url, stored);
      assert.equal(row.again, stored, "the canonical form of a canonical URL is itself");
    });
  }
});

Deno.test("a URL that cannot work is refused with what is wrong and the cure", async (t) => {
  await using database = await emptiedDatabase();

  for (const [url, message] of REFUSED) {
    await t.step(url.slice(0, 60) || "nothing", async () => {
      await assert.rejects(
        database.owner`select uptuple.service_url(${url})`,
        (error: { message: string; hint?: string; code: string }) => {
          assert.match(error.message, message);
          assert.equal(error.code, "22023");
          assert.ok(error.hint && error.hint.length > 10, "a hint has the cure");
          return true;
        },
      );
    });
  }
  await t.step("null", async () => {
    await assert.rejects(database.owner`select uptuple.service_url(null)`, {
      code: "22023",
      message: "url is missing",
    });
  });
});

Deno.test("every URL that is accepted is one that the runtime's parser reads, with the same host", async () => {
  await using database = await emptiedDatabase();

  for (const [url, stored] of ACCEPTED) {
    if (stored.includes("${")) continue;
    const [row] = await database.owner`select uptuple.service_url(${url}) as url`;
    assert.equal(new URL(row.url).host, new URL(url).host, url);
  }
});

Deno.test("a password in a URL is not shown in the status", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'a', url => 'http://user:p%40ss@example.com/x?y=1')`;

  const [shown] = await owner`select url from uptuple.status`;

  assert.equal(shown.url, "http://***@example.com/x?y=1");
});

Deno.test("a host in punycode is shown in its own script, and nothing else of the URL changes", async () => {
  await using database = await emptiedDatabase();
  const { owner } = database;
  await owner`select uptuple.add_service(name => 'a', url => 'https://u:p@ФАẞ.Bücher.рф:8443/xn--p1ai?xn--fa-hia')`;
  await owner`select uptuple.add_service(name => 'b', url => 'dns:мтр24.рф.')`;
  await owner`select uptuple.add_service(name => 'c', url => 'tcp://МТР24.рф:80')`;

  const shown = await owner`select url from uptuple.status order by service`;
  const stored = await owner`select target from uptuple.service_revision order by service_id`;

  assert.deepEqual(shown.map(({ url }) => url), [
    "https://***@фаß.bücher.рф:8443/xn--p1ai?xn--fa-hia",
    "dns:мтр24.рф",
    "tcp://мтр24.рф:80",
  ]);
  assert.deepEqual(stored.map(({ target }) => target), [
    "https://u:p@xn--zca11oyb.xn--bcher-kva.xn--p1ai:8443/xn--p1ai?xn--fa-hia",
    "dns:xn--24-7lcqj.xn--p1ai",
    "tcp://xn--24-7lcqj.xn--p1ai:80",
  ]);
});
