import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maxReportedVersions, readOtlp } from './read-otlp.ts';

const pluginId = 'ext_1/plugin/usr_1/median';
const contentAddress = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU';
const text = (key: string, stringValue: unknown) => ({ key, value: { stringValue } });
const attributes = [text('tenon.plugin.id', pluginId), text('tenon.plugin.content_address', contentAddress)];
const point = { attributes, count: '3', explicitBounds: [0.01, 0.1], bucketCounts: ['1', '2', '0'] };

const request = (...metrics: unknown[]) => ({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
const calls = (...dataPoints: unknown[]) => ({
  name: 'tenon.plugin.call.duration',
  unit: 's',
  histogram: { aggregationTemporality: 1, dataPoints },
});
const memory = (...dataPoints: unknown[]) => ({ name: 'tenon.plugin.memory', unit: 'By', gauge: { dataPoints } });

describe('readOtlp()', () => {
  it('adds up the calls, the errors, and the durations of a version, and takes the largest memory', () => {
    const failed = { ...point, attributes: [...attributes, text('error.type', 'RuntimeError')] };
    const bytes = [{ asInt: '2000' }, { asDouble: 1000.4 }, { asInt: 5 }].map((one) => ({ ...one, attributes }));
    const { reported, rejected } = readOtlp(request(calls(point, failed), memory(...bytes)));
    assert.equal(rejected.count, 0, rejected.message);
    const durations = { 40: 2, 54: 4 };
    assert.deepEqual(reported, [
      { pluginId, contentAddress, calls: 6, errors: 3, durations, memoryBytes: 2000, dataPoints: 5 },
    ]);
  });

  it('accepts integers as numbers, unknown fields, points without a value, and empty requests', () => {
    const numbers = { ...point, count: 3, bucketCounts: [1, 2, 0], exemplars: [{}], startTimeUnixNano: '1' };
    const { reported, rejected } = readOtlp(request(calls(numbers, { flags: 1 }), { ...calls(), unit: '' }));
    assert.deepEqual([reported.length, rejected.count], [1, 0]);
    for (const empty of [{}, { resourceMetrics: [] }, { resourceMetrics: [{}, { scopeMetrics: [{}] }] }, null, []]) {
      assert.deepEqual(readOtlp(empty).rejected.count, 0);
    }
  });

  const faults: readonly (readonly [what: string, metric: unknown, message: RegExp, count?: number])[] = [
    ['another metric', { name: 'x', sum: { dataPoints: [{}, {}] } }, /metrics\[0\]: only "tenon/, 2],
    ['a metric without a name', { gauge: { dataPoints: [{}] } }, /only "tenon/],
    ['another kind of metric', { ...calls(), histogram: undefined, sum: { dataPoints: [{}] } }, /must be a histogram/],
    [
      'exponential bounds',
      { name: 'tenon.plugin.call.duration', exponentialHistogram: { dataPoints: [{}] } },
      /explicit/,
    ],
    ['milliseconds', { ...calls(point), unit: 'ms' }, /"unit" must be "s" \(got "ms"\)/],
    ['bits', { ...memory({ attributes, asInt: '1' }), unit: 'bit' }, /"unit" must be "By"/],
    [
      'cumulative counts',
      { ...calls(), histogram: { aggregationTemporality: 2, dataPoints: [point, point] } },
      /must be 1, delta \(got 2\); set OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta/,
      2,
    ],
    ['no temporality', { ...calls(), histogram: { dataPoints: [point] } }, /got nothing/],
    ['data points that are no list', { ...calls(), histogram: { aggregationTemporality: 1, dataPoints: 5 } }, /a list/],
    [
      'a point that is no object',
      calls(5),
      /histogram\.dataPoints\[0\]: the attribute "tenon\.plugin\.id" is required/,
    ],
    ['no attributes', calls({ ...point, attributes: [] }), /"tenon\.plugin\.id" is required/],
    ['attributes that are no list', calls({ ...point, attributes: {} }), /"tenon\.plugin\.id" is required/],
    ['an id that is no text', calls({ ...point, attributes: [text('tenon.plugin.id', 7)] }), /is required/],
    [
      'a malformed content address',
      calls({ ...point, attributes: [attributes[0], text('tenon.plugin.content_address', 'a')] }),
      /must be a content address \(got "a"\)/,
    ],
    ['a negative count', calls({ ...point, count: '-3' }), /"count" must be an integer from 0/],
    ['a fraction', calls({ ...point, count: 2.5 }), /"count" must be an integer/],
    ['too many calls', calls({ ...point, count: '100000001' }), /"count" must be an integer/],
    ['a count of many digits', calls({ ...point, count: '9'.repeat(400) }), /"count" must be an integer/],
    ['a negative bucket', calls({ ...point, bucketCounts: ['5', '-2', '0'] }), /"bucketCounts" must be an integer/],
    ['other counts than buckets', calls({ ...point, bucketCounts: ['1', '2'] }), /got 2 counts and 2 bounds/],
    ['no buckets', calls({ ...point, bucketCounts: [], explicitBounds: [] }), /must have a bound/],
    ['a sum that differs', calls({ ...point, count: '4' }), /must be the sum of "bucketCounts" \(got 4 and 3\)/],
    [
      'bounds that shrink',
      calls({ ...point, explicitBounds: [1, 0.5] }),
      /must be growing finite numbers \(got 0\.5\)/,
    ],
    ['equal bounds', calls({ ...point, explicitBounds: [1, 1] }), /growing/],
    ['bounds that are texts', calls({ ...point, explicitBounds: ['NaN', 1] }), /growing/],
    [
      'too many bounds',
      calls({ ...point, explicitBounds: Array.from({ length: 251 }, (_, at) => at) }),
      /at most 250 bounds/,
    ],
    ['negative memory', memory({ attributes, asInt: '-1' }), /must be a number of bytes/],
    ['memory that is no number', memory({ attributes, asDouble: 'NaN' }), /must be a number of bytes/],
    ['no memory', memory({ attributes }), /got nothing/],
    ['too much memory', memory({ attributes, asInt: '9007199254740993000' }), /must be a number of bytes/],
  ];
  for (const [what, metric, message, count = 1] of faults) {
    it(`rejects ${what}, and nothing else`, () => {
      const { reported, rejected } = readOtlp(request(metric, calls(point)));
      assert.deepEqual([rejected.count, reported.map(({ calls }) => calls)], [count, [3]]);
      assert.match(rejected.message, message);
    });
  }

  it('rejects points of more versions than it takes', () => {
    const points = Array.from({ length: maxReportedVersions + 2 }, (_, at) => ({
      ...point,
      attributes: [text('tenon.plugin.id', `p${at}`), attributes[1]],
    }));
    const { reported, rejected } = readOtlp(request(calls(...points)));
    assert.deepEqual([reported.length, rejected.count], [maxReportedVersions, 2]);
    assert.match(rejected.message, /at most 500 versions/);
  });

  it('rejects a value that is not a list, at every level', () => {
    for (const broken of [
      { resourceMetrics: 1 },
      { resourceMetrics: [{ scopeMetrics: {} }] },
      { resourceMetrics: [{ scopeMetrics: [{ metrics: 'x' }] }] },
    ]) {
      const { rejected } = readOtlp(broken);
      assert.equal(rejected.count, 1);
      assert.match(rejected.message, /: must be a list$/);
    }
  });
});
