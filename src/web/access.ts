/**
 * Who may see the pages.
 *
 * - `loopback`: whoever is on this machine. Requests must name it, so that no web page elsewhere can read the pages through a
 *   browser here by pointing its own name at 127.0.0.1.
 * - `token`: whoever gives the viewer token.
 * - `public`: everybody.
 */
export type AccessPolicy =
  | { kind: "loopback"; host: string }
  | { kind: "token"; token: string }
  | { kind: "public" };

/** The pages would be open to a network without anybody having said so. The message is one sentence with the cure. */
export class AccessError extends Error {
  override readonly name = "AccessError";
}

/** The part of the configuration that decides who may see the pages. An empty text counts as absent. */
export interface AccessSettings {
  /** `HOST`: the address to listen on. */
  host: string;
  /** `UPTUPLE_VIEWER_TOKEN` */
  viewerToken?: string | undefined;
  /** `UPTUPLE_PUBLIC`: `dashboard` opens the pages to everybody. */
  public?: string | undefined;
}

/**
 * Decides who may see the pages. What is said expressly wins: a token is asked for on loopback too, where a proxy may stand
 * before it.
 *
 * @throws {AccessError} If other machines could reach the pages and there is neither a token nor `UPTUPLE_PUBLIC=dashboard`.
 */
export function accessPolicy(settings: AccessSettings): AccessPolicy {
  if (settings.public !== undefined && settings.public !== "") {
    if (settings.public === "dashboard") return { kind: "public" };
    throw new AccessError(
      `UPTUPLE_PUBLIC is "${settings.public}", and the only value it takes is "dashboard": correct it, or leave it unset.`,
    );
  }
  if (settings.viewerToken !== undefined && settings.viewerToken !== "") {
    return { kind: "token", token: settings.viewerToken };
  }
  if (isLoopback(settings.host)) return { kind: "loopback", host: settings.host };
  throw new AccessError(
    `HOST is "${settings.host}", where other machines reach the pages: set UPTUPLE_VIEWER_TOKEN to a long random text that ` +
      `viewers give, or UPTUPLE_PUBLIC=dashboard to show the pages to everybody, or HOST=127.0.0.1.`,
  );
}

/** Whether a host, as one listens on it or as a URL names it, is this machine and can be no other. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "").toLowerCase();
  // RFC 6761, 6.3: names below localhost are loopback too, and no DNS server is asked for them.
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" ||
    /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name);
}

/**
 * Whether a request names the host that the loopback policy serves.
 *
 * @param authority The `Host` header, with or without a port; undefined where HTTP/1.0 sent none, as no browser does.
 */
export function namesThisHost(authority: string | undefined, configuredHost: string): boolean {
  if (authority === undefined) return true;
  const host = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority)?.[1];
  return host !== undefined && (isLoopback(host) || host.toLowerCase() === configuredHost.toLowerCase());
}
