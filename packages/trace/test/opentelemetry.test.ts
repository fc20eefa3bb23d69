import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { activeParent, observeStatistics, openTelemetryExporter } from '@tenon/trace/opentelemetry';
import { makeSpan, smallTrace, someTraceId, spanIdOf } from './support/make-span.ts';
import { statisticsOf } from './support/statistics.ts';

const memory = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] });

before(() => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.trace.setGlobalTracerProvider(provider);
});
after(async () => {
  await provider.shutdown();
  api.trace.disable();
  api.context.disable();
});
beforeEach(() => memory.reset());

function finished(name: string): ReadableSpan {
  const found = memory.getFinishedSpans().filter((span) => span.name === name);
  assert.equal(found.length, 1, name);
  return found[0] as ReadableSpan;
}

describe('openTelemetryExporter()', () => {
  it('hands spans to the SDK with their times, parents, status, attributes and events', () => {
    openTelemetryExporter({ api }).export(smallTrace());
    const spans = memory.getFinishedSpans();
    assert.equal(spans.length, 6);
    const [start, main, run] = ['_start', 'main', 'run'].map(finished) as [ReadableSpan, ReadableSpan, ReadableSpan];
    assert.equal(start.parentSpanContext, undefined);
    assert.equal(main.parentSpanContext?.spanId, start.spanContext().spanId);
    for (const span of spans.filter(({ name }) => /parse|run/.test(name))) {
      assert.equal(span.parentSpanContext?.spanId, main.spanContext().spanId);
      assert.equal(span.spanContext().traceId, start.spanContext().traceId);
    }
    assert.deepEqual(start.startTime, [1_790_000_000, 1]);
    assert.deepEqual(start.endTime, [1_790_000_000, 12_800_001]);
    assert.deepEqual(start.duration, [0, 12_800_000]);
    assert.equal(start.kind, api.SpanKind.INTERNAL);
    assert.deepEqual(run.status, { code: api.SpanStatusCode.ERROR, message: 'unreachable' });
    assert.deepEqual(start.status, { code: api.SpanStatusCode.UNSET });
    assert.deepEqual(
      main.events.map(({ name, time, attributes }) => [name, time, { ...attributes }]),
      [
        ['memory.grow', [1_790_000_000, 1_501], { pages: 1 }],
        ['memory.grow', [1_790_000_000, 9_000_001], { pages: 2 }],
      ],
    );
    assert.deepEqual(
      { ...run.attributes },
      {
        'code.function.name': 'run',
        'wasm.function.index': 6,
        'wasm.self_time_ns': 11_795_518,
        'plugin.step': 'last',
        count: '9007199254740993',
      },
    );
    assert.equal(main.instrumentationScope.name, '@tenon/trace');
  });

  it('puts a root under the span that is active', () => {
    const tracer = api.trace.getTracer('host');
    tracer.startActiveSpan('request', (request) => {
      openTelemetryExporter({ api }).export(smallTrace());
      request.end();
    });
    assert.equal(finished('_start').parentSpanContext?.spanId, finished('request').spanContext().spanId);
    assert.equal(finished('run').spanContext().traceId, finished('request').spanContext().traceId);
  });

  it('puts a root under the span that it names, wherever that is', () => {
    const [root] = smallTrace();
    assert.ok(root);
    openTelemetryExporter({ api }).export([{ ...root, parentSpanId: spanIdOf(99), traceState: 'vendor=1' }]);
    const { parentSpanContext } = finished('_start');
    assert.equal(parentSpanContext?.spanId, spanIdOf(99));
    assert.equal(parentSpanContext?.traceId, someTraceId);
    assert.equal(parentSpanContext?.isRemote, true);
    assert.equal(finished('_start').spanContext().traceId, someTraceId);
    assert.equal(finished('_start').spanContext().traceState?.serialize(), 'vendor=1');
  });

  it('knows the active span when a root names it', () => {
    api.trace.getTracer('host').startActiveSpan('request', (request) => {
      const { traceId, spanId } = request.spanContext();
      openTelemetryExporter({ api }).export([
        { ...makeSpan({ id: 1, start: 0, end: 1, name: 'a' }), traceId, parentSpanId: spanId },
      ]);
      request.end();
    });
    assert.equal(finished('a').parentSpanContext?.spanId, finished('request').spanContext().spanId);
    assert.notEqual(finished('a').parentSpanContext?.isRemote, true);
  });

  it('leaves the decision to the sampler, and takes a tracer that is handed in', () => {
    const silent = new BasicTracerProvider({
      sampler: new AlwaysOffSampler(),
      spanProcessors: [new SimpleSpanProcessor(memory)],
    });
    openTelemetryExporter({ api, tracer: silent.getTracer('own') }).export(smallTrace());
    assert.equal(memory.getFinishedSpans().length, 0);
  });

  it('keeps lists of several kinds, hostile names and counts of what was dropped', () => {
    const attributes = new Map<string, string | readonly (string | number | boolean)[]>([
      ['__proto__', 'p'],
      ['mixed', [1, 'a', true]],
      ['numbers', [1, 2]],
    ]);
    openTelemetryExporter({ api }).export([
      makeSpan({ id: 1, start: 0, end: 1, name: '</script>', attributes, dropped: { events: 3, attributes: 2 } }),
    ]);
    const found = new Map(Object.entries(finished('</script>').attributes));
    assert.deepEqual(found.get('mixed'), ['1', 'a', 'true']);
    assert.deepEqual(found.get('numbers'), [1, 2]);
    assert.equal(found.get('otel.dropped_events_count'), 3);
    assert.equal(found.get('otel.dropped_attributes_count'), 2);
  });
});

