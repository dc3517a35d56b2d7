import assert from "node:assert/strict";
import type { DeliveryAnswer, MailRequest } from "../../../src/alerts/notice.ts";
import { PostStoppedError } from "../../../src/alerts/post_notice.ts";
import { networkPolicy } from "../../../src/jobs/network_policy.ts";
import { authority, selfSigned } from "../../support/certificates.ts";
import { mailServer, type MailServerOptions } from "../../support/mail_server.ts";
import { assertFailed, post, type PostingOptions } from "../../support/posting.ts";
import { until } from "../../support/wait.ts";

const EVENT = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";

/** A mail as SQL renders it, to a server on this machine. */
function mailFor(port: number, request: Partial<MailRequest> = {}): MailRequest {
  return {
    url: `smtp://localhost:${port}`,
    starttls: "offered",
    ...request,
    mail: {
      from: "uptuple@example.com",
      to: ["ops@example.com", "boss@example.com"],
      subject: "inventory is DOWN",
      text: "inventory is DOWN\n\nHTTP 503",
      html: "<p>inventory is DOWN</p>",
      date: "2026-01-02T03:04:05.678Z",
      message_id: `<${EVENT}@example.com>`,
      references: "<uptuple-01234567-incident-42@example.com>",
      ...request.mail,
    },
  };
}

function send(request: MailRequest, options: PostingOptions = {}): Promise<DeliveryAnswer> {
  return post("", { ...options, notice: { request, ...options.notice } });
}

/** Sends to a server that behaves so. */
async function sendTo(
  server: MailServerOptions,
  request: Partial<MailRequest> = {},
  options: PostingOptions = {},
): Promise<DeliveryAnswer> {
  await using started = await mailServer(server);
  return await send(mailFor(started.port, request), options);
}

const answered = ({ status, command, excerpt }: DeliveryAnswer) => ({ status, command, excerpt });

Deno.test("a mail is handed over once for all recipients, as text and HTML, with the headers that make it one conversation", async () => {
  await using server = await mailServer();
  const reported = await send(mailFor(server.port));

  assert.deepEqual(answered(reported), { status: 250, command: "DATA", excerpt: "250 2.0.0 Queued as 4711" });
  assert.ok(reported.latency_ms > 0);
  const [mail, ...others] = server.mails;
  assert.ok(mail);
  assert.deepEqual(others, []);
  assert.equal(mail.from, "uptuple@example.com");
  assert.deepEqual(mail.to, ["ops@example.com", "boss@example.com"]);
  assert.equal(mail.headers.get("from"), "Uptuple <uptuple@example.com>");
  assert.equal(mail.headers.get("to"), "ops@example.com, boss@example.com");
  assert.equal(mail.headers.get("subject"), "inventory is DOWN");
  assert.equal(mail.headers.get("message-id"), `<${EVENT}@example.com>`);
  assert.equal(mail.headers.get("references"), "<uptuple-01234567-incident-42@example.com>");
  assert.equal(mail.headers.get("date"), "Fri, 02 Jan 2026 03:04:05 +0000");
  assert.equal(mail.headers.get("auto-submitted"), "auto-generated");
  assert.match(mail.headers.get("content-type") ?? "", /^multipart\/alternative/);
  assert.match(mail.source, /Content-Type: text\/plain; charset=utf-8[\s\S]*HTTP 503[\s\S]*Content-Type: text\/html/);
});

Deno.test("a mail that is sent again is the same, byte for byte", async () => {
  await using server = await mailServer();
  await send(mailFor(server.port));
  await send(mailFor(server.port), { notice: { attempt: 2 } });
  assert.equal(server.mails.length, 2);
  assert.equal(server.mails[0]?.source, server.mails[1]?.source);
});

