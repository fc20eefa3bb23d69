import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimulatedCall, SimulationReport } from '@tenon/protocol';
import { reportOf } from '../../test/helpers/simulations.ts';
import { boundReports } from './bound-reports.ts';

const assertion = (name: string, passed: boolean) => ({ group: null, name, passed, reason: passed ? null : 'no 😀' });
const line = (text: string) => ({ from: 'test', level: 'info', text }) as const;
const excerpt = { text: 'é'.repeat(50), size: 100, sha256: 'x' };
const call: SimulatedCall = {
  export: 'evaluate',
  input: excerpt,
  output: excerpt,
  error: null,
  timeNano: 1,
  memoryPages: null,
  functionCalls: null,
  hostCalls: [],
} as never;

const many = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const large = (items: number): SimulationReport =>
  reportOf('failed', {
    detail: 'ü'.repeat(2000),
    assertions: many(items, (at) => assertion(`${at}`, at % 2 === 0)),
    log: many(items, (at) => line(`${at}`)),
    calls: many(items, () => call),
  });
const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const boundOne = async (report: SimulationReport, maxBytes: number) => (await boundReports([report], maxBytes))[0];

describe('boundReports()', () => {
  it('leaves reports as they are that fit', async () => {
    const report = large(3);
    assert.deepEqual(await boundReports([report, report], 2 * sizeOf(report)), [report, report]);
    assert.deepEqual(await boundReports([]), []);
  });

  it('cuts calls, then the log, then assertions, and the failed ones last', async () => {
    const report = { ...large(40), detail: 'short' };
    const full = sizeOf(report);
    const calls = await boundOne(report, full - 1);
    assert.deepEqual(calls, { ...report, calls: report.calls.slice(0, 39), isCut: true });
    const log = await boundOne(report, full - sizeOf(report.calls) - sizeOf(report.log) / 2);
    assert.deepEqual([log?.calls, log?.assertions], [[], report.assertions]);
    assert.deepEqual(log?.log, report.log.slice(0, log?.log.length));
    assert.ok(log.log.length > 10 && log.log.length < 30);
    const failed = await boundOne(report, sizeOf({ ...report, calls: [], log: [], assertions: [] }) + 1500);
    assert.deepEqual(
      failed?.assertions.filter(({ passed }) => !passed),
      report.assertions.filter(({ passed }) => !passed),
    );
    assert.ok(failed.assertions.length < 40);
    assert.deepEqual([failed.calls, failed.isCut, failed.verdict], [[], true, 'failed']);
  });

  it('fits any number of reports into the row', async () => {
    for (const count of [1, 2, 20]) {
      const bounded = await boundReports(many(count, () => large(2000)));
      assert.ok(sizeOf(bounded) <= 256 * 1024 + count + 2, `${sizeOf(bounded)}`);
      for (const report of bounded) assert.ok(report.isCut && report.assertions.length > 0);
    }
    assert.equal((await boundOne(large(2000), 1))?.detail?.length, 1000);
  });

  it('does not occupy the server for long', async () => {
    const tiny = reportOf('passed', {
      log: many(5000, () => line('')),
      assertions: many(2000, () => assertion('', true)),
    });
    const reports = many(20, () => tiny);
    let longestMs = 0;
    let lastMs = performance.now();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 1);
    await boundReports(reports);
    clearInterval(timer);
    assert.ok(longestMs < 100, `${longestMs} ms`);
  });
});