describe('activeParent()', () => {
  it('is the active span as trace context', () => {
    assert.equal(activeParent(api), undefined);
    const traceState = api.createTraceState('vendor=1');
    const parent = { traceId: someTraceId, spanId: spanIdOf(5), traceFlags: 1, traceState };
    api.context.with(api.trace.setSpanContext(api.ROOT_CONTEXT, parent), () => {
      assert.deepEqual(activeParent(api), {
        traceparent: `00-${someTraceId}-${spanIdOf(5)}-01`,
        tracestate: 'vendor=1',
      });
    });
  });
});

describe('observeStatistics()', () => {
  it('has a meter report what was counted, until it is ended', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const meters = new MeterProvider({ readers: [reader] });
    let statistics = statisticsOf([{ index: 3, calls: 5, total: 2_000_000_000n, self: 500_000_000n }], { spans: 7 });
    const end = observeStatistics(meters.getMeter('host'), () => statistics);
    assert.deepEqual(await collected(), {
      'wasm.function.calls {call}': [[5, { 'code.function.name': 'f3', 'wasm.function.index': 3 }]],
      'wasm.function.total_time s': [[2, { 'code.function.name': 'f3', 'wasm.function.index': 3 }]],
      'wasm.function.self_time s': [[0.5, { 'code.function.name': 'f3', 'wasm.function.index': 3 }]],
      'wasm.trace.dropped {item}': [[7, { kind: 'spans' }]],
    });
    statistics = { ...statisticsOf([{ index: 3, calls: 6, failures: 2, pages: 4 }], {}), livePages: 21 };
    const second = await collected();
    assert.equal(second['wasm.function.calls {call}']?.[0]?.[0], 6);
    assert.equal(second['wasm.function.failures {call}']?.[0]?.[0], 2);
    assert.equal(second['wasm.memory.grown {page}']?.[0]?.[0], 4);
    assert.deepEqual(second['wasm.memory.pages {page}'], [[21, {}]]);
    end();
    statistics = statisticsOf([{ index: 4, calls: 6 }], {});
    const third = await collected();
    assert.ok(!third['wasm.function.calls {call}']?.some(([, attributes]) => attributes['wasm.function.index'] === 4));
    await meters.shutdown();

    async function collected() {
      const { resourceMetrics } = await reader.collect();
      const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      return Object.fromEntries(
        metrics
          .filter(({ dataPoints }) => dataPoints.length > 0)
          .map(({ descriptor, dataPoints }) => [
            `${descriptor.name} ${descriptor.unit}`,
            dataPoints.map(({ value, attributes }) => [value, { ...attributes }] as const),
          ]),
      );
    }
  });
});
