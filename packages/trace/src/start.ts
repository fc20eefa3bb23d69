import { type Binding, createBinding, type ExportedFunction } from './bind.ts';
import { buildSpans } from './build-spans.ts';
import { createAnchor, systemClock, toNano } from './clock.ts';
import { type Collector, createCollector } from './collector.ts';
import { createDelivery, messageOf } from './delivery.ts';
import { TraceError } from './errors.ts';
import { clearRecords, type Fiber, type RootTrace } from './fiber.ts';
import { type Collecting, extraAt } from './frames.ts';
import { createFunctionCounters } from './function-counters.ts';
import { createIdSource } from './ids.ts';
import { createImports, type ObserveImports, observeModules } from './imports.ts';
import { importedMemory, memoryOf } from './memory.ts';
import { nameSectionOf } from './name-section.ts';
import { createFunctionNames } from './names.ts';
import { type ParentSource, resolveOptions, type TraceOptions } from './options.ts';
import type { Attributes, TraceStatistics } from './span.ts';
import { createSuspension, type Promising } from './suspend.ts';
import { formatTraceParent, parseTraceParent, type SpanContext } from './trace-parent.ts';

/** What a host adds around one instrumented module. Several of its instances may share it. */
export interface TraceContext {
  /** What the module reports to; add it to its own imports. {@link instantiate} does that. */
  readonly imports: ObserveImports;
  /**
   * Instantiates the module with these imports and those of tracing, and binds the instance.
   * Throws a {@link TraceError} with code `foreign_suspending`; else what the engine throws.
   */
  readonly instantiate: (imports?: WebAssembly.Imports) => Promise<WebAssembly.Instance>;
  /** The same at once, where the host lets a module of its size be instantiated so: not on the main thread of a browser. */
  readonly instantiateSync: (imports?: WebAssembly.Imports) => WebAssembly.Instance;
  /** An instance of the module whose exports tell where calls from the host begin and end, and why they failed. */
  readonly bind: (instance: WebAssembly.Instance) => WebAssembly.Instance;
  /** The engine's own function behind one that a bound instance exports: for tables, which take no other. */
  readonly unwrap: (exported: ExportedFunction) => ExportedFunction;
  /** As `WebAssembly.promising`, of a function that a bound instance exports. Throws `no_promise_integration` or `not_an_export`. */
  readonly promising: Promising;
  /** As `new WebAssembly.Suspending`, of a function to import. Throws `no_promise_integration`. */
  readonly suspending: (imported: (...args: never[]) => unknown) => object;
  /** Calls `action`, which calls into the module by ways that aren't bound, such as its tables. */
  readonly run: <Result>(action: () => Result) => Result;
  /**
   * As {@link run}, and calls that begin within lie in this span of the host: those that end within, and promising ones. They
   * make traces of their own even where the module itself is calling the host. `undefined`: they begin a trace.
   */
  readonly withParent: <Result>(parent: ParentSource, action: () => Result) => Result;
  /** The call that is going on, for the host to hang its own spans under: it will be emitted however short. */
  readonly spanContext: () => SpanContext | undefined;
  /** The same as a `traceparent` header. */
  readonly traceparent: () => string | undefined;
  /** What was counted since the start; functions only with the option `statistics`. */
  readonly statistics: () => TraceStatistics;
  /** Has exporters send on what they hold. Never rejects: what goes wrong is told to `onError`. */
  readonly flush: () => Promise<void>;
  /** Ends what a trap left open unseen, flushes, and exports nothing more. Can be called again. */
  readonly shutdown: () => Promise<void>;
}

/**
 * Begins tracing an instrumented module, given compiled or as bytes.
 * Throws a {@link TraceError} with code `invalid_option` or `invalid_module`.
 */
