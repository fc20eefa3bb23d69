import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Comparison } from '../../bench/compare-trees.ts';
import { OptionError, readOptions } from '../../bench/support/options.ts';
import type { Report } from '../../bench/support/report.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../..');
const bench = join(root, 'packages/server/bench/http.bench.ts');

describe('http.bench.ts', () => {
  it('measures a case beside a bare server', async () => {
    const args = ['--only', 'mixed', '--store', 'embedded', '--nodes', '1', '--workers', '1', '--rounds', '1'];
    const { stdout } = await run(process.execPath, [bench, ...args, '--seconds', '0.2', '--json']);
    const { cases } = JSON.parse(stdout) as Report;
    assert.deepEqual(
      cases.map((one) => one.case),
      ['mixed'],
    );
    assert.deepEqual(
      cases[0]?.rows.map(({ name }) => name),
      ['node:http', 'embedded, 1 node'],
    );
    for (const row of cases[0]?.rows ?? []) {
      assert.ok(row.requestsPerSecond > 0, row.name);
      assert.ok((row.p99Ms ?? 0) >= (row.p50Ms ?? Number.NaN), row.name);
    }
  });
});

describe('npm run bench -- compare', () => {
  it('compares a checkout with another one', async () => {
    const args = ['compare', root, '--rounds', '1', '--seconds', '0.2', '--idle-seconds', '0.2', '--json'];
    const { stdout } = await run(process.execPath, [join(root, 'scripts/bench.mjs'), ...args]);
    const comparison = JSON.parse(stdout) as Comparison;
    for (const { startMs, idleBytes } of [comparison.this, comparison.other]) {
      assert.ok((startMs ?? 0) > 0);
      if (process.platform === 'linux') assert.ok((idleBytes ?? 0) > 0);
    }
    for (const { rows } of comparison.cases) {
      assert.deepEqual(
        rows.map(({ name }) => name),
        ['node:http', 'this checkout', 'other checkout'],
      );
      for (const { name, requestsPerSecond } of rows) assert.ok(requestsPerSecond > 0, name);
    }
  });
});

describe('readOptions()', () => {
  it('has defaults, and takes cases with commas or one by one', () => {
    const options = readOptions(['--only', 'publish,a2-304', '--only', 'mixed', '--quick', '--nodes', '4']);
    if (options === 'help') throw new Error('unexpected help');
    assert.deepEqual(options.cases, ['a2-304', 'publish', 'mixed']);
    assert.deepEqual(options.stores, ['embedded', 'postgres']);
    assert.deepEqual(options.nodes, [1, 4]);
    assert.equal(options.secondsARound, 0.5);
    assert.equal(readOptions(['-h']), 'help');
  });

  it('says what is wrong with others', () => {
    const faulty = [
      [['--only', 'a4'], /--only "a4": expected a2-304, /],
      [['--store', 'oracle'], /--store "oracle": expected embedded, postgres/],
      [['--nodes', '0'], /--nodes "0": expected a whole number from 1 to 64/],
      [['--seconds', '-1'], /--seconds/],
      [['--fast'], /--fast/],
      [['publish'], /publish/],
    ] as const;
    for (const [args, message] of faulty) {
      assert.throws(
        () => readOptions(args),
        (error) => error instanceof OptionError && message.test(error.message),
      );
    }
  });
});
