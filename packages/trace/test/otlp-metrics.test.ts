import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type OtlpMetricsOptions, otlpMetrics } from '@tenon/trace/otlp';
import { createOtlpMetrics } from '../src/otlp/metrics-exporter.ts';
import { type Collector, type Received, startCollector } from './helpers/collector.ts';
import { attributesOf, encodeMessage, official, type Plain } from './helpers/otlp-definitions.ts';
import { someTimeUnixNano } from './support/make-span.ts';
import { type StatisticsPlan, statisticsOf } from './support/statistics.ts';
import { createTestWorld } from './support/test-world.ts';

const worldStartNano = 1_790_000_000_000_000_000n;

describe('otlpMetrics()', () => {
  let collector: Collector;
  before(async () => {
    collector = await startCollector();
  });
  after(() => collector.close());
  beforeEach(() => void (collector.received as unknown[]).splice(0));

  function setUp(options: Partial<OtlpMetricsOptions> = {}) {
    const world = createTestWorld();
    const errors: string[] = [];
    const counted: { functions: StatisticsPlan[]; dropped: { spans?: number } } = { functions: [], dropped: {} };
    const metrics = createOtlpMetrics(
      {
        source: () => statisticsOf(counted.functions, counted.dropped),
        endpoint: collector.url,
        onError: ({ message }) => errors.push(message),
        ...options,
      },
      world,
    );
    return { world, errors, counted, metrics };
  }

  it('reports every figure by function, in protobuf and in JSON', async () => {
    for (const protocol of ['http/protobuf', 'http/json'] as const) {
      const { counted, metrics, world } = setUp({
        protocol,
        livePages: () => 17,
        resource: { 'service.name': 'shop' },
      });
      world.pass(90_000);
      counted.functions = [
        {
          index: 7,
          name: 'parse(int)',
          rawName: '_Z5parsei',
          calls: 12,
          failures: 2,
          total: 3_500_000_000n,
          self: 1_250_000_000n,
          max: 9_000_000_000n,
          sum: 4_500_000_000n,
          pages: 3,
          durations: [9, 2, 1],
        },
      ];
      counted.dropped = { spans: 4 };
      await metrics.shutdown();
      const found = metricsIn(last(collector));
      const attributes = [
        ['code.function.name', 'parse(int)'],
        ['wasm.function.raw_name', '_Z5parsei'],
        ['wasm.function.index', '7'],
      ];
      const times = {
        startTimeUnixNano: String(someTimeUnixNano),
        timeUnixNano: String(worldStartNano + 90_000_000_000n),
      };
      assert.deepEqual(Object.keys(found), [
        'wasm.function.calls',
        'wasm.function.failures',
        'wasm.function.total_time',
        'wasm.function.self_time',
        'wasm.memory.grown',
        'wasm.function.duration',
        'wasm.trace.dropped',
        'wasm.memory.pages',
      ]);
      const sums = ['calls', 'failures', 'total_time', 'self_time'].map((name) => found[`wasm.function.${name}`].sum);
      for (const { aggregationTemporality, isMonotonic, dataPoints } of sums) {
        assert.equal(aggregationTemporality, 2);
        assert.equal(isMonotonic, true);
        assert.equal(dataPoints.length, 1);
        assert.deepEqual([...attributesOf(dataPoints[0].attributes)], attributes);
        assert.equal(dataPoints[0].startTimeUnixNano, times.startTimeUnixNano);
        assert.equal(dataPoints[0].timeUnixNano, times.timeUnixNano);
      }
      assert.deepEqual(
        sums.map(({ dataPoints: [{ asInt, asDouble }] }) => asInt ?? asDouble),
        ['12', '2', 3.5, 1.25],
      );
      assert.equal(found['wasm.memory.grown'].sum.dataPoints[0].asInt, '3');
      assert.equal(found['wasm.function.total_time'].unit, 's');
      const [{ attributes: named, ...duration }] = found['wasm.function.duration'].histogram.dataPoints;
      assert.deepEqual([...attributesOf(named)], attributes);
      assert.deepEqual(duration, {
        ...times,
        count: '12',
        sum: 4.5,
        bucketCounts: ['9', '2', '1'],
        explicitBounds: [0.000001, 0.001],
        max: 9,
      });
      const [drop] = found['wasm.trace.dropped'].sum.dataPoints;
      assert.deepEqual([drop.asInt, ...attributesOf(drop.attributes)], ['4', ['kind', 'spans']]);
      assert.equal(found['wasm.memory.pages'].gauge.dataPoints[0].asInt, '17');
      assert.equal(last(collector).path, '/v1/metrics');
      const { resource } = last(collector).message.resourceMetrics[0];
      assert.equal(attributesOf(resource.attributes).get('service.name'), 'shop');
    }
    const [protobuf, json] = collector.received;
    assert.deepEqual(json?.message, protobuf?.message);
  });

  it('reports once in every interval, from the start each time', async () => {
    const { counted, metrics, world } = setUp({ intervalMs: 7_000 });
    counted.functions = [{ index: 1, calls: 1 }];
    world.pass(6_999);
    assert.equal(collector.received.length, 0);
    world.pass(1);
    await world.until(() => world.waits().includes(7_000) && collector.received.length === 1);
    counted.functions = [{ index: 1, calls: 5 }];
    world.pass(7_000);
    await world.until(() => world.waits().includes(7_000) && collector.received.length === 2);
    await metrics.shutdown();
    assert.deepEqual(collector.received.map(callsIn), [{ f1: '1' }, { f1: '5' }, { f1: '5' }]);
    assert.deepEqual(world.waits(), [], 'nothing is left that would report again');
  });

  it('reports what came since the last report that was taken, where that is asked for', async () => {
    const { counted, metrics, world } = setUp({ temporality: 'delta', retry: { maxAttempts: 1 } });
    counted.functions = [
      { index: 1, calls: 5, total: 3_000_000_000n, sum: 4_000_000_000n, max: 9n, durations: [2, 2, 1] },
    ];
    counted.dropped = { spans: 2 };
    await metrics.flush();
    world.pass(1_000);
    counted.functions = [
      { index: 1, calls: 7, total: 3_500_000_000n, sum: 4_750_000_000n, max: 9n, durations: [3, 3, 1] },
      { index: 2, calls: 1 },
    ];
    collector.answer({ status: 503 });
    await assert.rejects(metrics.flush(), { code: 'export_failed', message: 'Sending metrics was answered with 503' });
    world.pass(1_000);
    await metrics.flush();
    world.pass(1_000);
    await metrics.shutdown();
    const [first, failed, second, third] = collector.received.map(metricsIn);
    assert.equal(first['wasm.function.calls'].sum.aggregationTemporality, 1);
    assert.deepEqual(collector.received.map(callsIn), [{ f1: '5' }, { f1: '2', f2: '1' }, { f1: '2', f2: '1' }, {}]);
    assert.equal(failed['wasm.trace.dropped'], undefined);
    assert.equal(second['wasm.function.total_time'].sum.dataPoints[0].asDouble, 0.5);
    const [duration] = second['wasm.function.duration'].histogram.dataPoints;
    assert.deepEqual(duration.bucketCounts, ['1', '1', '0']);
    assert.equal(duration.count, '2');
    assert.equal(duration.sum, 0.75);
    assert.equal(duration.max, undefined, 'the longest of this time alone is not known');
    assert.equal(duration.startTimeUnixNano, String(worldStartNano), 'when the last one that was taken was made');
    assert.equal(duration.timeUnixNano, String(worldStartNano + 2_000_000_000n));
    assert.deepEqual(third, {});
  });

  it('keeps to the functions that it names, and reports the rest together', async () => {
    const { counted, metrics } = setUp({ maxFunctions: 2 });
    counted.functions = [{ index: 1, calls: 1 }];
    await metrics.flush();
    counted.functions = [
      { index: 0, calls: 10, self: 1_000_000_000n, max: 5_000_000_000n, durations: [4, 6, 0] },
      { index: 1, calls: 100 },
      { index: 2, calls: 1_000, self: 2_000_000_000n, max: 6_000_000_000n, durations: [0, 1_000, 0] },
      { index: 3, calls: 10_000, max: 1n },
    ];
    await metrics.flush();
    await metrics.shutdown();
    assert.deepEqual(callsIn(collector.received[1]), { f0: '10', f1: '100', '(rest)': '11000' });
    const rest = metricsIn(last(collector))['wasm.function.duration'].histogram.dataPoints.at(-1);
    assert.deepEqual([...attributesOf(rest.attributes)], [['otel.metric.overflow', true]]);
    assert.deepEqual(rest.bucketCounts, ['10000', '1000', '0']);
    assert.equal(rest.max, 6);
    assert.equal(rest.sum, 0, 'a sum of nothing is not the same as none');
  });

  it('tells what the collector refuses, and what the source throws', async () => {
    const refusal = { partialSuccess: { rejectedDataPoints: 3, errorMessage: 'too many' } };
    collector.answer({
      headers: { 'content-type': 'application/x-protobuf' },
      body: encodeMessage(official.metricsResponse, refusal),
    });
    const refused = setUp();
    await assert.rejects(refused.metrics.flush(), {
      code: 'export_failed',
      message: 'The collector refused 3 data points: too many',
    });
    assert.equal(refused.errors.length, 1);
    await refused.metrics.shutdown();
    const { metrics, errors } = setUp({
      source() {
        throw new Error('not started');
      },
    });
    await assert.rejects(metrics.shutdown(), /Sending metrics failed: not started/);
    assert.equal(errors.length, 1);
  });

  it('gives up at shutdown after a while', async () => {
    const { metrics, world } = setUp({ shutdownTimeoutMs: 500 });
    collector.answer({ behaviour: 'hang' });
    const closed = assert.rejects(metrics.shutdown(), /given up at shutdown/);
    await world.until(() => collector.received.length === 1);
    world.pass(500);
    await closed;
    assert.deepEqual(world.waits(), []);
  });

  it('refuses options that are wrong', () => {
    const options = {
      source: 1,
      temporality: 'both',
      maxFunctions: 0,
      batchDelayMs: 5,
    } as unknown as OtlpMetricsOptions;
    assert.throws(
      () => otlpMetrics(options),
      (error: Error & { faults: { pointer: string }[] }) => {
        assert.deepEqual(error.faults.map(({ pointer }) => pointer).sort(), [
          '/batchDelayMs',
          '/maxFunctions',
          '/source',
          '/temporality',
        ]);
        return true;
      },
    );
  });
});

function last({ received }: Collector): Received {
  return received.at(-1) as Received;
}

/** The metrics of a request by name. */
function metricsIn(request: Received | undefined): Plain {
  const { metrics = [] } = request?.message.resourceMetrics[0].scopeMetrics[0] ?? {};
  return Object.fromEntries(metrics.map((metric: Plain) => [metric.name, metric]));
}

function callsIn(request: Received | undefined): Record<string, string> {
  const points = metricsIn(request)['wasm.function.calls']?.sum.dataPoints ?? [];
  return Object.fromEntries(
    points.map(({ attributes, asInt }: Plain) => [
      attributesOf(attributes).get('code.function.name') ?? '(rest)',
      asInt,
    ]),
  );
}