export function start(module: WebAssembly.Module | BufferSource, options: TraceOptions = {}): TraceContext {
  const { minDurationMicroseconds, limits } = resolveOptions(options);
  const clock = options.clock ?? systemClock();
  const anchor = createAnchor(clock);
  const ids = createIdSource(options.random);
  const names = createFunctionNames(nameSectionOf(module), options.demangle);
  const report = reporter(options.onError);
  const delivery = createDelivery(options.exporters ?? [], report);
  const rootAttributes = attributesOf(options.attributes);
  const startTimeUnixNano = anchor.originUnixNano() + toNano(clock.now());
  const dropped = { spans: 0, depth: 0, events: 0, attributes: 0, unmatched: 0 };

  const traceOf = (fiber: Fiber): RootTrace => {
    fiber.trace ??= rootTrace(fiber.parent(), ids.traceId);
    return fiber.trace;
  };
  const collecting: Collecting = {
    limits,
    // Without exporters, nobody would get the spans.
    minDurationMs: options.exporters?.length ? thresholdMs(minDurationMicroseconds) : Number.POSITIVE_INFINITY,
    dropped,
    counters: options.statistics ? createFunctionCounters() : undefined,
    endRoot(fiber) {
      if (delivery.isNeeded()) {
        const trace = traceOf(fiber);
        const building = { names, spanId: ids.spanId, originUnixNano: anchor.originUnixNano(), rootAttributes };
        // A host that samples has decided already: https://www.w3.org/TR/trace-context/#sampled-flag
        const spans = trace.traceFlags & 1 ? buildSpans(fiber, trace, building) : [];
        clearRecords(fiber, limits.traceTextLength);
        if (spans.length > 0) delivery.deliver(spans);
      } else clearRecords(fiber, limits.traceTextLength);
    },
  };
  const collector = createCollector(clock.now, collecting, () => askForParent(options.parent, report));
  const binding = createBinding(collector, options.failureReason);
  const spanContext = (): SpanContext | undefined => {
    const at = collector.pin();
    if (at === 0) return undefined;
    const fiber = collector.current();
    const extra = extraAt(fiber, at);
    extra.spanId ??= ids.spanId();
    const { traceId, traceFlags, traceState } = traceOf(fiber);
    return { traceId, spanId: extra.spanId, traceFlags, traceState };
  };
  const suspension = createSuspension(collector, binding, () => spanContext() ?? collector.current().parent());
  let memory: WebAssembly.Memory | undefined;
  const imports = createImports(collector, { memory: () => memory, limits, report });
  const bind = (instance: WebAssembly.Instance) => {
    memory = memoryOf(instance) ?? memory;
    return binding.bind(instance);
  };
  let compiled = module instanceof WebAssembly.Module ? module : undefined;
  const merge = (found: WebAssembly.Module, own: WebAssembly.Imports = {}): WebAssembly.Imports => {
    refuseForeign(own, suspension.isForeign);
    memory = importedMemory(found, own) ?? memory;
    return { ...own, ...Object.fromEntries(observeModules.map((name) => [name, { ...own[name], ...imports[name] }])) };
  };
  return {
    imports,
    async instantiate(own) {
      compiled ??= await WebAssembly.compile(module as BufferSource);
      return bind(await instantiateWithin(compiled, merge(compiled, own), collector, binding));
    },
    instantiateSync(own) {
      const found = compiled ?? new WebAssembly.Module(module as BufferSource);
      compiled = found;
      const merged = merge(found, own);
      return bind(binding.run(() => new WebAssembly.Instance(found, merged)));
    },
    bind,
    unwrap: binding.unwrap,
    promising: suspension.promising,
    suspending: suspension.suspending,
    run: binding.run,
    withParent(parent, action) {
      const fiber = collector.newFiber(resolveParent(parent));
      const previous = collector.switchTo(fiber);
      try {
        return binding.run(action);
      } finally {
        collector.switchTo(previous);
      }
    },
    spanContext,
    traceparent() {
      const context = spanContext();
      return context && formatTraceParent(context);
    },
    statistics: () => ({
      functions: collecting.counters?.snapshot(names) ?? [],
      dropped: { ...dropped, exports: delivery.failedExports() },
      startTimeUnixNano,
    }),
    flush: delivery.flush,
    shutdown() {
      collector.endLeftovers();
      return delivery.shutdown();
    },
  };
}

/** A module's start function runs as it is instantiated, and may leave calls open by a trap. */
async function instantiateWithin(
  module: WebAssembly.Module,
  imports: WebAssembly.Imports,
  collector: Collector,
  { endingOf }: Binding,
): Promise<WebAssembly.Instance> {
  const release = collector.holdLeftovers();
  try {
    return await WebAssembly.instantiate(module, imports);
  } catch (thrown) {
    const fiber = collector.current();
    if (fiber.scopes === 0) collector.finish(fiber, endingOf(thrown));
    throw thrown;
  } finally {
    release();
  }
}

function refuseForeign(imports: WebAssembly.Imports, isForeign: (value: unknown) => boolean): void {
  for (const [module, fields] of Object.entries(imports)) {
    for (const [field, value] of Object.entries(fields)) {
      if (!isForeign(value)) continue;
      const detail = `Cannot trace calls that wait in the import ${module}.${field}: make it with suspending() of the trace context`;
      throw new TraceError('foreign_suspending', detail);
    }
  }
}

/**
 * The shortest duration that gives a span. Durations are differences of doubles: one that is the minimum but for what such a
 * difference loses is not shorter. Half a nanosecond is more than that, and less than any clock tells.
 */
function thresholdMs(minDurationMicroseconds: number): number {
  return minDurationMicroseconds === 0 ? Number.NEGATIVE_INFINITY : (minDurationMicroseconds * 1e3 - 0.5) / 1e6;
}

function reporter(onError: TraceOptions['onError']): (error: TraceError) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      // Who listens for errors has one: there is nobody left to tell.
    }
  };
}

function attributesOf(given: TraceOptions['attributes']): Attributes {
  if (given === undefined) return new Map();
  return new Map(given instanceof Map ? given : Object.entries(given));
}

function rootTrace(parent: SpanContext | undefined, newTraceId: () => string): RootTrace {
  if (parent === undefined) {
    return { traceId: newTraceId(), parentSpanId: undefined, traceFlags: 1, traceState: undefined };
  }
  const { traceId, spanId, traceFlags, traceState } = parent;
  return { traceId, parentSpanId: spanId, traceFlags, traceState };
}

/** The span that a host names as the parent; `undefined` for one that names none, or not rightly. */
function resolveParent(given: ParentSource): SpanContext | undefined {
  if (given === undefined) return undefined;
  return typeof given === 'string' ? parseTraceParent(given) : parseTraceParent(given.traceparent, given.tracestate);
}

function askForParent(source: TraceOptions['parent'], report: (error: TraceError) => void): SpanContext | undefined {
  try {
    return resolveParent(typeof source === 'function' ? source() : source);
  } catch (cause) {
    report(new TraceError('invalid_option', `The option parent failed: ${messageOf(cause)}`, { cause }));
    return undefined;
  }
}
