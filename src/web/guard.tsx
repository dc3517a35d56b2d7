import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type AccessPolicy, namesThisHost } from "./access.ts";
import { renderLogin } from "./login_page.tsx";
import { renderMessage } from "./message_page.tsx";
import { bearerToken, tokenGate } from "./token_gate.ts";
import { viewerToken } from "./viewer_token.ts";
import type { WebEnvironment } from "./web_environment.ts";

/** A token and a path, in bytes. */
const LOGIN_LIMIT = 8 * 1024;

/** Keeps out whom the policy does not let in; lets the others pass on to what is registered after it. */
export function guardRoutes(policy: AccessPolicy): Hono<WebEnvironment> {
  const routes = new Hono<WebEnvironment>().use(async (context, next) => {
    await next();
    context.header("Cache-Control", "no-store");
  });
  switch (policy.kind) {
    case "public":
      return routes;
    case "loopback":
      return refuseOtherHosts(routes, policy.host);
    case "token":
      return askForToken(routes, policy.token);
  }
}

/**
 * Whether a request comes from somebody who may see the pages, for what is open to everybody and shows more to those. A token in a
 * header does not count: outside the guard nobody limits guesses.
 */
export function viewerCheck(policy: AccessPolicy): (context: Context<WebEnvironment>) => Promise<boolean> {
  switch (policy.kind) {
    case "public":
      return () => Promise.resolve(true);
    case "loopback":
      return (context) => Promise.resolve(namesThisHost(context.req.header("host"), policy.host));
    case "token": {
      const token = viewerToken(policy.token);
      return (context) => token.isRemembered(context);
    }
  }
}

function refuseOtherHosts(routes: Hono<WebEnvironment>, configuredHost: string): Hono<WebEnvironment> {
  return routes.use(async (context, next) => {
    const authority = context.req.header("host");
    if (namesThisHost(authority, configuredHost)) return await next();
    const page = renderMessage({
      icon: "unknown",
      heading: "Open to this machine only",
      text: [
        `The request was for ${authority}, and only requests for localhost are answered.`,
        "To show the pages under another name, set UPTUPLE_VIEWER_TOKEN, or UPTUPLE_PUBLIC=dashboard to show them to everybody.",
      ],
    });
    return context.html(page, 403);
  });
}

function askForToken(routes: Hono<WebEnvironment>, token: string): Hono<WebEnvironment> {
  const gate = tokenGate(token, "viewer token");
  const { expected } = gate;

  /** @returns Null if the token is right, else the answer to give. */
  function check(context: Context<WebEnvironment>, candidate: string, next: string) {
    const refusal = gate.check(context, candidate);
    return refusal === null ? null : refuse(context, refusal.status, next, refusal.fault);
  }

  return routes
    .get("/login", async (context) => {
      if (await expected.isRemembered(context)) return context.redirect("/", 303);
      return context.html(renderLogin({ next: "/" }));
    })
    .post("/login", bodyLimit({ maxSize: LOGIN_LIMIT, onError: refuseLength }), async (context) => {
      const form = await context.req.parseBody().catch(() => ({} as Record<string, unknown>));
      const next = localPath(form.next);
      const refusal = check(context, typeof form.token === "string" ? form.token : "", next);
      if (refusal !== null) return refusal;
      await expected.remember(context);
      return context.redirect(next, 303);
    })
    .post("/logout", (context) => {
      expected.forget(context);
      return context.redirect("/login", 303);
    })
    .use(async (context, next) => {
      if (await expected.isRemembered(context)) {
        context.set("signedIn", true);
        return await next();
      }
      const path = localPath(context.req.url.replace(/^[a-z]+:\/\/[^/]*/, ""));
      const given = bearerToken(context);
      if (given === undefined) return refuse(context, 401, path);
      return check(context, given, path) ?? await next();
    });
}

function refuseLength(context: Context) {
  return context.text(`The form is longer than ${LOGIN_LIMIT} bytes: no viewer token is.\n`, 413);
}

/** Answers a browser with the page that asks for the token, and whatever else with a line. */
function refuse(context: Context<WebEnvironment>, status: 401 | 429, next: string, fault?: string) {
  if (status === 401) context.header("WWW-Authenticate", 'Bearer realm="Uptuple"');
  if (context.req.header("accept")?.includes("text/html")) {
    return context.html(renderLogin({ next, ...(fault !== undefined && { fault }) }), status);
  }
  return context.text(`${fault ?? "This asks for the viewer token: send it as Authorization: Bearer."}\n`, status);
}

/** The path to go on to, if it is one of ours, else the first page: a login must not send anybody elsewhere. */
export function localPath(next: unknown): string {
  if (typeof next !== "string" || !URL.canParse(next, "http://uptuple.invalid")) return "/";
  const url = new URL(next, "http://uptuple.invalid");
  // The path itself may begin with two slashes (/.//elsewhere), which browsers take for a host.
  const isOurs = url.origin === "http://uptuple.invalid" && !url.pathname.startsWith("//");
  return isOurs ? url.pathname + url.search : "/";
}
