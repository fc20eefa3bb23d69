import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { hookImports, moduleOf, observe, tree } from '../test/support/observed.ts';
import { parseTraceParent, start, type TraceContext, TraceError } from './index.ts';
import type { ParentSource } from './options.ts';
import type { Span } from './span.ts';

const module = moduleOf(`(module ${hookImports}
  (import "env" "host" (func $host))
  (memory (export "memory") 1)
  (func $inner (export "inner") (call $enter (i32.const 4)) (call $exit (i32.const 4)))
  (func $outer (export "outer")
    (call $enter (i32.const 5)) (call $inner) (call $host) (call $exit (i32.const 5)))
  (func $fails (export "fails") (call $enter (i32.const 6)) (call $inner) unreachable))`);

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

type Exports = Record<'inner' | 'outer' | 'fails', () => void>;

function instantiate(context: TraceContext, host: () => void = () => {}): Exports {
  return context.instantiateSync({ env: { host } }).exports as Exports;
}

describe('start()', () => {
  it('gives a trace of its own to each root', () => {
    const { context, batches } = observe(module);
    const { inner, outer } = instantiate(context);
    outer();
    inner();
    assert.deepEqual(batches.map(tree), [['outer', '  inner'], ['inner']]);
    const [first = [], second = []] = batches;
    assert.equal(new Set(first.map(({ traceId }) => traceId)).size, 1);
    assert.notEqual(first[0]?.traceId, second[0]?.traceId);
    for (const span of [...first, ...second]) {
      assert.match(span.traceId, /^[0-9a-f]{32}$/);
      assert.match(span.spanId, /^[0-9a-f]{16}$/);
      assert.equal(span.traceFlags, 1);
    }
  });

  it('takes bytes or a module, at once or later', async () => {
    const bytes = (await import('../../../test/helpers/wat.ts')).wat('(module (func (export "f")))');
    for (const given of [bytes, new WebAssembly.Module(bytes as BufferSource)]) {
      const context = start(given);
      assert.equal(typeof context.instantiateSync().exports.f, 'function');
      assert.equal(typeof (await context.instantiate()).exports.f, 'function');
    }
  });

  it('compiles the bytes once for instances that are made at the same time', async (test) => {
    const compile = test.mock.method(WebAssembly, 'compile');
    const context = start((await import('../../../test/helpers/wat.ts')).wat('(module (func (export "f")))'));
    await Promise.all([context.instantiate(), context.instantiate()]);
    await context.instantiate();
    assert.equal(compile.mock.callCount(), 1);
  });

  it('takes imports as engines do: inherited, made when asked for, or not needed', () => {
    const { context, batches } = observe(module);
    let calls = 0;
    const env = { host: () => calls++ };
    const made = new Proxy({}, { get: (_, name) => (name === 'env' ? env : undefined) });
    for (const imports of [Object.create({ env }), made, { env, unused: undefined }, Object.freeze({ env })]) {
      (context.instantiateSync(imports as WebAssembly.Imports).exports as Exports).outer();
    }
    assert.equal(calls, 4);
    assert.equal(batches.length, 4);
  });

  it('hangs roots under the span that the host names', () => {
    const parent = { traceparent, tracestate: 'a=b' };
    const { context, batches } = observe(module, { parent });
    instantiate(context).outer();
    const [root, child] = batches[0] ?? [];
    for (const span of [root, child]) {
      assert.equal(span?.traceId, '4bf92f3577b34da6a3ce929d0e0e4736');
      assert.equal(span?.traceState, 'a=b');
    }
    assert.equal(root?.parentSpanId, '00f067aa0ba902b7');
    assert.equal(child?.parentSpanId, root?.spanId);
  });

  it('asks for the parent of each root', () => {
    let calls = 0;
    const { context, batches } = observe(module, { parent: () => (calls++ === 0 ? traceparent : undefined) });
    const { inner } = instantiate(context);
    inner();
    inner();
    assert.deepEqual(
      batches.map(([root]) => root?.parentSpanId),
      ['00f067aa0ba902b7', undefined],
    );
  });

  it('begins a trace where the parent is malformed, or cannot be had', () => {
    const codes: string[] = [];
    const failing = () => {
      throw new Error('no request');
    };
    for (const parent of ['00-rubbish', failing]) {
      const { context, batches } = observe(module, { parent, onError: ({ code }) => codes.push(code) });
      instantiate(context).inner();
      assert.equal(batches[0]?.[0]?.parentSpanId, undefined);
    }
    assert.deepEqual(codes, ['invalid_option']);
  });

  it('exports nothing of a trace that the host does not sample', () => {
    const { context, batches } = observe(module, { parent: `${traceparent.slice(0, -2)}00`, statistics: true });
    instantiate(context).inner();
    assert.deepEqual(batches, []);
    assert.equal(context.statistics().functions[0]?.calls, 1);
  });

  it('gives attributes to roots alone', () => {
    const given = { plugin: 'greet', 'plugin.version': 3 };
    for (const attributes of [given, new Map(Object.entries(given))]) {
      const { context, batches } = observe(module, { attributes });
      instantiate(context).outer();
      assert.deepEqual(
        batches[0]?.map((span) => Object.fromEntries(span.attributes)),
        [given, {}],
      );
    }
  });

  it('adds to the imports of the host, also under the same module', () => {
    const both = moduleOf(`(module
      (import "dylibso:observe/api" "other" (func $other))
      (import "dylibso:observe/api" "span-exit" (func $exit))
      (func (export "run") (call $other) (call $exit)))`);
    let calls = 0;
    const { context } = observe(both);
    const { exports } = context.instantiateSync({ 'dylibso:observe/api': { other: () => calls++ } });
    (exports.run as () => void)();
    assert.equal(calls, 1);
    assert.equal(context.statistics().dropped.unmatched, 1);
  });

  it('ends what a start function leaves open, and tells why', async () => {
    const starting = moduleOf(`(module ${hookImports}
      (func $begin (call $enter (i32.const 3)) unreachable) (start $begin))`);
    const { context, batches } = observe(starting);
    assert.throws(() => context.instantiateSync(), WebAssembly.RuntimeError);
    await assert.rejects(context.instantiate(), WebAssembly.RuntimeError);
    assert.deepEqual(batches.map(tree), Array(2).fill(['begin ! RuntimeError: unreachable']));
  });

  it('keeps the contexts of several modules apart', () => {
    const first = observe(module);
    const second = observe(module);
    const inner = instantiate(second.context);
    instantiate(first.context, () => inner.outer()).outer();
    assert.deepEqual(first.batches.map(tree), [['outer', '  inner']]);
    assert.deepEqual(second.batches.map(tree), [['outer', '  inner']]);
  });

  it('nests the calls of several instances of one context', () => {
    const { context, batches } = observe(module);
    const other = instantiate(context);
    instantiate(context, () => other.outer()).outer();
    assert.deepEqual(batches.map(tree), [['outer', '  inner', '  outer', '    inner']]);
  });

  it('reads texts in the memory of the instance that is called', () => {
    const texts = moduleOf(`(module
      (import "dylibso:observe/api" "span-enter" (func $enter (param i32 i32)))
      (import "dylibso:observe/api" "span-exit" (func $exit))
      (import "env" "host" (func $host))
      (memory (export "memory") 1)
      (func (export "run") (call $enter (i32.const 0) (i32.const 3))
        (call $host) (call $enter (i32.const 0) (i32.const 3)) (call $exit) (call $exit)))`);
    const { context, batches } = observe(texts);
    const make = (name: string, host: () => void): (() => void) => {
      const { memory, run } = context.instantiateSync({ env: { host } }).exports;
      new TextEncoder().encodeInto(name, new Uint8Array((memory as WebAssembly.Memory).buffer));
      return run as () => void;
    };
    const second = make('two', () => {});
    make('one', second)();
    assert.deepEqual(tree(batches[0]), ['one', '  two', '    two', '  one']);
  });

  it('works in a worker, under a span of the thread that began it', async () => {
    const source = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { start } = await import(workerData.trace);
      const exporter = { export: (spans) => parentPort.postMessage(spans) };
      const context = start(workerData.module, { exporters: [exporter], parent: workerData.traceparent });
      const { exports } = await context.instantiate({ env: { host() {} } });
      exports.outer();`;
    const workerData = { module, traceparent, trace: import.meta.resolve('./index.ts') };
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData });
    const spans = await new Promise<Span[]>((resolve, reject) => worker.on('message', resolve).on('error', reject));
    await worker.terminate();
    assert.equal(spans[0]?.name, 'outer');
    assert.equal(spans[0]?.parentSpanId, '00f067aa0ba902b7');
    assert.equal(typeof spans[0]?.startTimeUnixNano, 'bigint');
  });
});

describe('spanContext() and traceparent()', () => {
  it('tell of the call that is going on, which is emitted however short', () => {
    const seen: (string | undefined)[] = [];
    const { context, batches } = observe(module, { spanFilter: { minDurationMicroseconds: 1_000 } });
    const inner = () => {
      seen.push(context.traceparent());
    };
    const nested = instantiate(context, inner);
    instantiate(context, () => nested.outer()).outer();
    assert.deepEqual(tree(batches[0]), ['outer', '  outer']);
    const retained = batches[0]?.[1];
    assert.deepEqual(parseTraceParent(seen[0] ?? ''), {
      traceId: retained?.traceId,
      spanId: retained?.spanId,
      traceFlags: 1,
      traceState: undefined,
    });
  });

  it('tell the same each time', () => {
    const { context } = observe(module);
    instantiate(context, () => {
      assert.deepEqual(context.spanContext(), context.spanContext());
      assert.ok(context.traceparent());
    }).outer();
  });

  it('tell nothing where no call is open', () => {
    const { context } = observe(module);
    assert.equal(context.spanContext(), undefined);
    assert.equal(context.traceparent(), undefined);
  });

  it('carry the flags and the state of the host', () => {
    const { context } = observe(module, {
      parent: { traceparent: `${traceparent.slice(0, -2)}00`, tracestate: 'x=y' },
    });
    let seen: ReturnType<TraceContext['spanContext']>;
    instantiate(context, () => {
      seen = context.spanContext();
    }).outer();
    assert.deepEqual([seen?.traceFlags, seen?.traceState], [0, 'x=y']);
  });
});

describe('the option parent', () => {
  it('is ignored if it is not a header', () => {
    let parent: unknown;
    const { context, batches } = observe(module, { parent: () => parent as ParentSource });
    const { inner } = instantiate(context);
    for (parent of [null, undefined, '', 'a', ['a', 'b'], {}, { traceparent: 5 }, { traceparent: null }, 5]) inner();
    assert.equal(batches.length, 9);
    assert.ok(batches.every(([root]) => root?.parentSpanId === undefined));
  });

  it('is read for each root', () => {
    let parent: ParentSource = '00-11111111111111111111111111111111-2222222222222222-01';
    const { context, batches } = observe(module, { parent: () => parent });
    const { inner } = instantiate(context);
    inner();
    parent = undefined;
    inner();
    assert.deepEqual(
      batches.map(([root]) => root?.parentSpanId),
      ['2222222222222222', undefined],
    );
  });

  it('connects the call of another module that a call makes', () => {
    const other = observe(module, { parent: () => outside });
    const { inner } = instantiate(other.context);
    let outside: string | undefined;
    const { context, batches } = observe(module);
    instantiate(context, () => {
      outside = context.traceparent();
      inner();
    }).outer();
    assert.deepEqual([...other.batches, ...batches].map(tree), [['inner'], ['outer', '  inner']]);
    const [[nested], [outer]] = [other.batches[0] ?? [], batches[0] ?? []];
    assert.deepEqual([nested?.parentSpanId, nested?.traceId], [outer?.spanId, outer?.traceId]);
  });
});

describe('a call that waits for a promise', () => {
  it('ends as failed where it first waits, and disturbs neither itself nor other calls', async () => {
    const { Suspending, promising } = WebAssembly as unknown as {
      Suspending: new (imported: () => Promise<void>) => WebAssembly.ImportValue;
      promising: (exported: unknown) => () => Promise<void>;
    };
    const { context, batches } = observe(module);
    const host = new Suspending(() => Promise.resolve());
    const { exports } = new WebAssembly.Instance(module, { ...context.imports, env: { host } });
    await promising(exports.outer)();
    instantiate(context).inner();
    assert.deepEqual(batches.map(tree), [['outer ! the end of this call was not reported', '  inner'], ['inner']]);
  });
});

describe('exporters', () => {
  it('never disturb the module: what they throw is counted and reported', async () => {
    const errors: TraceError[] = [];
    const { context, batches } = observe(module, {
      exporters: [
        {
          export() {
            throw new Error('thrown');
          },
        },
        { export: () => Promise.reject('rejected') },
      ],
      onError(error) {
        errors.push(error);
        throw new Error('so does who listens');
      },
    });
    instantiate(context).inner();
    await context.flush();
    assert.equal(batches.length, 1);
    assert.deepEqual(
      errors.map(({ code, message }) => `${code} ${message}`),
      [
        'export_failed An exporter failed to take spans: thrown',
        'export_failed An exporter failed to take spans: rejected',
      ],
    );
    assert.equal(context.statistics().dropped.exports, 2);
  });

  it('are flushed after what they were given is through, and shut down once', async () => {
    const steps: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { context, batches } = observe(module, {
      exporters: [
        {
          export: () => promise.then(() => void steps.push('exported')),
          flush: async () => void steps.push('flushed'),
          shutdown: async () => void steps.push('shut down'),
        },
        { export() {}, flush: async () => void steps.push('flushed the other') },
      ],
    });
    const { inner } = instantiate(context);
    inner();
    const flushed = context.flush();
    resolve();
    await flushed;
    assert.deepEqual(
      steps.filter((step) => step !== 'flushed the other'),
      ['exported', 'flushed'],
    );
    assert.equal(steps.length, 3);
    await Promise.all([context.shutdown(), context.shutdown()]);
    inner();
    await context.flush();
    assert.deepEqual(steps.slice(3), ['shut down', 'flushed the other']);
    assert.equal(batches.length, 1);
  });

  it('get what a trap left open unseen before they are shut down', async () => {
    const { context, batches } = observe(module);
    const { fails } = new WebAssembly.Instance(module, { ...context.imports, env: { host() {} } }).exports;
    assert.throws(fails as () => void, WebAssembly.RuntimeError);
    const ended = context.shutdown();
    assert.deepEqual(batches.map(tree), [['fails ! the end of this call was not reported', '  inner']]);
    await ended;
    assert.equal(context.statistics().dropped.unmatched, 1);
  });

  it('are flushed and shut down though another one never answers', async () => {
    const steps: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const { context } = observe(module, {
      exporters: [
        { export: () => promise },
        { export() {}, flush: async () => void steps.push('flush'), shutdown: async () => void steps.push('shutdown') },
      ],
    });
    instantiate(context).inner();
    const flushed = context.flush();
    const ended = context.shutdown();
    await new Promise(setImmediate);
    assert.deepEqual(steps, ['flush', 'shutdown']);
    resolve();
    await Promise.all([flushed, ended]);
  });

  it('may fail to shut down', async () => {
    const codes: string[] = [];
    const { context } = observe(module, {
      exporters: [{ export() {}, shutdown: () => Promise.reject(new Error('gone')) }],
      onError: ({ code }) => codes.push(code),
    });
    await context.shutdown();
    assert.deepEqual(codes, ['export_failed']);
  });

  it('may call the module again', () => {
    let calls = 0;
    const { context, batches } = observe(module, {
      exporters: [
        {
          export() {
            if (calls++ === 0) exports.inner();
          },
        },
      ],
    });
    const exports = instantiate(context);
    exports.outer();
    assert.deepEqual(batches.map(tree), [['outer', '  inner'], ['inner']]);
  });
});

describe('TraceError', () => {
  it('is what start() throws', () => {
    assert.throws(
      () => start(module, { limits: { spans: 0 } }),
      (error) => error instanceof TraceError,
    );
  });
});
