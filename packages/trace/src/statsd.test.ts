import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseStatsd } from './statsd.ts';

const parse = (line: string) => Object.fromEntries(parseStatsd(line));
const metric = (name: string, type: string, value: number | string) => ({
  'metric.name': name,
  'metric.type': type,
  'metric.value': value,
});

describe('parseStatsd()', () => {
  it('reads every kind of metric', () => {
    assert.deepEqual(parse('requests:1|c'), metric('requests', 'counter', 1));
    assert.deepEqual(parse('heap.used:1.5e3|g'), metric('heap.used', 'gauge', 1500));
    assert.deepEqual(parse('render:320|ms'), metric('render', 'timing', 320));
    assert.deepEqual(parse('size:0.25|h'), metric('size', 'histogram', 0.25));
    assert.deepEqual(parse('size:-3|d'), metric('size', 'distribution', -3));
    assert.deepEqual(parse('users:ada:1|s'), metric('users', 'set', 'ada:1'));
  });

  it('says of a gauge whether it is set or changed', () => {
    assert.deepEqual(parse('depth:+4|g'), { ...metric('depth', 'gauge', 4), 'metric.is_change': true });
    assert.deepEqual(parse('depth:-4|g'), { ...metric('depth', 'gauge', -4), 'metric.is_change': true });
  });

  it('reads the sample rate and tags', () => {
    assert.deepEqual(parse('requests:2|c|@0.1|#route:/a,cached\r'), {
      ...metric('requests', 'counter', 2),
      'metric.sample_rate': 0.1,
      'metric.tags': ['route:/a', 'cached'],
    });
    assert.deepEqual(parse('requests:2|c|@|#|T1656581400|'), metric('requests', 'counter', 2));
  });

  it('reads nothing of a line that is none', () => {
    for (const line of [
      '',
      'load',
      'load:fast',
      ':1|c',
      'a:|c',
      'a:|s',
      'a:1',
      'a:1|',
      'a:1|x',
      'a:0x10|c',
      '|c',
      'a:1e999|c',
    ])
      assert.deepEqual(parse(line), {}, line);
    for (const value of ['Infinity', 'NaN', '1_0', '1 ', '.', '--1', 'constructor'])
      assert.deepEqual(parse(`a:${value}|c`), {}, value);
    assert.deepEqual(parse('a:1|constructor'), {});
  });
});
