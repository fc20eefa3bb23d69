import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it } from 'node:test';
import type { Client, ClientOptions } from '@tenon/client';
import { type FaultProxy, openFaultProxy } from '../../../test/helpers/fault-proxy.ts';
import { createRandom } from '../../../test/helpers/random.ts';
import { createClientOn } from '../src/client.ts';
import type { Clock } from '../src/clock.ts';
import { type NumberedModule, numberedModule, numberOf } from './helpers/numbered-module.ts';
import { openStage, type Stage } from './helpers/stage.ts';

const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
const maxAgeMs = 1_000;
const guestKeys = Array.from({ length: 8 }, (_, at) => `customers/${at}`);

/** Counts of each lookup source. */
type Sources = Record<string, number>;

describe('createClient() without faults', () => {
  it('sends exactly the necessary requests', async (test) => {
    test.diagnostic(`FAULTS_SEED=${seed}`);
    const stage = await openStage();
    const proxy = await openFaultProxy(stage.url);
    try {
      await replay(stage, proxy);
    } finally {
      await proxy.close();
      await stage.close();
    }
  });
});

/**
 * Sequential calls with seeded publishing and delays between them. Half-way a second client takes over the store. A model predicts for
 * each call whether the list is requested, confirmed or sent, and whether a content is fetched.
 */
async function replay(stage: Stage, proxy: FaultProxy): Promise<void> {
  const random = createRandom(seed);
  const clock = manualClock();
  const store = mapStore();
  const published = new Map<string, NumberedModule>();
  let number = 0;
  const publish = async (key: string) => {
    const module = numberedModule(++number, random);
    await stage.publish(key, `plugin.${key.replace('/', '.')}`, module);
    published.set(key, module);
  };
  for (const key of guestKeys) {
    await stage.invite(key);
    await publish(key);
  }

  const known = new Map<string, { number: number; askedMs: number }>();
  const compiled = new Set<number>();
  const fetched = new Set<number>();
  const expected: Sources = {};
  const reported: Sources = {};
  const open = (): Client => {
    const options: ClientOptions = { baseUrl: proxy.url, token: stage.token, store, maxAgeMs, streaming: false };
    const client = createClientOn(options, { clock });
    client.on('lookup', ({ kind, source }) => count(reported, `${kind} ${source}`));
    return client;
  };

  let client = open();
  for (let call = 0; call < 3_000; call++) {
    clock.advance(random.chance(0.7) ? 0 : random.below(400));
    if (random.chance(0.05)) await publish(random.pick(guestKeys));
    if (call === 1_500) {
      await client.close();
      client = open();
      compiled.clear();
      for (const held of known.values()) held.askedMs = Number.NEGATIVE_INFINITY;
    }

    const key = random.pick(guestKeys);
    const before = proxy.requests.length;
    const requests = foretell(key);
    assert.equal(
      numberOf(await client.load({ extensionPointId: stage.extensionPointId, guestKey: key })),
      known.get(key)?.number,
    );
    assert.equal(proxy.requests.length - before, requests, `call ${call}`);
  }
  await client.close();
  assert.deepEqual(reported, expected);

  /** @returns the number of requests of the next call */
  function foretell(key: string): number {
    const held = known.get(key);
    const current = published.get(key)?.number ?? 0;
    let requests = 0;
    if (held !== undefined && clock.monotonicMs() - held.askedMs < maxAgeMs) {
      count(expected, 'list memory');
    } else {
      requests++;
      count(expected, held?.number === current ? 'list not_modified' : 'list network');
      known.set(key, { number: current, askedMs: clock.monotonicMs() });
    }
    const wanted = known.get(key)?.number ?? 0;
    if (compiled.has(wanted)) {
      count(expected, 'module memory');
      return requests;
    }
    count(expected, 'module compiled');
    compiled.add(wanted);
    count(expected, fetched.has(wanted) ? 'content store' : 'content network');
    if (!fetched.has(wanted)) requests++;
    fetched.add(wanted);
    return requests;
  }
}

function count(sources: Sources, name: string): void {
  sources[name] = (sources[name] ?? 0) + 1;
}

/** A manual clock with the platform's timers. */
function manualClock(): Clock & { advance(ms: number): void } {
  let nowMs = 0;
  return {
    monotonicMs: () => nowMs,
    wallMs: () => Date.UTC(2026, 0, 1) + nowMs,
    setTimer(callback, delayMs) {
      const timer = setTimeout(callback, delayMs);
      return () => clearTimeout(timer);
    },
    advance(ms) {
      nowMs += ms;
    },
  };
}

function mapStore(): NonNullable<ClientOptions['store']> {
  const entries = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    get: async (key) => entries.get(key)?.slice(),
    async set(key, bytes) {
      entries.set(key, bytes.slice());
    },
    async delete(key) {
      entries.delete(key);
    },
  };
}
