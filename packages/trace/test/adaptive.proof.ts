import './adaptive.test.ts';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { instrument } from '@tenon/instrument';
import { countSpans, replayCalls } from './support/replay-calls.ts';

const require = createRequire(import.meta.url);

/** The calls that sqlite makes for some queries, each reported. */
async function sqliteCalls(): Promise<number[]> {
  const { bytes } = instrument(new Uint8Array(fs.readFileSync(require.resolve('sql.js/dist/sql-wasm.wasm'))));
  const calls: number[] = [];
  const hooks = {
    enter: (index: number) => calls.push(index),
    exit: (index: number) => calls.push(~index),
    'memory-grow': () => {},
  };
  const { Database } = await require('sql.js')({
    instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void) {
      const instance = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), {
        ...imports,
        'dylibso:observe/instrument': hooks,
      });
      done(instance);
      return instance.exports;
    },
  });
  const database = new Database();
  database.run('CREATE TABLE words (n INTEGER PRIMARY KEY, word TEXT, length INTEGER)');
  const insert = database.prepare('INSERT INTO words VALUES (?, ?, ?)');
  for (let n = 0; n < 5_000; n++) insert.run([n, `word ${(n * 7919) % 1009}`, n % 17]);
  database.exec('SELECT length, count(*), max(word) FROM words GROUP BY length ORDER BY 3');
  database.exec('SELECT count(*) FROM words a JOIN words b ON b.n = a.n * 2 + 1 WHERE a.word LIKE "%1%"');
  return calls;
}

describe('adaptive tracing of a real program', () => {
  it('sqlite: the spans of full tracing to within a hundredth, exact counts, and few traced calls', async (test) => {
    const calls = await sqliteCalls();
    const full = replayCalls(calls, false, 50);
    const adaptive = replayCalls(calls, true, 50);
    const [expected, found] = [countSpans(full.batches), countSpans(adaptive.batches)];
    const sum = (spans: typeof expected, key: 'count' | 'timeNs') =>
      [...spans.values()].reduce((total, entry) => total + entry[key], 0);
    let wrong = 0;
    for (const key of new Set([...expected.keys(), ...found.keys()])) {
      wrong += Math.abs((expected.get(key)?.count ?? 0) - (found.get(key)?.count ?? 0));
    }
    test.diagnostic(
      `${full.tracedCalls} calls, ${adaptive.tracedCalls} traced; ${sum(expected, 'count')} spans, ${wrong} differ`,
    );
    assert.ok(wrong <= sum(expected, 'count') / 100, `${wrong} spans differ`);
    const timeRatio = sum(found, 'timeNs') / sum(expected, 'timeNs');
    assert.ok(Math.abs(timeRatio - 1) < 0.01, `the spans take ${timeRatio} of the time`);
    assert.ok(adaptive.tracedCalls < full.tracedCalls / 10, `${adaptive.tracedCalls} calls are traced`);
    assert.deepEqual(
      adaptive.functions.map((row) => [row.function.index, row.calls]),
      full.functions.map((row) => [row.function.index, row.calls]),
    );
  });
});
