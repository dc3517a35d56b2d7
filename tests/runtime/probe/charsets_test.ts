import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { observe } from "../../support/probing.ts";
import { answer, says, target } from "../../support/targets.ts";

/** The body of an answer with this Content-Type, or with none, as it is reported. */
async function read(type: string | null, body: string | Uint8Array): Promise<string | undefined> {
  await using server = await target(says(answer("200 OK", type === null ? [] : [`Content-Type: ${type}`], body)));
  return (await observe(server.url, { read_body: true })).body;
}

const utf16 = (text: string, mark: number[] = []) => Buffer.concat([Buffer.from(mark), Buffer.from(text, "utf16le")]);
const utf8 = (text: string) => new TextEncoder().encode(text);

for (
  const [type, body, text] of [
    ["text/plain; charset=iso-8859-1", "caf\xe9", "café"],
    ["text/plain; charset=latin1", "caf\xe9", "café"],
    ["text/plain; charset=windows-1252", "\x80 5 \x96 caf\xe9", "€ 5 – café"],
    ["text/plain; charset=iso-8859-1", "\x80 5", "€ 5"],
    ["text/plain; charset=windows-1251", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"],
    ["text/plain; charset=koi8-r", "\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"],
    ["text/plain; charset=Shift_JIS", "\x83\x65\x83\x58\x83\x67", "テスト"],
    ["text/plain; charset=gbk", "\xc4\xe3\xba\xc3", "你好"],
    ["text/plain; charset=utf-16le", utf16("héllo"), "héllo"],
    ["text/plain; charset=utf-16", utf16("héllo"), "héllo"],
    ["text/plain; charset=utf-16be", utf16("héllo").swap16(), "héllo"],
    ["text/html;CHARSET='utf-8'", utf8("café"), "café"],
    ['application/json; profile=x; charset="ISO-8859-1"', '{"a":"\xe9"}', '{"a":"é"}'],
  ] as const
) {
  Deno.test(`a body of ${type} is read as that`, async () => assert.equal(await read(type, body), text));
}

for (
  const [what, body] of [
    ["UTF-8", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8('{"é":1}')])],
    ["UTF-16, little end first", utf16('{"é":1}', [0xff, 0xfe])],
    ["UTF-16, big end first", utf16('{"é":1}', [0xff, 0xfe]).swap16()],
  ] as const
) {
  Deno.test(`the byte order mark of ${what} wins over every label, and is not part of the text`, async () => {
    for (const type of [null, "application/json", "text/html; charset=iso-8859-1", "text/plain; charset=utf-8"]) {
      assert.equal(await read(type, body), '{"é":1}');
    }
  });
}

for (
  const [type, body, text] of [
    ["text/html", '<meta charset="windows-1251">\xcf\xf0\xe8', "При"],
    ["text/html", '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">\xcf\xf0\xe8', "При"],
    [null, "<html><head><META CHARSET=koi8-r>\xf0\xd2\xc9", "При"],
    ["text/html; charset=no-such-thing", "<meta charset=windows-1251>\xcf\xf0\xe8", "При"],
    ["application/xml", '<?xml version="1.0" encoding="ISO-8859-1"?><a>caf\xe9</a>', "café"],
    ["image/svg+xml", "<?xml version='1.0' encoding='windows-1251'?><a>\xcf\xf0\xe8</a>", "При"],
  ] as const
) {
  Deno.test(`what a document of ${type} declares counts where its header says nothing: ${body.slice(0, 40)}`, async () => {
    assert.ok((await read(type, body))?.includes(text));
  });
}

Deno.test("a header wins over the declaration of a document", async () => {
  assert.ok((await read("text/html; charset=utf-8", "<meta charset=windows-1251>caf\xc3\xa9"))?.includes("café"));
});

Deno.test("a declaration counts in documents only, near their beginning, and not when it cannot be true", async () => {
  const declared = "<meta charset=windows-1251>caf\xc3\xa9";
  for (const type of ["text/plain", "application/json"]) assert.ok((await read(type, declared))?.includes("café"));
  assert.ok((await read("text/html", `${" ".repeat(1100)}${declared}`))?.includes("café"));
  assert.ok((await read("text/html", "<meta charset=utf-16>caf\xc3\xa9"))?.includes("café"));
});

Deno.test("a wrong label costs the characters that it is wrong about, and nothing else", async () => {
  assert.equal(await read("text/plain; charset=utf-8", "caf\xe9 open"), "caf\ufffd open");
  assert.equal(await read("text/plain; charset=us-ascii", "caf\xe9 open"), "café open");
  assert.equal(await read("text/plain; charset=", "caf\xc3\xa9"), "café");
  assert.equal(await read("text/plain; charset=utf-8", utf16("ok", [])), "o\0k\0");
});

Deno.test("the search for a declaration takes no time in a document that is built against it", async () => {
  const startedAt = performance.now();
  await read("text/html", "<meta ".repeat(10_000));
  await read("text/xml", `<?xml ${"encoding ".repeat(7000)}`);
  assert.ok(performance.now() - startedAt < 1000);
});
