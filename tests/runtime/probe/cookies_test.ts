import assert from "node:assert/strict";
import { cookieJar } from "../../../src/jobs/http/cookies.ts";

/** What is sent to `to` after `from` set these cookies. */
function sent(from: string, setCookies: string[], to: string): string {
  const jar = cookieJar();
  jar.store(new URL(from), setCookies.map((value) => ["set-cookie", value] as const));
  return jar.header(new URL(to));
}

for (
  const [rule, from, cookie, to, expected] of [
    ["goes back to its host", "http://a.example/", "a=1", "http://a.example/x", "a=1"],
    ["goes to any port of its host", "http://a.example:1/", "a=1", "http://a.example:2/", "a=1"],
    ["does not go below its host", "http://a.example/", "a=1", "http://b.a.example/", ""],
    ["does not go beside its host", "http://a.example/", "a=1", "http://xa.example/", ""],
    ["of a domain goes below it", "http://a.example/", "a=1; Domain=a.example", "http://b.a.example/", "a=1"],
    [
      "of a domain with a dot goes below it",
      "http://a.example/",
      "a=1; Domain=.a.example",
      "http://b.a.example/",
      "a=1",
    ],
    [
      "of the domain above goes beside its host",
      "http://b.a.example/",
      "a=1; Domain=a.example",
      "http://c.a.example/",
      "a=1",
    ],
    [
      "of a domain does not go to one that ends alike",
      "http://a.example/",
      "a=1; Domain=a.example",
      "http://xa.example/",
      "",
    ],
    ["of another domain is not taken", "http://a.example/", "a=1; Domain=b.example", "http://b.example/", ""],
    ["of a domain below is not taken", "http://a.example/", "a=1; Domain=b.a.example", "http://b.a.example/", ""],
    ["of a top-level domain is not taken", "http://a.example/", "a=1; Domain=example", "http://b.example/", ""],
    ["of an empty domain is its host's", "http://a.example/", "a=1; Domain=", "http://a.example/", "a=1"],
    ["of an address goes back to it", "http://127.0.0.1/", "a=1; Domain=127.0.0.1", "http://127.0.0.1/", "a=1"],
    ["of a part of an address is not taken", "http://127.0.0.1/", "a=1; Domain=0.0.1", "http://127.0.0.1/", ""],
    ["goes back to an IPv6 address", "http://[::1]/", "a=1", "http://[::1]/", "a=1"],
    [
      "goes back whatever the case of the host",
      "http://A.example/",
      "a=1; Domain=A.EXAMPLE",
      "http://a.EXAMPLE/",
      "a=1",
    ],
    ["goes to the directory it comes from", "http://a.example/d/x", "a=1", "http://a.example/d/y", "a=1"],
    ["does not leave that directory", "http://a.example/d/x", "a=1", "http://a.example/e", ""],
    ["of a path goes to it", "http://a.example/", "a=1; Path=/d", "http://a.example/d", "a=1"],
    ["of a path goes below it", "http://a.example/", "a=1; Path=/d", "http://a.example/d/e", "a=1"],
    ["of a path does not go to one that begins alike", "http://a.example/", "a=1; Path=/d", "http://a.example/de", ""],
    ["of a relative path has the default one", "http://a.example/d/x", "a=1; Path=d", "http://a.example/d/", "a=1"],
    ["that is secure goes over TLS", "https://a.example/", "a=1; Secure", "https://a.example/", "a=1"],
    ["that is secure does not go in plain text", "https://a.example/", "a=1; Secure", "http://a.example/", ""],
    ["that is secure is not taken in plain text", "http://a.example/", "a=1; Secure", "https://a.example/", ""],
    ["set in plain text goes over TLS", "http://a.example/", "a=1", "https://a.example/", "a=1"],
    ["that is over is gone", "http://a.example/", "a=1; Max-Age=0", "http://a.example/", ""],
    ["with a negative age is gone", "http://a.example/", "a=1; Max-Age=-5", "http://a.example/", ""],
    [
      "lives by Max-Age before Expires",
      "http://a.example/",
      "a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
      "http://a.example/",
      "a=1",
    ],
    ["with an Expires that is no date stays", "http://a.example/", "a=1; Expires=tomorrow", "http://a.example/", "a=1"],
    ["without a value is sent empty", "http://a.example/", "a=", "http://a.example/", "a="],
    ["keeps what comes after another equals sign", "http://a.example/", "a=b=c==", "http://a.example/", "a=b=c=="],
    ["keeps its quotes", "http://a.example/", 'a="b c"', "http://a.example/", 'a="b c"'],
    ["without a name is not taken", "http://a.example/", "=1", "http://a.example/", ""],
    ["that is but a word is not taken", "http://a.example/", "a", "http://a.example/", ""],
    ["that is too long is not taken", "http://a.example/", `a=${"x".repeat(4096)}`, "http://a.example/", ""],
  ] as const
) {
  Deno.test(`a cookie ${rule}`, () => assert.equal(sent(from, [cookie], to), expected));
}

Deno.test("a cookie that is set again has its new value, and one that is ended is gone", () => {
  assert.equal(sent("http://a.example/", ["a=1", "b=1", "a=2", "b=; Max-Age=0"], "http://a.example/"), "a=2");
});

Deno.test("cookies of longer paths come first", () => {
  assert.equal(
    sent("http://a.example/", ["a=1; Path=/", "b=2; Path=/d/e", "c=3; Path=/d"], "http://a.example/d/e"),
    "b=2; c=3; a=1",
  );
});

Deno.test("a server that sets cookies without end is heard for a while", () => {
  const cookies = Array.from({ length: 1000 }, (_, index) => `c${index}=1`);
  assert.equal(sent("http://a.example/", cookies, "http://a.example/").split("; ").length, 50);
});
