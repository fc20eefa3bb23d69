import type { TokenScope } from '@tenon/protocol';

/** What each scope allows. */
export const scopeText: Readonly<Record<TokenScope, string>> = {
  read: 'see what you see, and fetch plugins',
  publish: 'publish plugins where you are a guest',
  manage: 'change applications, guests, teams, tokens and this account',
};

export const scopes = Object.keys(scopeText) as readonly TokenScope[];
