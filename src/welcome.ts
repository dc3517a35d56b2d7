import type { Config } from "./config.ts";
import type { OpenDatabase } from "./database/open.ts";
import { redactDatabaseUrl } from "./database/url.ts";
import { RELEASE } from "./release.ts";

/**
 * Says on standard error where the page is, how to reach the database, and what to do next. Logs go to standard output, so that a
 * collector of logs never reads this.
 */
export async function welcome(config: Config, { database, migration, server }: OpenDatabase): Promise<void> {
  const [known] = await database.query<{ services: number; channels: number; version: string }>`
    select
      (select count(*)::integer from uptuple.status) as services,
      (select count(*)::integer from uptuple.channels_health) as channels,
      split_part(current_setting('server_version'), ' ', 1) as version`;
  if (known === undefined) return;

  const where = server === null
    ? `${redactDatabaseUrl(config.databaseUrl ?? "")}, PostgreSQL ${known.version}`
    : `psql "$(deno task --quiet db:url)" (PostgreSQL ${known.version} of its own, ${server.start}, data in ${server.directory})`;
  const lines = [`Uptuple ${RELEASE} works as ${config.worker} (${[...config.roles].join(", ")}).`];
  if (config.roles.has("web")) lines.push(`  page      ${pageUrl(config)}`);
  lines.push(`  database  ${where}`);
  if (migration !== null && migration.applied.length > 0) {
    const { length } = migration.applied;
    lines.push(`  schema    ${length} ${length === 1 ? "migration" : "migrations"} applied`);
  }
  if (migration !== null && migration.missingRoles.length > 0) {
    lines.push(
      `  roles     ${migration.missingRoles.join(", ")} could not be created: the connecting role stands in for them`,
    );
  }
  lines.push(`  next      ${nextStep(known)}`);
  console.error(lines.join("\n"));
}

function pageUrl(config: Config): string {
  const host = config.host === "0.0.0.0" || config.host === "::" ? "localhost" : config.host;
  return `http://${host.includes(":") ? `[${host}]` : host}:${config.port}/`;
}

function nextStep({ services, channels }: { services: number; channels: number }): string {
  if (services === 0) {
    return `deno task sql "select uptuple.add_service(name => 'example', url => 'https://example.com/')"`;
  }
  if (channels === 0) {
    return `deno task sql "select uptuple.add_channel(name => 'ops', url => 'https://example.com/hook')"`;
  }
  return `deno task sql "select * from uptuple.status"`;
}
