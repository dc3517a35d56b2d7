import type { Context, MiddlewareHandler } from "hono";
import type { WebEnvironment } from "./web_environment.ts";

/**
 * What every answer carries to keep browsers from doing more with it than show it: no scripts, styles or connections but our own, no
 * frames, no guesses at its type, no trace of its address elsewhere. TLS, where there is any, is the proxy's to promise.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-DNS-Prefetch-Control": "off",
  "X-Download-Options": "noopen",
  "X-Frame-Options": "DENY",
  "X-Permitted-Cross-Domain-Policies": "none",
  "X-XSS-Protection": "0",
};

/** Adds them to each answer of what is registered after it, but for those that the answer sets itself. */
export function securityHeaders(): MiddlewareHandler<WebEnvironment> {
  return async (context, next) => {
    await next();
    secure(context);
  };
}

/** Adds them to one answer. */
export function secure(context: Context<WebEnvironment>): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    if (!context.res.headers.has(name)) context.header(name, value);
  }
}
