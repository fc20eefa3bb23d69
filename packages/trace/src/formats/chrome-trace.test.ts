import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { growth, makeSpan, smallTrace, someTimeUnixNano } from '../../test/support/make-span.ts';
import { chromeTrace } from './chrome-trace.ts';

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

describe('chromeTrace()', () => {
  it('has each call as a complete event, in microseconds since the first', () => {
    const calls = eventsOf(chromeTrace(smallTrace())).filter(({ ph }) => ph === 'X');
    assert.deepEqual(
      calls.map(({ name, ts, dur }) => [name, ts, dur]),
      [
        ['_start', 0, 12_800],
        ['main', 1, 12_796.93],
        ['parse(int)', 2, 400],
        ['parse(int)', 402, 500],
        ['parse(int)', 902, 100],
        ['run', 1_002, 11_795.518],
      ],
    );
    assert.deepEqual(calls.at(-1)?.args, {
      'code.function.name': 'run',
      'wasm.function.index': 6,
      'wasm.self_time_ns': 11_795_518,
      'plugin.step': 'last',
      count: '9007199254740993',
      error: 'unreachable',
    });
  });

  it('says when the first call was, to the nanosecond', () => {
    const { otherData, displayTimeUnit } = JSON.parse(chromeTrace(smallTrace()));
    assert.deepEqual(otherData, { startTimeUnixNano: String(someTimeUnixNano) });
    assert.equal(displayTimeUnit, 'ns');
  });

  it('counts the growth of memory over time, whichever call it was in', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 9_000, events: [growth(8_000, 5)] }),
      makeSpan({ id: 2, parent: 1, start: 1_000, end: 7_000, events: [growth(2_000, 1), growth(6_000, 2)] }),
    ];
    const counters = eventsOf(chromeTrace(spans)).filter(({ ph }) => ph === 'C');
    assert.deepEqual(
      counters.map(({ ts, args }) => [ts, args]),
      [
        [2, { pages: 1 }],
        [6, { pages: 3 }],
        [8, { pages: 8 }],
      ],
    );
  });

  it('has other events of a call as moments of it', () => {
    const log = { name: 'log', timeUnixNano: someTimeUnixNano + 500n, attributes: new Map([['log.message', 'hello']]) };
    const [moment] = eventsOf(chromeTrace([makeSpan({ id: 1, start: 0, end: 900, events: [log] })])).filter(
      ({ ph }) => ph === 'i',
    );
    assert.deepEqual([moment?.name, moment?.ts, moment?.args], ['log', 0.5, { 'log.message': 'hello' }]);
  });

  it('has calls that overlap in threads of their own, each named', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 10 }),
      makeSpan({ id: 2, start: 5, end: 15 }),
      makeSpan({ id: 3, start: 10, end: 12 }),
    ];
    const events = eventsOf(chromeTrace(spans, { processName: 'shop' }));
    const calls = events.filter(({ ph }) => ph === 'X').map(({ name, tid }) => [name, tid]);
    assert.deepEqual(calls, [
      ['f1', 1],
      ['f3', 1],
      ['f2', 2],
    ]);
    const names = events.filter(({ ph }) => ph === 'M').map(({ name, tid, args }) => [name, tid, args.name]);
    assert.deepEqual(names, [
      ['process_name', 0, 'shop'],
      ['thread_name', 1, 'calls 1'],
      ['thread_name', 2, 'calls 2'],
    ]);
  });

  it('tells manual spans from functions, and keeps hostile names as data', () => {
    const attributes = new Map([['__proto__', '"}]']]);
    const [call] = eventsOf(
      chromeTrace([makeSpan({ id: 1, start: 0, end: 1, name: '"}]\n', function: undefined, attributes })]),
    ).filter(({ ph }) => ph === 'X');
    assert.equal(call?.cat, 'manual');
    assert.equal(call?.name, '"}]\n');
    assert.equal(Object.getOwnPropertyDescriptor(call?.args, '__proto__')?.value, '"}]');
  });

  it('is a trace without calls for no spans', () => {
    assert.deepEqual(
      eventsOf(chromeTrace([])).map(({ ph }) => ph),
      ['M'],
    );
  });
});

function eventsOf(json: string): TraceEvent[] {
  return JSON.parse(json).traceEvents;
}
