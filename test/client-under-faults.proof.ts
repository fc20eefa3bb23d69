import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it } from 'node:test';
import { createTimerCounter } from '../packages/client/test/helpers/timer-counter.ts';
import { exercise } from './engines/client-exercise.mjs';
import { checkReport } from './helpers/check-client-report.ts';
import { openArena } from './helpers/client-arena.ts';
import { until } from './helpers/until.ts';

const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);

const rooms = [
  {
    name: 'returns no wrong byte in 10,000 calls, and serves its cache',
    calls: 10_000,
    hasRoom: true,
    maxAgeMs: 2,
    options: {},
  },
  {
    name: 'returns no wrong byte in 3,000 calls with tiny caches',
    calls: 3_000,
    hasRoom: false,
    maxAgeMs: 2,
    options: { memory: { maxContentBytes: 12_000, maxModuleBytes: 12_000, maxLists: 3 } },
  },
  {
    name: 'returns no wrong byte in 3,000 calls with change streams that break',
    calls: 3_000,
    hasRoom: true,
    maxAgeMs: Number.POSITIVE_INFINITY,
    options: { streaming: true, maxAgeMs: 100 },
  },
  {
    name: 'returns no wrong byte in 3,000 calls that require provenance',
    calls: 3_000,
    hasRoom: true,
    maxAgeMs: 2,
    options: { verify: 'require' },
  },
];

describe('createClient() behind a proxy that breaks everything', () => {
  for (const { name, calls, hasRoom, maxAgeMs, options } of rooms) {
    it(name, async (test) => {
      test.diagnostic(`FAULTS_SEED=${seed}`);
      const arena = await openArena(seed);
      try {
        const timers = createTimerCounter();
        arena.begin();
        const report = await exercise(
          import.meta.resolve('@tenon/client'),
          {
            ...arena.task,
            calls,
            lanes: 32,
            seed,
          },
          'verify' in options ? { ...options, trustedKeys: await keysOf(arena.stage.url) } : options,
          timers.createClient,
        );
        test.diagnostic(`faults: ${JSON.stringify(Object.fromEntries(arena.faults()))}`);
        test.diagnostic(`reported: ${JSON.stringify(report.reported)}`);
        const ends = Map.groupBy(report.log, ({ error }) => error ?? 'well');
        test.diagnostic(
          `ends: ${JSON.stringify(Object.fromEntries([...ends].map(([end, all]) => [end, all.length])))}`,
        );
        assert.ok(report.log.length >= calls);
        assert.equal(timers.running(), 0, 'no timer outlives the client');
        await until(() => arena.proxy.openRequests() === 0, { message: 'a request outlives the client' });
        checkReport(arena, report, { isSameClock: true, maxAgeMs, hasRoom });
      } finally {
        await arena.close();
      }
    });
  }
});

/** The server's signing keys, asked for without faults. */
async function keysOf(url: string): Promise<unknown> {
  const response = await fetch(`${url}/.well-known/tenon-signing-keys.json`);
  return ((await response.json()) as { readonly keys: unknown }).keys;
}
