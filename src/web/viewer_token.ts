import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getSignedCookie, setSignedCookie } from "hono/cookie";

/** The viewer token, and the cookie that stands for it in a browser. */
export interface ViewerToken {
  /** Whether a text is the token. Takes the same time for every wrong one. */
  matches(candidate: string): boolean;
  /** Gives the browser a cookie that stands for the token for 30 days. */
  remember(context: Context): Promise<void>;
  /** Whether the request has such a cookie: signed with this token, and not too old. */
  isRemembered(context: Context): Promise<boolean>;
  /** Takes the cookie back. */
  forget(context: Context): void;
}

const COOKIE = "uptuple_viewer";
const REMEMBERED_SECONDS = 30 * 24 * 60 * 60;

/**
 * The cookie holds when it ends, signed with a key derived from the token. So every runtime with the same token knows it,
 * a restart forgets nobody, and another token ends all of them.
 *
 * @param now The clock that cookies end by, in ms since 1970.
 */
export function viewerToken(token: string, now: () => number = Date.now): ViewerToken {
  const expected = digest(token);
  const key = digest(`uptuple viewer cookie\n${token}`);

  return {
    matches: (candidate) => timingSafeEqual(digest(candidate), expected),
    async remember(context) {
      const endsAt = Math.floor(now() / 1000) + REMEMBERED_SECONDS;
      await setSignedCookie(context, COOKIE, String(endsAt), key, {
        path: "/",
        maxAge: REMEMBERED_SECONDS,
        httpOnly: true,
        // Not Strict: a link to the page in a chat must not ask for the token again. Nothing here acts on a GET.
        sameSite: "Lax",
        secure: isHttps(context),
      });
    },
    async isRemembered(context) {
      const endsAt = await getSignedCookie(context, key, COOKIE);
      return typeof endsAt === "string" && Number(endsAt) > now() / 1000;
    },
    forget: (context) => void deleteCookie(context, COOKIE, { path: "/" }),
  };
}

function digest(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(text).digest());
}

/** Whether the browser came by HTTPS; behind a proxy only the proxy knows, and a lie harms nobody but its teller. */
function isHttps(context: Context): boolean {
  return context.req.url.startsWith("https:") || context.req.header("x-forwarded-proto")?.startsWith("https") === true;
}
