import { hostname as systemHostname } from "node:os";
import { parseNetwork } from "./jobs/network.ts";
import type { NetworkSettings } from "./jobs/network_policy.ts";

/** What one runtime may do; all of it by default. */
export type Role = "probe" | "deliver" | "web";

/** How much is logged. */
export type LogLevel = "debug" | "info" | "warning" | "error";

/** How it is logged: for people, or one JSON object a line. */
export type LogFormat = "pretty" | "json";

/** Everything that the environment decides, validated. */
export interface Config {
  /** The database to use, or null for the program's own PostgreSQL. */
  databaseUrl: string | null;
  /** Where the program's own PostgreSQL keeps its files. */
  dataDir: string;
  /** Whether the schema is brought to this release at start-up. */
  migrate: boolean;
  /** The address to listen on. */
  host: string;
  port: number;
  roles: ReadonlySet<Role>;
  /** Jobs of this region are claimed. */
  region: string;
  /** The file that scheduled tasks are loaded from. It need not exist. */
  tasksFile: string;
  log: { level: LogLevel; format: LogFormat | null };
  /** What probes and webhook posts may connect to. */
  networks: NetworkSettings;
  /** What this runtime tries, now and then and when nothing answers its probes, to tell whether its own network is down. */
  canaryUrls: string[];
  /** Called once a minute while the monitor vouches for itself, or null. */
  heartbeatUrl: string | null;
  /** Where people reach the pages, for links in notices, or null to leave the database's setting as it is. */
  publicUrl: string | null;
  /** What a person shows to see the pages where `host` is not loopback, or null. */
  viewerToken: string | null;
  /** What a scraper brings to read `/metrics`, or null if it needs what viewers need. */
  metricsToken: string | null;
  /** True if everybody may see the dashboard. */
  publicDashboard: boolean;
  /** Whether this is Deno Deploy: no server of its own, no files, and a database that is down is waited for. */
  onDeploy: boolean;
  /** This runtime's name in the database, another one for each process. */
  worker: string;
}

/** A variable of the environment that cannot be used. The message is a sentence that names it and the cure. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const ROLES: readonly Role[] = ["probe", "deliver", "web"];
const LEVELS: readonly LogLevel[] = ["debug", "info", "warning", "error"];
const FORMATS: readonly LogFormat[] = ["pretty", "json"];

/**
 * Reads the environment. The only place that does, but for the `UPTUPLE_SECRET_...` that `src/secrets.ts` expands.
 *
 * On Deno Deploy off its production timeline only the web role is kept, since crons fire on every branch there.
 *
 * @param variable Reads a variable; undefined if it is not set.
 * @throws {ConfigError} If a variable cannot be used.
 */
export function readConfig(variable: (name: string) => string | undefined): Config {
  const setting = (name: string) => {
    const value = variable(name)?.trim();
    return value === undefined || value === "" ? null : value;
  };
  const databaseUrl = setting("DATABASE_URL");
  const onDeploy = variable("DENO_DEPLOY") !== undefined;
  if (onDeploy && databaseUrl === null) {
    throw new ConfigError(
      "DATABASE_URL is not set: Deno Deploy cannot run the program's own PostgreSQL, so link a database.",
    );
  }
  let roles = readRoles(setting("UPTUPLE_ROLES"));
  if (onDeploy && variable("DENO_TIMELINE") !== "production") roles = new Set(["web"]);

  return {
    databaseUrl,
    dataDir: setting("UPTUPLE_DATA_DIR") ?? ".uptuple",
    migrate: readSwitch("UPTUPLE_MIGRATE", setting("UPTUPLE_MIGRATE") ?? "on"),
    host: setting("HOST") ?? (onDeploy ? "0.0.0.0" : "127.0.0.1"),
    port: readPort(setting("PORT") ?? "8080"),
    roles,
    region: readRegion(setting("UPTUPLE_REGION") ?? "default"),
    tasksFile: setting("UPTUPLE_TASKS_FILE") ?? "tasks.json",
    log: readLog(setting("UPTUPLE_LOG")),
    networks: {
      strict: readNetworkPolicy(setting("UPTUPLE_NETWORK_POLICY") ?? "default"),
      deny: readNetworks("UPTUPLE_DENY_NETWORKS", setting("UPTUPLE_DENY_NETWORKS")),
      allow: readNetworks("UPTUPLE_ALLOW_NETWORKS", setting("UPTUPLE_ALLOW_NETWORKS")),
    },
    canaryUrls: readCanaryUrls(setting("UPTUPLE_CANARY_URL")),
    heartbeatUrl: readHeartbeatUrl(setting("UPTUPLE_HEARTBEAT_URL")),
    publicUrl: readPublicUrl(setting("UPTUPLE_PUBLIC_URL")),
    viewerToken: readToken("UPTUPLE_VIEWER_TOKEN", setting("UPTUPLE_VIEWER_TOKEN")),
    metricsToken: readToken("UPTUPLE_METRICS_TOKEN", setting("UPTUPLE_METRICS_TOKEN")),
    publicDashboard: readPublic(setting("UPTUPLE_PUBLIC")),
    onDeploy,
    worker: `${systemHostname()}-${crypto.randomUUID().slice(0, 8)}`,
  };
}

