/**
 * `deno task pictures`: makes the pictures in README, of the dashboard and of a status page, with made-up services and a made-up past.
 *
 * A fresh embedded server in a temporary directory, the application as it is, and a headless Chromium (at its usual places or at CHROMIUM).
 * Argument: the directory for the pictures, by default scripts/pictures.
 */
import { launchChromium } from "../tests/support/browser.ts";
import { openClient, type Sql } from "../src/database/client.ts";
import { connect } from "../src/database/connect.ts";
import { migrate } from "../src/database/migrate.ts";
import { createApp } from "../src/web/app.tsx";
import { fillHistory } from "./bench/fill_history.ts";
import { startBenchServer } from "./bench/server.ts";

/** Services by their groups. The seventh is the one that is down. */
const SERVICES: [string, string][] = [
  ["Shop", "Catalogue"],
  ["Shop", "Search"],
  ["Shop", "Checkout"],
  ["Shop", "Product images"],
  ["Accounts", "Sign-in"],
  ["Accounts", "Profile"],
  ["Accounts", "E-mail delivery"],
  ["Accounts", "Password reset"],
  ["Platform", "Public API"],
  ["Platform", "Webhooks"],
  ["Platform", "Object storage"],
  ["Platform", "Nightly backup"],
];
const PICTURES = [
  { name: "dashboard", path: "/?refresh=off", width: 1280, height: 1000 },
  { name: "status", path: "/status", width: 960, height: 1100 },
];

async function main([directory = new URL("pictures", import.meta.url).pathname]: string[]): Promise<void> {
  await Deno.mkdir(directory, { recursive: true });
  await using server = await startBenchServer();
  const url = await server.createDatabase("pictures");
  await migrate(url);
  const sql = openClient(url, { maxConnections: 1, applicationName: "pictures" });
  await makeUp(sql);
  await sql.end({ timeout: 1 });

  const database = connect({ url, maxConnections: 2 });
  const app = createApp({ database, access: { kind: "public" } });
  const web = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, app.fetch);
  const browser = await launchChromium();
  try {
    for (const { name, path, width, height } of PICTURES) {
      const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: 1.5, colorScheme: "light" });
      await page.goto(`http://127.0.0.1:${web.addr.port}${path}`);
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${directory}/${name}.png` });
      await page.close();
      console.log(`${directory}/${name}.png`);
    }
  } finally {
    await browser.close();
    await web.shutdown();
    await database.close();
  }
}

async function makeUp(sql: Sql): Promise<void> {
  await fillHistory(sql, { services: SERVICES.length, days: 90, every: 60 });
  for (const [index, [group, name]] of SERVICES.entries()) {
    await sql`
      update uptuple.service set name = ${name}, group_name = ${group}, tags = '{}'
      where id = (select id from uptuple.service order by id offset ${index} limit 1)`;
  }
  await sql`
    update uptuple.service_revision
    set target = 'https://' || lower(replace(service.name, ' ', '-')) || '.example.com/health'
    from uptuple.service where service.id = service_revision.service_id`;
  const groups = [...new Set(SERVICES.map(([group]) => group))];
  await sql`
    select uptuple.add_status_page(
      title => 'Example status', description => 'How the shop, the accounts and the platform are, as our checks see them.', groups => ${groups})`;
  await sql`
    select uptuple.post_update(id, 'identified', 'Our provider refuses mail from one of our addresses. We are moving to another one.')
    from uptuple.incident`;
  await sql`
    select uptuple.plan_maintenance(
      'Database upgrade', services => '{Checkout}', starts_at => date_trunc('day', clock_timestamp()) + interval '3 days 1 hour',
      duration => '2 hours', description => 'Orders are taken and worked off afterwards.')`;
  await sql`select uptuple.add_channel(name => 'ops', url => 'https://example.com/hook')`;
}

if (import.meta.main) await main(Deno.args);
