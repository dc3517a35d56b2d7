/**
 * The web role in a process of its own, for a load that another process makes. Argument: the URL of a migrated database. Its only line
 * of output names the port; it ends with its standard input.
 */
import { connect } from "../../src/database/connect.ts";
import { createApp } from "../../src/web/app.tsx";
import { answerLines } from "./program.ts";

const [url = ""] = Deno.args;
const database = connect({ url, maxConnections: 2 });
const app = createApp({ database, access: { kind: "loopback", host: "127.0.0.1" } });
const web = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, app.fetch);

await answerLines({ port: web.addr.port }, () => Promise.resolve({}));
await web.shutdown();
await database.close();
