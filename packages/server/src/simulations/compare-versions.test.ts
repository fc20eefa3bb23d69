import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimulatedCall, SimulationReport } from '@tenon/protocol';
import { compareReports } from './compare-versions.ts';

const excerpt = (text: string) => ({ text, size: text.length, sha256: text });

const call = (name: string, fields: Partial<SimulatedCall> = {}): SimulatedCall => ({
  export: name,
  input: excerpt('in'),
  output: excerpt('out'),
  error: null,
  timeNano: 10_000,
  memoryPages: 2,
  functionCalls: 5,
  hostCalls: [],
  ...fields,
});

const report = (...calls: SimulatedCall[]): SimulationReport => ({
  name: 'basics',
  revision: 1,
  verdict: 'passed',
  detail: null,
  assertions: [],
  calls,
  log: [],
  durationMs: 1,
  isCut: false,
});

describe('compareReports()', () => {
  it('names what changed, and takes outputs, errors, and host calls for a difference', () => {
    const changesOf = (fields: Partial<SimulatedCall>) => {
      const [compared] = compareReports(report(call('a')), report(call('a', fields))).calls;
      return [compared?.differs, compared?.changes];
    };
    assert.deepEqual(changesOf({}), [false, []]);
    assert.deepEqual(changesOf({ output: excerpt('other') }), [true, ['output']]);
    assert.deepEqual(changesOf({ output: null, error: 'trap' }), [true, ['output', 'error']]);
    assert.deepEqual(changesOf({ hostCalls: [{ name: 'h', args: [], returns: null }] }), [true, ['host_calls']]);
    assert.deepEqual(changesOf({ memoryPages: 3, functionCalls: 6 }), [false, ['memory', 'function_calls']]);
  });

  it('reports a time only if it is twice as long and not noise', () => {
    const timesOf = (before: number, after: number) =>
      compareReports(report(call('a', { timeNano: before })), report(call('a', { timeNano: after }))).calls[0]?.changes;
    assert.deepEqual(timesOf(10_000, 900_000), []);
    assert.deepEqual(timesOf(3_000_000, 5_000_000), []);
    assert.deepEqual(timesOf(3_000_000, 6_000_000), ['time']);
    assert.deepEqual(timesOf(6_000_000, 3_000_000), ['time']);
  });

  it('pairs calls by export and order, and lists those that differ first', () => {
    const before = report(call('a'), call('b'), call('gone'), call('a', { output: excerpt('2') }));
    const after = report(call('new'), call('a'), call('a', { output: excerpt('2') }), call('b', { error: 'e' }));
    const { calls, isCut } = compareReports(before, after);
    assert.deepEqual(
      calls.map((one) => [one.before?.export ?? null, one.after?.export ?? null, one.differs]),
      [
        [null, 'new', true],
        ['b', 'b', true],
        ['gone', null, true],
        ['a', 'a', false],
        ['a', 'a', false],
      ],
    );
    assert.equal(isCut, false);
  });

  it('leaves out calls that are too many', () => {
    const many = Array.from({ length: 5000 }, () => call('a'));
    const compared = compareReports(report(...many), report(...many, call('b')));
    assert.equal(compared.isCut, true);
    assert.equal(compared.calls[0]?.after?.export, 'b');
    assert.ok(JSON.stringify(compared).length < 300_000);
  });

  it('has no other side if no other version is bound', () => {
    const { before, calls } = compareReports(undefined, report(call('a')));
    assert.equal(before, null);
    assert.equal(calls[0]?.before, null);
  });
});
