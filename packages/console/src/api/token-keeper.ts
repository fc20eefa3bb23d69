import type { SessionToken } from '@tenon/protocol';

/** Keeps one access token in memory, and gets another before it ends. */
export interface TokenKeeper {
  token(): Promise<string>;
  /** Forgets the token; one that was named only if it is the present one. */
  forget(token?: string): void;
}

/** A token that ends within this time is not used any more: a request may take a while, and clocks differ. */
const marginMs = 2 * 60_000;

/**
 * @param fetchToken asks for a token; called once for all who wait
 * @param clock milliseconds since the Unix epoch
 */
export function createTokenKeeper(fetchToken: () => Promise<SessionToken>, clock: () => number): TokenKeeper {
  let current: { readonly token: string; readonly untilMs: number } | undefined;
  let asking: Promise<string> | undefined;

  async function ask(): Promise<string> {
    const { accessToken, expiresAt } = await fetchToken();
    // A session may itself have less left than the margin.
    current = { token: accessToken, untilMs: Math.max(Date.parse(expiresAt) - marginMs, clock() + 10_000) };
    return accessToken;
  }

  return {
    async token() {
      if (current !== undefined && current.untilMs > clock()) return current.token;
      if (asking !== undefined) return asking;
      const mine = ask().finally(() => {
        if (asking === mine) asking = undefined;
      });
      asking = mine;
      return mine;
    },
    forget(token) {
      if (token !== undefined && current?.token !== token) return;
      current = undefined;
      if (token === undefined) asking = undefined;
    },
  };
}
