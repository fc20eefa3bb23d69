import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { instrument } from '@tenon/instrument';
import { start, type TraceOptions } from '@tenon/trace';
import { createDemangler } from '@tenon/trace/demangle';
import { foldedStacks } from '@tenon/trace/formats';
import { activeParent, openTelemetryExporter } from '@tenon/trace/opentelemetry';
import { otlpExporter } from '@tenon/trace/otlp';
import { wat } from '../../../test/helpers/wat.ts';
import { type Collector, namesIn, spansIn, startCollector } from './helpers/collector.ts';
import { attributesOf, hexOf, type Plain } from './helpers/otlp-definitions.ts';
import { createManualClock } from './support/manual-clock.ts';

/** A plugin in C++ and Rust, as far as names go: `run` calls `step` as often as its argument says, the host passes time, and grows memory. */
const plugin = wat(`
  (module
    (import "host" "pass" (func $host.pass (param i32)))
    (memory (export "memory") 1)
    (func $_ZN4core4stepEi (param $ns i32) (call $host.pass (local.get $ns)))
    (func $_RNvCs1234_6plugin4grow (drop (memory.grow (i32.const 2))) (call $host.pass (i32.const 30000)))
    (func $run (export "run") (param $times i32) (param $ns i32)
      (loop $again
        (call $_ZN4core4stepEi (local.get $ns))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
      (call $_RNvCs1234_6plugin4grow))
    (func $fail (export "fail") (call $host.pass (i32.const 50000)) (unreachable)))
`);

describe('a module that is traced', () => {
  let collector: Collector;
  let demangler: Uint8Array;
  before(async () => {
    collector = await startCollector();
    demangler = await readFile(new URL(import.meta.resolve('gecko-profiler-demangle/index_bg.wasm')));
  });
  after(() => collector.close());

  function load(options: TraceOptions) {
    const clock = createManualClock();
    const context = start(instrument(plugin, { banned: ['host.pass'] }).bytes, {
      clock,
      statistics: true,
      demangle: createDemangler(demangler),
      ...options,
    });
    const { exports } = context.instantiateSync({ host: { pass: clock.moveNs } });
    const { run, fail } = exports as { run: (times: number, ns: number) => void; fail: () => void };
    return { context, run, fail, clock };
  }

  it('comes to a collector as it ran, names readable, short calls counted and not sent', async () => {
    const exporter = otlpExporter({ endpoint: collector.url });
    const { context, run, fail, clock } = load({
      exporters: [exporter],
      parent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    run(3, 25_000);
    run(40, 19_999);
    assert.throws(fail, WebAssembly.RuntimeError);
    await context.shutdown();
    assert.deepEqual(namesIn(collector.received), [
      ['run', 'core::step(int)', 'core::step(int)', 'core::step(int)', 'plugin::grow', 'run', 'plugin::grow', 'fail'],
    ]);
    const spans = spansIn(collector.received[0] ?? assert.fail());
    const [first, step, , , grow, second, , failed] = spans;
    for (const span of spans) assert.equal(hexOf(span.traceId), '0af7651916cd43dd8448eb211c80319c');
    for (const root of [first, second, failed]) assert.equal(hexOf(root.parentSpanId), 'b7ad6b7169203331');
    for (const inner of [step, grow]) assert.equal(inner.parentSpanId, first.spanId);
    assert.equal(durationOf(step), 25_000n);
    assert.equal(durationOf(first), 105_000n);
    assert.equal(BigInt(first.startTimeUnixNano), clock.originUnixNano + 5_000_000n);
    assert.equal(attributesOf(first.attributes).get('wasm.self_time_ns'), '0');
    assert.equal(attributesOf(step.attributes).get('wasm.function.raw_name'), '_ZN4core4stepEi');
    assert.equal(attributesOf(grow.attributes).get('wasm.function.raw_name'), '_RNvCs1234_6plugin4grow');
    assert.equal(attributesOf(grow.attributes).get('wasm.memory.grown_pages'), '2');
    assert.deepEqual(
      grow.events.map(({ name, attributes }: Plain) => [name, ...attributesOf(attributes)]),
      [['memory.grow', ['pages', '2']]],
    );
    assert.equal(attributesOf(second.attributes).get('wasm.folded.calls'), '40');
    assert.equal(attributesOf(second.attributes).get('wasm.folded.time_ns'), String(40 * 19_999));
    assert.equal(failed.status.code, 2);
    assert.match(failed.status.message, /unreachable/);
  });

  it('comes to the SDK of its host, under the request that called it', async () => {
    const memory = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] });
    api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    api.trace.setGlobalTracerProvider(provider);
    const { run } = load({ exporters: [openTelemetryExporter({ api })], parent: () => activeParent(api) });
    await provider.getTracer('host').startActiveSpan('request', async (request) => {
      await Promise.resolve();
      run(1, 25_000);
      request.end();
    });
    run(1, 25_000);
    const spans = memory.getFinishedSpans();
    const roots = spans.filter(({ name }) => name === 'run');
    const request = spans.find(({ name }) => name === 'request');
    assert.deepEqual(
      roots.map(({ parentSpanContext }) => parentSpanContext?.spanId),
      [request?.spanContext().spanId, undefined],
    );
    const steps = spans.filter(({ name }) => name === 'core::step(int)');
    assert.deepEqual(
      steps.map(({ parentSpanContext }) => parentSpanContext?.spanId),
      roots.map((root) => root.spanContext().spanId),
    );
    await provider.shutdown();
    api.trace.disable();
    api.context.disable();
  });

  it('comes out as folded stacks that add up to its time', () => {
    const stacks: string[] = [];
    const { run } = load({ exporters: [{ export: (spans) => void stacks.push(foldedStacks(spans)) }] });
    run(3, 25_000);
    assert.deepEqual(stacks, ['run;core::step(int) 75000\nrun;plugin::grow 30000\n']);
  });
});

function durationOf(span: Plain): bigint {
  return BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano);
}
