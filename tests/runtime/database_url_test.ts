import assert from "node:assert/strict";
import { parseDatabaseUrl, redactDatabaseUrl, withDatabase, withLogin } from "../../src/database/url.ts";

Deno.test("a URL is taken apart, its parts decoded", () => {
  assert.deepEqual(
    parseDatabaseUrl("postgresql://us%40er:p%3Ass%2F%23@db.example.com:6000/my%20db?application_name=me"),
    {
      hosts: ["db.example.com"],
      ports: [6000],
      user: "us@er",
      password: "p:ss/#",
      database: "my db",
      tls: "prefer",
      rootCertificates: null,
      transactionPooler: false,
      applicationName: "me",
      serverOptions: null,
      targetSessionAttributes: null,
    },
  );
});

Deno.test("what is left out has libpq's defaults", () => {
  const { hosts, ports, password, database } = parseDatabaseUrl("postgres://me@");
  assert.deepEqual([hosts, ports, password, database], [["localhost"], [5432], "", "me"]);
});

Deno.test("hosts may be several, IPv6, or a socket's directory", () => {
  const places = (url: string) => {
    const { hosts, ports } = parseDatabaseUrl(url);
    return hosts.map((host, index) => [host, ports[index]]);
  };
  assert.deepEqual(places("postgres://u@a:1,b,[::1]:3/d"), [["a", 1], ["b", 5432], ["::1", 3]]);
  assert.deepEqual(places("postgres://u@/d?host=/run/postgresql&port=7"), [["/run/postgresql", 7]]);
  assert.deepEqual(places("postgres://u@%2Frun%2Fpostgresql:7/d"), [["/run/postgresql", 7]]);
});

Deno.test("TLS is tried over a network and not on this machine, unless the URL says", () => {
  const tls = (url: string) => parseDatabaseUrl(url).tls;
  assert.equal(tls("postgres://u@db.example.com/d"), "prefer");
  assert.equal(tls("postgres://u@127.0.0.1/d"), "disable");
  assert.equal(tls("postgres://u@localhost/d?sslmode=require"), "require");
  assert.equal(tls("postgres://u@db.example.com/d?sslmode=disable"), "disable");
  assert.equal(tls("postgres://u@db.example.com/d?sslrootcert=/ca.pem"), "verify-full");
});

Deno.test("a transaction pooler is known by its host, its port, or the URL's word", () => {
  const pooled = (url: string) => parseDatabaseUrl(url).transactionPooler;
  assert.equal(pooled("postgres://u@ep-cool-name-pooler.eu-central-1.aws.example.com/d"), true);
  assert.equal(pooled("postgres://u@db.example.com:6543/d"), true);
  assert.equal(pooled("postgres://u@db.example.com/d?pgbouncer=true"), true);
  assert.equal(pooled("postgres://u@db.example.com/d"), false);
});

Deno.test("a URL is shown without its password, even one that cannot be parsed", () => {
  assert.equal(redactDatabaseUrl("postgres://me:secret@db/d"), "postgres://me:***@db/d");
  assert.equal(redactDatabaseUrl("postgres://me:se/cr@et@db:x/d"), "postgres://me:***@db:x/d");
  assert.equal(redactDatabaseUrl("postgres://me@db/d?password=secret&a=b"), "postgres://me@db/d?password=***&a=b");
});

Deno.test("another database and another login of the same server", () => {
  assert.equal(
    withDatabase("postgres://me:pw@db:1/old?sslmode=require", "a b"),
    "postgres://me:pw@db:1/a%20b?sslmode=require",
  );
  assert.equal(withDatabase("postgres://me@db", "new"), "postgres://me@db/new");
  assert.equal(withLogin("postgres://me:pw@db:1/d?x=y", "you", "p@ss"), "postgres://you:p%40ss@db:1/d?x=y");
});
