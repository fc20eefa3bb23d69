import type { SessionToken } from '@tenon/protocol';

/** Caches one access token, and fetches a new one before it expires. */
export interface TokenCache {
  token(): Promise<string>;
  /** Forgets the token; a given one only if it is the current one. */
  forget(token?: string): void;
}

/** A token that expires within this time isn't used, because requests take time and clocks differ. */
const marginMs = 2 * 60_000;

/**
 * @param fetchToken asks for a token; called once for all who wait
 * @param clock milliseconds since the Unix epoch
 */
export function createTokenCache(fetchToken: () => Promise<SessionToken>, clock: () => number): TokenCache {
  let current: { readonly token: string; readonly untilMs: number } | undefined;
  let asking: Promise<string> | undefined;

  function ask(): Promise<string> {
    const mine = fetchToken().then(
      ({ accessToken, expiresAt }) => {
        // The cache may have been cleared meanwhile, because another user has signed in.
        if (asking === mine) {
          asking = undefined;
          // A session may itself have less left than the margin.
          current = { token: accessToken, untilMs: Math.max(Date.parse(expiresAt) - marginMs, clock() + 10_000) };
        }
        return accessToken;
      },
      (error: unknown) => {
        if (asking === mine) asking = undefined;
        throw error;
      },
    );
    asking = mine;
    return mine;
  }

  return {
    async token() {
      if (current !== undefined && current.untilMs > clock()) return current.token;
      return asking ?? ask();
    },
    forget(token) {
      if (token !== undefined && current?.token !== token) return;
      current = undefined;
      if (token === undefined) asking = undefined;
    },
  };
}
