import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExtensionPointAccess } from '../auth/access.ts';
import { createCache } from '../cache/cache.ts';
import type { Deps } from '../deps.ts';
import { readBindings } from './bindings.ts';
import { cacheBindings, getCachedBindings } from './response-cache.ts';

describe('cacheBindings()', () => {
  const open = (maxBytes: number) => {
    const cache = createCache({ revision: () => 1, onCommitted: () => {} }, maxBytes);
    const binding = { name: 'x'.repeat(100_000), extensionPointId: 'ext_1', userId: 'usr_1', updatedAtMs: 0 };
    const store = { read: { bindings: async () => [binding] } };
    const deps = { cache, store, clock: () => 0 } as unknown as Deps;
    const actor = { tokenId: 'tok_1', userId: 'usr_1', sessionId: null, appId: null, expiresAtMs: 1 };
    const access = { actor, app: { id: 'app_1' }, extensionPoint: { id: 'ext_1' } } as unknown as ExtensionPointAccess;
    const ask = async (target: string, guestKey: string) => {
      await readBindings(deps, access, guestKey);
      const request = { authorization: 'Bearer x', target, route: '', since: cache.version() };
      cacheBindings(deps, request, access, guestKey);
      return target;
    };
    return { deps, ask };
  };

  const isCached = (deps: Deps, target: string) => getCachedBindings(deps, 'Bearer x', target) !== undefined;

  it('counts the bytes of a list once for all requests', async () => {
    const { deps, ask } = open(1_000_000);
    const targets = await Promise.all(Array.from({ length: 100 }, (_, at) => ask(`/key?${at}`, 'key')));
    assert.ok(targets.every((target) => isCached(deps, target)));
  });

  it('evicts lists beyond the memory limit', async () => {
    const { deps, ask } = open(1_000_000);
    const targets = [];
    for (let at = 0; at < 100; at++) targets.push(await ask(`/key-${at}`, `key-${at}`));
    const kept = targets.filter((target) => isCached(deps, target));
    assert.ok(kept.length > 0 && kept.length <= 12, `${kept.length}`);
  });
});
