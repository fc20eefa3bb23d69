import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../../test/helpers/random.ts';
import { authorizeExtensionPoint } from '../../src/auth/access.ts';
import { authenticateApiKey, authenticateToken } from '../../src/auth/authenticate.ts';
import { authorizeContent } from '../../src/auth/content-access.ts';
import { findSession } from '../../src/auth/sessions.ts';
import { createCache } from '../../src/cache/cache.ts';
import type { Store } from '../../src/db/store.ts';
import type { Deps } from '../../src/deps.ts';
import { DomainError } from '../../src/http/domain-errors.ts';
import { readBindings } from '../../src/plugins/bindings.ts';
import { cacheBindings, getCachedBindings } from '../../src/plugins/response-cache.ts';
import { withEffects } from '../../src/with-effects.ts';
import { accountServices } from '../helpers/account-services.ts';
import { someTimeMs } from '../helpers/records.ts';
import type { Backend } from './backend.ts';
import { type CacheWorld, changeSomething, makeWorld } from './cache-world.ts';

/** How long other nodes' commits may take to become known, before a test fails: far longer than they may in earnest. */
const timeoutMs = 30_000;

/**
 * Random changes through one store, while two nodes answer from memory on the same data: after each, both must answer all
 * questions as a node does that has nothing in memory.
 */
export function cacheModel(
  name: string,
  backend: Backend,
  { sequences, steps, skip = false }: { sequences: number; steps: number; skip?: string | false },
): void {
  it(`is what the store says, in ${sequences} random sequences of changes on ${name}`, { skip }, async () => {
    const done = new Map<string, number>();
    let known = 0;
    for (let seed = 1; seed <= sequences; seed++) {
      const { location, remove } = await backend.makeLocation();
      const stores = [await backend.openStore(location), await backend.openStore(location)] as const;
      try {
        known += await runSequence(stores, seed, steps, done);
      } finally {
        for (const store of stores) await store.close();
        await remove();
      }
    }
    assert.ok(known > sequences * steps * 20, `${known} answers from memory: too few to show anything`);
    assert.ok(done.size >= Math.min(20, (sequences * steps) / 3), [...done.keys()].join(' '));
  });
}

async function runSequence(
  stores: readonly [Store, Store],
  seed: number,
  steps: number,
  done: Map<string, number>,
): Promise<number> {
  const random = createRandom(seed);
  const [here, there] = [openContext(stores[0]), openContext(stores[1])];
  const world = await makeWorld(here.store);
  const history: string[] = [];
  for (let step = 0; step < steps; step++) {
    const change = await changeSomething(random.below(2) === 0 ? here.store : there.store, world, random);
    history.push(change);
    done.set(change, (done.get(change) ?? 0) + 1);
    const expected = await answersOf(openContext(stores[0]), world);
    for (const [node, deps] of [here, there].entries()) {
      await untilEqual(deps, world, expected, `seed ${seed}, node ${node}: ${history.join(', ')}`);
    }
  }
  return here.cache.usage.hit + there.cache.usage.hit;
}

function openContext(store: Store): Deps {
  return {
    store: withEffects(store, {
      requiresAudit: false,
      changes: { clock: () => someTimeMs, random: randomBytes, keep: 1000 },
    }),
    cache: createCache(store),
    clock: () => someTimeMs,
    random: randomBytes,
    ...accountServices(),
  } as Omit<Deps, 'blobs' | 'contents' | 'checker'> as Deps;
}

/** A commit through the other store may take a moment to become known; through its own, none. */
async function untilEqual(deps: Deps, world: CacheWorld, expected: Responses, reported: string): Promise<void> {
  const endsAt = performance.now() + timeoutMs;
  for (;;) {
    const actual = await answersOf(deps, world);
    try {
      assert.deepEqual(actual, expected, reported);
      return;
    } catch (error) {
      if (performance.now() > endsAt) throw error;
      await sleep(20);
    }
  }
}

type Responses = Record<string, unknown>;

/** All that can be asked, by name: what is answered, or the code of the refusal. */
async function answersOf(deps: Deps, world: CacheWorld): Promise<Responses> {
  const responses: Responses = {};
  const ask = async (name: string, question: () => Promise<unknown>): Promise<void> => {
    responses[name] = await question().catch((error: unknown) => {
      if (error instanceof DomainError) return error.code;
      throw error;
    });
  };
  for (const { secret } of world.sessions) await ask(`session ${secret}`, () => findSession(deps, secret));
  for (const { secret } of world.apiKeys) await ask(`key ${secret}`, () => authenticateApiKey(deps, secret));
  for (const { secret } of world.tokens) {
    await ask(`token ${secret}`, () => authenticateToken(deps, secret));
    for (const address of world.addresses) {
      await ask(`${secret} ${address}`, async () =>
        authorizeContent(deps, await authenticateToken(deps, secret), address),
      );
    }
    for (const extensionPointId of world.extensionPoints.map(({ id }) => id)) {
      await ask(`${secret} ${extensionPointId}`, async () =>
        authorizeExtensionPoint(deps, await authenticateToken(deps, secret), 'readBindings', extensionPointId),
      );
      for (const guestKey of world.guestKeys) {
        await ask(`${secret} ${extensionPointId} ${guestKey}`, () => askList(deps, secret, extensionPointId, guestKey));
      }
    }
  }
  return responses;
}

/** As the route does: from the cache, or computed. */
async function askList(deps: Deps, secret: string, extensionPointId: string, guestKey: string): Promise<string> {
  const [authorization, target] = [`Bearer ${secret}`, `/${extensionPointId}/${guestKey}`];
  const cached = getCachedBindings(deps, authorization, target);
  if (cached !== undefined) return cached.json;
  const since = deps.cache.version();
  const actor = await authenticateToken(deps, secret);
  const access = await authorizeExtensionPoint(deps, actor, 'readBindings', extensionPointId);
  const answer = await readBindings(deps, access, guestKey);
  cacheBindings(deps, { authorization, target, route: '', since }, access, guestKey);
  return answer.json;
}
