import type { JSX } from "hono/jsx/jsx-runtime";

/**
 * The path of a service's page. A name that is one dot or two cannot be a part of a path: browsers resolve it, however it is encoded.
 */
export function servicePath(service: string, stretch?: string): string {
  const query = new URLSearchParams(stretch === undefined ? {} : { range: stretch });
  if (service === "." || service === "..") query.set("name", service);
  const path = query.has("name") ? "/services" : `/services/${encodeURIComponent(service)}`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Where a service is, without the query, which may hold a key that somebody wrote there in the clear. */
export function shownUrl(url: string): string {
  return url.replace(/\?.*$/s, "?…");
}

/** Whether a service reports by itself, so that its URL is no address. */
export function isHeartbeat(url: string): boolean {
  return url.startsWith("heartbeat:");
}

/** Where a service is; a long one breaks where its parts do. */
export function ServiceUrl({ url }: { url: string }): JSX.Element {
  return (
    <bdi dir="ltr" class="url">
      {shownUrl(url).split(/(?<=[^:/]\/)/).map((part, index) =>
        index === 0 ? part : (
          <>
            <wbr />
            {part}
          </>
        )
      )}
    </bdi>
  );
}
