import assert from "node:assert/strict";
import { ConfigError, readConfig } from "../../src/config.ts";

const read = (environment: Record<string, string>) => readConfig((name) => environment[name]);

Deno.test("an empty environment means a database of its own, on loopback, with every role", () => {
  const { worker, roles, ...rest } = read({});
  assert.match(worker, /^.+-[0-9a-f]{8}$/);
  assert.deepEqual([...roles], ["probe", "deliver", "web"]);
  assert.deepEqual(rest, {
    databaseUrl: null,
    dataDir: ".uptuple",
    migrate: true,
    host: "127.0.0.1",
    port: 8080,
    region: "default",
    tasksFile: "tasks.json",
    log: { level: "info", format: null },
    networks: { strict: false, deny: [], allow: [] },
    canaryUrls: [],
    heartbeatUrl: null,
    publicUrl: null,
    viewerToken: null,
    metricsToken: null,
    publicDashboard: false,
    onDeploy: false,
  });
});

Deno.test("canaries are one URL or several, and one that is none is refused without being quoted", () => {
  const canaries = (value: string) => read({ UPTUPLE_CANARY_URL: value }).canaryUrls;
  assert.deepEqual(canaries("https://a.example/up"), ["https://a.example/up"]);
  assert.deepEqual(canaries(" https://a.example/up, http://10.0.0.1:8080/ ,"), [
    "https://a.example/up",
    "http://10.0.0.1:8080/",
  ]);
  for (
    const [value, start] of [["a.example", "is not"], [
      "https://a/,ftp://u:secret@b/",
      "has an entry, number 2,",
    ]] as const
  ) {
    assert.throws(() => canaries(value), (error: Error) => {
      assert.ok(error instanceof ConfigError);
      assert.ok(error.message.startsWith(`UPTUPLE_CANARY_URL ${start}`), error.message);
      assert.doesNotMatch(error.message, /secret|a\.example/);
      return true;
    });
  }
});

Deno.test("a variable that is set to blanks counts as not set", () => {
  assert.equal(read({ PORT: " ", UPTUPLE_REGION: "" }).port, 8080);
});

Deno.test("the log's level and format may come in either order", () => {
  assert.deepEqual(read({ UPTUPLE_LOG: "json, debug" }).log, { level: "debug", format: "json" });
});

Deno.test("the public URL is the address of a page, and anything else is refused with the cure", () => {
  assert.equal(read({ UPTUPLE_PUBLIC_URL: "https://status.example.com" }).publicUrl, "https://status.example.com");
  for (
    const value of ["status.example.com", "ftp://x/", "https://x/?a", "https://x/#a", "https://me@x/", "https://a b/"]
  ) {
    assert.throws(() => read({ UPTUPLE_PUBLIC_URL: value }), {
      name: "ConfigError",
      message:
        `UPTUPLE_PUBLIC_URL is "${value}", and must be the address that people open, such as https://status.example.com/.`,
    });
  }
});

Deno.test("two processes of one machine have different names", () => {
  assert.notEqual(read({}).worker, read({}).worker);
});

Deno.test("on Deno Deploy a database must be given, and off the production timeline only pages are served", () => {
  assert.throws(() => read({ DENO_DEPLOY: "1" }), ConfigError);
  const DATABASE_URL = "postgres://x@db.example/x";
  const branch = read({ DENO_DEPLOY: "true", DENO_TIMELINE: "git-branch/main", DATABASE_URL });
  assert.deepEqual([...branch.roles], ["web"]);
  const production = read({ DENO_DEPLOY: "true", DENO_TIMELINE: "production", DATABASE_URL, UPTUPLE_ROLES: "probe" });
  assert.deepEqual([...production.roles], ["probe"]);
});

Deno.test("a metrics token that could be guessed is refused by its name", () => {
  assert.throws(
    () => readConfig((name) => name === "UPTUPLE_METRICS_TOKEN" ? "short" : undefined),
    { name: "ConfigError", message: /^UPTUPLE_METRICS_TOKEN is shorter than 16 characters/ },
  );
});

Deno.test("networks are read from lists with commas, blanks or lines between them", () => {
  assert.deepEqual(
    read({
      UPTUPLE_NETWORK_POLICY: "strict",
      UPTUPLE_DENY_NETWORKS: "10.0.0.0/8,fd00::/8",
      UPTUPLE_ALLOW_NETWORKS: " 10.1.0.0/16\n127.0.0.1, ",
    }).networks,
    { strict: true, deny: ["10.0.0.0/8", "fd00::/8"], allow: ["10.1.0.0/16", "127.0.0.1"] },
  );
});

for (
  const [name, value, says] of [
    ["UPTUPLE_NETWORK_POLICY", "open", /UPTUPLE_NETWORK_POLICY is "open", and must be strict .* or default/],
    [
      "UPTUPLE_DENY_NETWORKS",
      "10.0.0.0/8, intranet",
      /UPTUPLE_DENY_NETWORKS: "intranet" is not a network: write it as/,
    ],
    ["UPTUPLE_ALLOW_NETWORKS", "10.1.2.3/8", /UPTUPLE_ALLOW_NETWORKS: "10\.1\.2\.3\/8" has more bits than its prefix/],
  ] as const
) {
  Deno.test(`${name}=${value} is refused with what to write instead`, () => {
    assert.throws(() => read({ [name]: value }), (error) => error instanceof ConfigError && says.test(error.message));
  });
}
