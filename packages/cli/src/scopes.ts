import type { TokenScope } from '@tenon/protocol';
import { InvalidArgumentError } from 'commander';
import { collect } from './command.ts';

/** The scopes of tokens. */
export const tokenScopes = ['read', 'publish', 'manage'] as const satisfies readonly TokenScope[];

/** Reads `--scope`, which may come several times. */
export function parseScopes(text: string, before: readonly TokenScope[] = []): readonly TokenScope[] {
  const scopes = collect(text).map((wanted) => {
    const scope = tokenScopes.find((known) => known === wanted);
    if (scope === undefined)
      throw new InvalidArgumentError(`There is no scope "${wanted}"; there are ${tokenScopes.join(', ')}.`);
    return scope;
  });
  return [...new Set([...before, ...scopes])];
}