Deno.test("no text can put a header or a recipient into a mail, or end it early", async () => {
  await using server = await mailServer();
  const injected = "caf\u00e9 \ud83d\udd25\r\nBcc: thief@example.com\r\n\r\n.\r\nMAIL FROM:<thief@example.com>";
  await send(mailFor(server.port, {
    mail: { ...mailFor(1).mail, subject: injected, text: injected, html: injected },
  }));
  const [mail, ...others] = server.mails;
  assert.ok(mail);
  assert.deepEqual(others, []);
  assert.deepEqual(mail.to, ["ops@example.com", "boss@example.com"]);
  assert.equal(mail.headers.has("bcc"), false);
  const words = (mail.headers.get("subject") ?? "").replace(/\?= =\?UTF-8\?Q\?/g, "");
  assert.match(words, /^=\?UTF-8\?/);
  const senders = server.commands.filter((line) => line.startsWith("MAIL FROM"));
  assert.deepEqual(senders.map((line) => line.split(" SIZE=")[0]), ["MAIL FROM:<uptuple@example.com>"]);
});

Deno.test("what looks like a secret in a mail's text is left as it is", async () => {
  await using server = await mailServer();
  const text = "HTTP 503: ${UPTUPLE_SECRET_MAIL}";
  const environment = { UPTUPLE_SECRET_MAIL: "correct horse" };
  await send(mailFor(server.port, { mail: { ...mailFor(1).mail, subject: text, text, html: text } }), { environment });
  const source = server.mails[0]?.source ?? "";
  assert.equal(server.mails[0]?.headers.get("subject"), text);
  assert.equal(source.includes("correct horse"), false);
});

Deno.test("the login comes from the environment, and is not in what is reported", async () => {
  await using server = await mailServer({
    login: "uptuple:correct horse",
    answers: { ".": "250 Queued for correct horse" },
  });
  const request = mailFor(server.port, { login: { user: "uptuple", password: "${UPTUPLE_SECRET_MAIL}" } });
  const reported = await send(request, { environment: { UPTUPLE_SECRET_MAIL: "correct horse" } });
  assert.equal(reported.status, 250);
  assert.equal(reported.excerpt, "250 Queued for [secret MAIL]");
});

Deno.test("a missing secret is reported, and no connection is made", async () => {
  await using server = await mailServer();
  const login = { user: "uptuple", password: "${UPTUPLE_SECRET_MAIL}" };
  assertFailed(await send(mailFor(server.port, { login })), "secret.missing", /UPTUPLE_SECRET_MAIL/);
  assert.deepEqual(server.commands, []);
});

Deno.test("a refusal is reported with the step that it answers", async (t) => {
  const environment = { UPTUPLE_SECRET_MAIL: "wrong" };
  const login = { user: "uptuple", password: "${UPTUPLE_SECRET_MAIL}" };
  const refusals: [string, MailServerOptions, Partial<MailRequest>, number, string][] = [
    ["a wrong login", { login: "uptuple:right" }, { login }, 535, "AUTH PLAIN"],
    ["no login", { login: "uptuple:right" }, {}, 530, "MAIL FROM"],
    ["a sender that may not", { answers: { "MAIL": "553 5.7.1 Not yours" } }, {}, 553, "MAIL FROM"],
    ["recipients that are unknown", { answers: { "RCPT": "550 5.1.1 No such user" } }, {}, 550, "RCPT TO"],
    ["a recipient that is to come back later", { answers: { "RCPT": "451 4.7.1 Greylisted" } }, {}, 451, "RCPT TO"],
    ["a mail that it does not like", { answers: { ".": "554 5.6.0 Spam" } }, {}, 554, "DATA"],
    ["a mail that it cannot store now", { answers: { ".": "452 4.3.1 No space" } }, {}, 452, "DATA"],
    ["everybody", { answers: { "CONNECT": "554 Go away" } }, {}, 554, "CONN"],
    ["STARTTLS", { answers: { "STARTTLS": "502 No such thing" } }, { starttls: "required" }, 502, "STARTTLS"],
  ];
  for (const [what, server, request, status, command] of refusals) {
    await t.step(what, async () => {
      const reported = await sendTo(server, request, { environment });
      assert.deepEqual([reported.status, reported.command], [status, command], JSON.stringify(reported));
      assert.match(reported.excerpt ?? "", new RegExp(`^${status} `));
    });
  }
});

