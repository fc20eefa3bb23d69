import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wat } from '../../../test/helpers/wat.ts';
import { systemClock } from './clock.ts';
import { start, TraceError } from './index.ts';
import { parseConfiguration, type TraceOptions } from './options.ts';

const empty = wat('(module)');

function pointersOf(action: () => unknown): string[] {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof TraceError);
    assert.equal(error.code, 'invalid_option');
    for (const { pointer, detail } of error.faults) assert.ok(error.message.includes(`${pointer}`) && detail !== '');
    return error.faults.map(({ pointer }) => pointer);
  }
  return [];
}

describe('parseConfiguration()', () => {
  it('reads the spelling of the interface', () => {
    assert.deepEqual(parseConfiguration('{"span_filter": {"min_duration_microseconds": 1.5}}'), {
      spanFilter: { minDurationMicroseconds: 1.5 },
    });
    assert.deepEqual(parseConfiguration({ limits: { text_length: 7 }, statistics: true }), {
      limits: { textLength: 7 },
      statistics: true,
    });
    assert.deepEqual(parseConfiguration({}), {});
  });

  const refused: readonly [json: unknown, ...pointers: string[]][] = [
    ['', ''],
    ['[]', ''],
    [null, ''],
    [{ spanFilter: {} }, '/spanFilter'],
    [{ span_filter: 20 }, '/span_filter'],
    [{ span_filter: { minDurationMicroseconds: 20 } }, '/span_filter/minDurationMicroseconds'],
    [{ span_filter: { min_duration_microseconds: -1 } }, '/span_filter/min_duration_microseconds'],
    [{ span_filter: { min_duration_microseconds: '20' } }, '/span_filter/min_duration_microseconds'],
    [{ span_filter: { min_duration_microseconds: null } }, '/span_filter/min_duration_microseconds'],
    [{ limits: { spans: 0, depth: 1.5 }, 'a/b~': 1 }, '/limits/spans', '/limits/depth', '/a~1b~0'],
    ['{"__proto__": {}, "constructor": 1}', '/__proto__', '/constructor'],
    [{ statistics: 'yes' }, '/statistics'],
  ];
  for (const [json, ...pointers] of refused) {
    it(`refuses ${typeof json === 'string' ? json || 'nothing' : JSON.stringify(json)}, pointing at it`, () => {
      assert.deepEqual(
        pointersOf(() => parseConfiguration(json)),
        pointers,
      );
    });
  }
});

describe('start() options', () => {
  it('takes what parseConfiguration() gives', () => {
    start(empty, parseConfiguration('{"span_filter": {"min_duration_microseconds": 0}, "limits": {"events": 1}}'));
  });

  it('takes options that are undefined for options that are not there', () => {
    start(empty, { spanFilter: { minDurationMicroseconds: undefined }, exporters: undefined, limits: {} });
  });

  const refused: readonly [options: unknown, ...pointers: string[]][] = [
    [[], ''],
    [{ span_filter: {} }, '/span_filter'],
    [{ spanFilter: { minDurationMicroseconds: Number.NaN } }, '/spanFilter/minDurationMicroseconds'],
    [{ spanFilter: { minDurationMicroseconds: Number.POSITIVE_INFINITY } }, '/spanFilter/minDurationMicroseconds'],
    [{ spanFilter: { minDurationMicroseconds: 20n } }, '/spanFilter/minDurationMicroseconds'],
    [{ exporters: [{ export() {} }, {}, null] }, '/exporters/1/export', '/exporters/2/export'],
    [{ exporters: {} }, '/exporters'],
    [{ clock: { now: 1 } }, '/clock/now', '/clock/wallNow'],
    [{ exporters: [{ export() {}, flush: 1, shutdown: null }] }, '/exporters/0/flush', '/exporters/0/shutdown'],
    [{ exporters: new Array(1) }, '/exporters/0/export'],
    [{ attributes: { good: ['a', 1, true], 'of/all': {}, list: [null] } }, '/attributes/of~1all', '/attributes/list'],
    [{ attributes: new Map<unknown, unknown>([[1, 'a']]) }, '/attributes/1'],
    [{ attributes: ['a'] }, '/attributes'],
    [{ parent: { tracestate: 'a=b' } }, '/parent/traceparent'],
    [{ clock: { ...systemClock(), timeOrigin: '0' } }, '/clock/timeOrigin'],
    [{ clock: null }, '/clock/now', '/clock/wallNow'],
    [{ limits: { nothing: 1 } }, '/limits/nothing'],
    [{ parent: 1, attributes: 'a', random: {}, demangle: true }, '/parent', '/attributes', '/random', '/demangle'],
  ];
  for (const [options, ...pointers] of refused) {
    it(`refuses what is wrong at ${pointers.join(', ') || 'the top'}`, () => {
      assert.deepEqual(
        pointersOf(() => start(empty, options as TraceOptions)),
        pointers,
      );
    });
  }

  it('refuses what is no module', () => {
    for (const bytes of [new Uint8Array(), new Uint8Array([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]), 'text', undefined]) {
      assert.throws(() => start(bytes as Uint8Array), { name: 'TraceError', code: 'invalid_module' });
    }
  });
});
