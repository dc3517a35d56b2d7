import { getLogger } from "@logtape/logtape";
import type { Context } from "hono";
import { clientOf, limitFailures } from "./failure_limit.ts";
import { type ViewerToken, viewerToken } from "./viewer_token.ts";
import type { WebEnvironment } from "./web_environment.ts";

/** Why a token was not taken: what to answer, and a sentence for whoever gave it. */
export interface Refusal {
  status: 401 | 429;
  fault: string;
}

/** A token that requests bring, with a limit on wrong ones. */
export interface TokenGate {
  expected: ViewerToken;
  /** @returns Null if the candidate is the token. Sets `Retry-After` where its client has to wait. */
  check(context: Context<WebEnvironment>, candidate: string): Refusal | null;
}

const logger = getLogger(["uptuple", "web"]);
/** Wrong tokens a minute and client. Nobody mistypes more often, and a guesser gets nowhere. */
const WRONG_TOKENS_A_MINUTE = 10;
/** How many clients' failures are remembered. */
const CLIENTS = 10_000;

/**
 * @param token The right one.
 * @param name What it is called, as in "viewer token".
 */
export function tokenGate(token: string, name: string): TokenGate {
  const expected = viewerToken(token);
  const limit = limitFailures({
    failures: WRONG_TOKENS_A_MINUTE,
    periodMs: 60_000,
    clients: CLIENTS,
    now: () => performance.now(),
  });
  return {
    expected,
    check(context, candidate) {
      const client = clientOf(addressOf(context));
      const wait = limit.waitSeconds(client);
      if (wait > 0) {
        context.header("Retry-After", String(wait));
        return { status: 429, fault: `Too many wrong tokens came from your address. Try again in ${wait} s.` };
      }
      if (expected.matches(candidate)) return null;
      limit.failed(client);
      logger.warn("A wrong {name} came from {client}.", { name, client });
      return { status: 401, fault: `That is not the ${name}.` };
    },
  };
}

/** The token that a request brings as `Authorization: Bearer`; undefined if it brings none. */
export function bearerToken(context: Context<WebEnvironment>): string | undefined {
  return /^Bearer +(\S.*)$/i.exec(context.req.header("authorization") ?? "")?.[1];
}

function addressOf(context: Context<WebEnvironment>): string | undefined {
  const address = context.env?.remoteAddr;
  return address !== undefined && "hostname" in address ? address.hostname : undefined;
}
