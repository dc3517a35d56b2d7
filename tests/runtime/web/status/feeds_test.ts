import assert from "node:assert/strict";
import { atomFeed, rssFeed } from "../../../../src/web/status/feeds.ts";
import { HOSTILE, incident, maintenance, statusPage } from "../../../support/status_pages.ts";

const ADDRESS = { page: "https://example.com/status", self: "https://example.com/status/feed" };
const PAGE = statusPage({ incidents: [incident()], maintenances: [maintenance()] });

function texts(xml: string, element: string): string[] {
  return [...xml.matchAll(new RegExp(`<${element}(?: [^>]*)?>([^<]*)</${element}>`, "g"))].map(([, text = ""]) => text);
}

Deno.test("Atom has one entry for each update, newest first, each with an id and times of its own", () => {
  const xml = atomFeed(PAGE, ADDRESS);

  assert.deepEqual(texts(xml, "title"), [
    "Example status",
    "Recovered: Shop",
    "Identified: Shop",
    "Outage: Shop",
    "Maintenance: Move to the new hall",
  ]);
  assert.deepEqual(texts(xml, "id").slice(1), [
    "urn:uptuple:i1-closed",
    "urn:uptuple:u1",
    "urn:uptuple:i1-opened",
    "urn:uptuple:m1-1796000000-2",
  ]);
  assert.deepEqual(texts(xml, "published"), [
    "2026-11-30T12:45:30.250Z",
    "2026-11-30T12:10:00.000Z",
    "2026-11-30T12:00:00.000Z",
    "2026-11-29T09:00:00.000Z",
  ]);
  assert.equal(texts(xml, "updated")[2], "2026-11-30T12:20:00.000Z");
  assert.ok(xml.includes('<link rel="self" type="application/atom+xml" href="https://example.com/status/feed"/>'));
  assert.ok(xml.includes('href="https://example.com/status#incident-i1"'));
});

Deno.test("RSS has a guid for each update, and its dates are RFC 822 with a zone", () => {
  const xml = rssFeed(PAGE, ADDRESS);

  assert.deepEqual(texts(xml, "guid"), [
    "urn:uptuple:i1-closed",
    "urn:uptuple:u1",
    "urn:uptuple:i1-opened",
    "urn:uptuple:m1-1796000000-2",
  ]);
  assert.equal(texts(xml, "pubDate")[1], "Mon, 30 Nov 2026 12:10:00 GMT");
  assert.deepEqual(texts(xml, "lastBuildDate"), ["Mon, 30 Nov 2026 12:45:30 GMT"]);
  assert.ok(xml.includes('<guid isPermaLink="false">'));
});

Deno.test("paragraphs stay paragraphs, and what is HTML in a text is shown and not run", () => {
  const [update] = incident().updates;
  assert.ok(update !== undefined);
  const page = statusPage({ incidents: [incident({ updates: [{ ...update, body: `one\ntwo\n\n${HOSTILE}` }] })] });
  const escaped = "&#60;p&#62;one&#60;br&#62;two&#60;/p&#62;&#60;p&#62;&#38;#60;script&#38;#62;";

  assert.ok(atomFeed(page, ADDRESS).includes(escaped));
  assert.ok(rssFeed(page, ADDRESS).includes(escaped));
});

Deno.test("names that XML cannot hold are replaced, and the rest is escaped", () => {
  const page = statusPage({ incidents: [incident({ component: { id: "c1", name: `\u0001\uffff${HOSTILE}` } })] });
  for (const xml of [atomFeed(page, ADDRESS), rssFeed(page, ADDRESS)]) {
    assert.ok(!xml.includes("\u0001") && !xml.includes("\uffff"));
    assert.ok(!xml.includes("<script>"));
    assert.ok(xml.includes("\ufffd\ufffd&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; &#38; &#39;it&#39;"));
  }
});

Deno.test("a feed that has nothing new is byte for byte the same", () => {
  assert.equal(atomFeed(PAGE, ADDRESS), atomFeed(structuredClone(PAGE), ADDRESS));
  assert.equal(rssFeed(PAGE, ADDRESS), rssFeed(structuredClone(PAGE), ADDRESS));
});
