import { connect, type ConnectOptions, type Database } from "../../src/database/connect.ts";
import type { AccessPolicy } from "../../src/web/access.ts";
import { type AppOptions, createApp } from "../../src/web/app.tsx";
import { testDatabase, type TestSql } from "./database.ts";

/** The web role over a database of its own. */
export interface TestApp extends AsyncDisposable {
  app: ReturnType<typeof createApp>;
  /** A superuser's connection to the database. */
  owner: TestSql;
  /** Gives the page at a path as text. */
  page(path?: string): Promise<string>;
}

/** The web role on a port of its own. */
export interface ServedApp extends AsyncDisposable {
  /** Without a path, such as `http://127.0.0.1:4711`. */
  url: string;
  port: number;
}

/** Opens the web role over a new database, logged in as a runtime is: with the role uptuple_worker only. */
export async function openTestApp(
  access: AccessPolicy = { kind: "public" },
  options: Pick<AppOptions, "metricsToken" | "publicUrl"> = {},
): Promise<TestApp> {
  const database = await testDatabase();
  const connection = connect({ url: await database.urlFor("uptuple_worker"), maxConnections: 2 });
  const app = createApp({ database: connection, access, ...options });
  return {
    app,
    owner: database.owner,
    page: async (path = "/") => await (await app.request(path)).text(),
    async [Symbol.asyncDispose]() {
      await connection.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Connects to a database that is not there, or is there at times, and gives the connection back at the end. */
export function looseDatabase(options: ConnectOptions): Database & AsyncDisposable {
  const database = connect(options);
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.close() });
}

/** Serves the web role, or a part of it, over HTTP on loopback. */
export function serveApp(app: { fetch: Deno.ServeHandler<Deno.NetAddr> }): ServedApp {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, app.fetch);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    port: server.addr.port,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