function readRoles(value: string | null): ReadonlySet<Role> {
  if (value === null) return new Set(ROLES);
  const roles = value.split(",").map((role) => role.trim()).filter((role) => role !== "");
  const unknown = roles.find((role) => !(ROLES as readonly string[]).includes(role));
  if (unknown !== undefined || roles.length === 0) {
    throw new ConfigError(
      `UPTUPLE_ROLES is "${value}", and must be some of ${ROLES.join(", ")}, separated by commas.`,
    );
  }
  return new Set(roles as Role[]);
}

function readSwitch(name: string, value: string): boolean {
  if (value === "on") return true;
  if (value === "off") return false;
  throw new ConfigError(`${name} is "${value}", and must be on or off.`);
}

function readPort(value: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : NaN;
  if (!(port >= 1 && port <= 65535)) throw new ConfigError(`PORT is "${value}", and must be a number from 1 to 65535.`);
  return port;
}

function readRegion(value: string): string {
  if (/^[A-Za-z0-9_.-]{1,63}$/.test(value)) return value;
  throw new ConfigError(
    `UPTUPLE_REGION is "${value}", and must be up to 63 letters, digits, dots, hyphens and underscores.`,
  );
}

function readLog(value: string | null): Config["log"] {
  const log: Config["log"] = { level: "info", format: null };
  for (const word of (value ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "")) {
    if ((LEVELS as readonly string[]).includes(word)) log.level = word as LogLevel;
    else if ((FORMATS as readonly string[]).includes(word)) log.format = word as LogFormat;
    else {
      throw new ConfigError(
        `UPTUPLE_LOG has "${word}", and may hold a level (${LEVELS.join(", ")}) and a format (${FORMATS.join(", ")}).`,
      );
    }
  }
  return log;
}

/** @returns Whether it is the strict one. */
function readNetworkPolicy(value: string): boolean {
  if (value === "strict") return true;
  if (value === "default") return false;
  throw new ConfigError(
    `UPTUPLE_NETWORK_POLICY is "${value}", and must be strict (the public Internet only) or default (all but link-local and cloud metadata addresses).`,
  );
}

function readNetworks(name: string, value: string | null): string[] {
  const networks = (value ?? "").split(/[\s,]+/).filter((network) => network !== "");
  for (const network of networks) {
    try {
      parseNetwork(network);
    } catch (error) {
      throw new ConfigError(`${name}: ${error instanceof Error ? error.message : error}. Commas go between networks.`);
    }
  }
  return networks;
}

/** The message does not quote the URL, which may hold a password. */
function readCanaryUrls(value: string | null): string[] {
  const urls = (value ?? "").split(",").map((url) => url.trim()).filter((url) => url !== "");
  for (const [index, url] of urls.entries()) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      const which = urls.length === 1 ? "is not" : `has an entry, number ${index + 1}, that is not`;
      throw new ConfigError(
        `UPTUPLE_CANARY_URL ${which} an http or https URL: give the whole URL of what answers whenever this runtime's network is well, ` +
          "several separated by commas.",
      );
    }
  }
  return urls;
}

function readHeartbeatUrl(value: string | null): string | null {
  if (value !== null && (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))) {
    throw new ConfigError(
      "UPTUPLE_HEARTBEAT_URL is not an http or https URL: give the whole URL that is to be called.",
    );
  }
  return value;
}

function readPublicUrl(value: string | null): string | null {
  if (value !== null && (!/^https?:\/\/[^?#@\s]+$/.test(value) || !URL.canParse(value))) {
    throw new ConfigError(
      `UPTUPLE_PUBLIC_URL is "${value}", and must be the address that people open, such as https://status.example.com/.`,
    );
  }
  return value;
}

function readToken(name: string, value: string | null): string | null {
  if (value !== null && value.length < 16) {
    throw new ConfigError(
      `${name} is shorter than 16 characters and could be guessed: use the output of \`openssl rand -hex 16\`.`,
    );
  }
  return value;
}

function readPublic(value: string | null): boolean {
  if (value === null) return false;
  if (value === "dashboard") return true;
  throw new ConfigError(`UPTUPLE_PUBLIC is "${value}", and must be dashboard or not set.`);
}