Deno.test("a mail that is taken for some recipients is taken, and the report says for whom not", async () => {
  await using server = await mailServer({ answers: { "RCPT TO:<boss@": "550 5.1.1 No such user" } });
  const reported = await send(mailFor(server.port));
  assert.equal(reported.status, 250);
  assert.equal(reported.excerpt, "250 2.0.0 Queued as 4711 (but not for boss@example.com)");
  assert.deepEqual(server.mails[0]?.to, ["ops@example.com"]);
});

Deno.test("a plain connection is upgraded where the server offers it, and the login goes over TLS only", async () => {
  const trusted = await authority();
  await using server = await mailServer({ certificate: await trusted.issue(), login: "uptuple:correct horse" });
  const environment = { UPTUPLE_SECRET_CA: trusted.pem, UPTUPLE_SECRET_MAIL: "correct horse" };
  const login = { user: "uptuple", password: "${UPTUPLE_SECRET_MAIL}" };
  for (const starttls of ["required", "offered"] as const) {
    const request = mailFor(server.port, { starttls, ca: "${UPTUPLE_SECRET_CA}", login });
    const reported = await send(request, { environment });
    assert.equal(reported.status, 250, JSON.stringify(reported));
  }
  assert.deepEqual(server.mails.map(({ secure }) => secure), [true, true]);
  assert.ok(server.commands.indexOf("STARTTLS") < server.commands.findIndex((line) => line.startsWith("AUTH")));
});

Deno.test("a server that speaks TLS from the start is spoken to so", async () => {
  const trusted = await authority();
  await using server = await mailServer({ certificate: await trusted.issue(), implicitTls: true });
  const request = mailFor(server.port, { url: `smtps://localhost:${server.port}`, ca: "${UPTUPLE_SECRET_CA}" });
  const reported = await send(request, { environment: { UPTUPLE_SECRET_CA: trusted.pem } });
  assert.equal(reported.status, 250, JSON.stringify(reported));
  assert.deepEqual(server.mails.map(({ secure }) => secure), [true]);
});

Deno.test("a certificate that nobody vouches for is refused, with STARTTLS and from the start, and nothing is sent", async () => {
  const certificate = await selfSigned();
  await using starting = await mailServer({ certificate });
  assertFailed(await send(mailFor(starting.port, { starttls: "required" })), "tls.self_signed", /not accepted/);
  await using implicit = await mailServer({ certificate, implicitTls: true });
  assertFailed(
    await send(mailFor(implicit.port, { url: `smtps://localhost:${implicit.port}` })),
    "tls.self_signed",
    /signed by itself/,
  );
  assert.deepEqual([...starting.mails, ...implicit.mails], []);
});

Deno.test("a server that never answers costs no more than the timeout", async () => {
  const startedAt = performance.now();
  const reported = await sendTo({ silent: true }, {}, { notice: { timeoutMs: 300 } });
  assertFailed(reported, "timeout.headers");
  assert.ok(performance.now() - startedAt < 2000);
});

Deno.test("a connection that breaks is no answer", async () => {
  assertFailed(await sendTo({ answers: { "MAIL": "RESET" } }), "connect.reset");
  assertFailed(await sendTo({ answers: { ".": "RESET" } }), "connect.reset");
});

Deno.test("an address that the network policy denies is not connected to", async () => {
  await using server = await mailServer();
  const reported = await send(mailFor(server.port), { policy: networkPolicy({ deny: ["127.0.0.0/8", "::1/128"] }) });
  assertFailed(reported, "policy.denied", /denied network/);
  assert.deepEqual(server.commands, []);
});

Deno.test("a stop before the mail is handed over gives it back, and one after that does not", async () => {
  for (const [at, sent] of [["MAIL", false], [".", true]] as const) {
    const stop = new AbortController();
    await using server = await mailServer({ answers: { [at]: "SILENCE" } });
    const sending = send(mailFor(server.port), { signal: stop.signal });
    const last = at === "." ? "DATA" : "MAIL FROM";
    await until(`${last} has come`, () => server.commands.some((line) => line.startsWith(last)));
    stop.abort();
    await assert.rejects(sending, (error: PostStoppedError) => {
      assert.ok(error instanceof PostStoppedError, String(error));
      assert.equal(error.sent, sent, at);
      return true;
    });
  }
});
