import { configureLog } from "./src/log.ts";
import { type Config, ConfigError, readConfig } from "./src/config.ts";
import { judgeDenoVersion } from "./src/deno_version.ts";
import { StartError } from "./src/database/open.ts";
import { createProgram } from "./src/program.ts";
import { AccessError, accessPolicy } from "./src/web/access.ts";
import { createApp } from "./src/web/app.tsx";

/** Says in one sentence why the program cannot go on, and ends it. */
function refuse(message: string): never {
  console.error(message);
  Deno.exit(1);
}

const { refusal, warning } = judgeDenoVersion(Deno.version.deno);
if (refusal !== null) refuse(refusal);
if (warning !== null) console.error(warning);

let config: Config;
try {
  config = readConfig((name) => Deno.env.get(name));
} catch (error) {
  if (error instanceof ConfigError) refuse(error.message);
  throw error;
}
await configureLog(config.log);
const program = createProgram(config);

const everyMinute = "* * * * *";
Deno.cron("work", everyMinute, { backoffSchedule: [] }, program.tick);
Deno.cron("heartbeat", everyMinute, { backoffSchedule: [] }, program.heartbeat);

if (config.roles.has("web")) {
  try {
    const access = accessPolicy({
      host: config.host,
      viewerToken: config.viewerToken ?? undefined,
      public: config.publicDashboard ? "dashboard" : undefined,
    });
    const app = createApp({
      database: program.database,
      access,
      metricsToken: config.metricsToken,
      publicUrl: config.publicUrl,
    });
    Deno.serve({ hostname: config.host, port: config.port, onListen() {} }, app.fetch);
  } catch (error) {
    if (error instanceof AccessError) refuse(error.message);
    if (error instanceof Deno.errors.AddrInUse) {
      refuse(`Port ${config.port} on ${config.host} is taken: stop what listens there, or set PORT to another one.`);
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      refuse(`Port ${config.port} is for the administrator of this machine: set PORT to one above 1023.`);
    }
    const isNoAddress = error instanceof Error && error.message.startsWith("failed to lookup address");
    if (error instanceof Deno.errors.AddrNotAvailable || isNoAddress) {
      refuse(`HOST is "${config.host}", which is no address of this machine: use 127.0.0.1 or 0.0.0.0.`);
    }
    throw error;
  }
}

let stoppingSince: number | null = null;
async function stop(): Promise<void> {
  if (stoppingSince !== null) {
    // Ctrl-C comes twice under `deno task`: from the terminal, and passed on by the task. A later one is a person's impatience.
    if (performance.now() - stoppingSince > 1000) Deno.exit(130);
    return;
  }
  stoppingSince = performance.now();
  await program.stop();
  Deno.exit(0);
}
for (const signal of Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK"] as const : ["SIGINT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, stop);
}

program.start().catch((error) => {
  if (error instanceof StartError) refuse(error.message);
  throw error;
});
