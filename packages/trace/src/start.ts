import { createAdaptive } from './adaptive.ts';
import { createBinding } from './bind.ts';
import { createAnchor, systemClock } from './clock.ts';
import { createDelivery } from './delivery.ts';
import type { TraceError } from './errors.ts';
import type { RecordingContext } from './frames.ts';
import { createFunctionCounters } from './function-counters.ts';
import type { HeapProfile } from './heap/heap-profile.ts';
import { createHeapRecorder } from './heap/heap-recorder.ts';
import { createIdSource } from './ids.ts';
import { createImports, type ObserveImports } from './imports.ts';
import { createInstantiation } from './instantiation.ts';
import { createLiveMemories, importedMemory, memoryOf } from './memory.ts';
import { nameSectionOf } from './name-section.ts';
import { createFunctionNames } from './names.ts';
import { resolveOptions, type TraceOptions } from './options.ts';
import { createRecorder } from './recorder.ts';
import { askForParent } from './root-trace.ts';
import { createRoots } from './roots.ts';
import type { Attributes, TraceStatistics } from './span.ts';
import { formatTraceParent, type SpanContext } from './trace-parent.ts';

/** The tracing of one instrumented module, which its instances may share. */
export interface TraceContext {
  /** The imports to which an instance reports; {@link instantiate} adds them. Each instance needs those of a new reading. */
  readonly imports: ObserveImports;
  /**
   * Instantiates the module with these imports and those of tracing, and binds the instance.
   */
  readonly instantiate: (imports?: WebAssembly.Imports) => Promise<WebAssembly.Instance>;
  /** The same synchronously. Browsers reject it for large modules on the main thread. */
  readonly instantiateSync: (imports?: WebAssembly.Imports) => WebAssembly.Instance;
  /** An instance of the module whose exports mark where calls from the host begin and end, and why they failed. */
  readonly bind: (instance: WebAssembly.Instance) => WebAssembly.Instance;
  /** Calls `action`, which may call functions of the module that aren't bound, such as those in its tables. */
  readonly run: <Result>(action: () => Result) => Result;
  /** The current call, as the parent of the host's own spans. It becomes a span, however short it is. */
  readonly spanContext: () => SpanContext | undefined;
  /** The same as a `traceparent` header. */
  readonly traceparent: () => string | undefined;
  /** The counts since the start; functions only with the option `statistics`. */
  readonly statistics: () => TraceStatistics;
  /** The allocations since the start; `undefined` if no allocator reported a call. */
  readonly heapProfile: () => HeapProfile | undefined;
  /** Makes exporters send their spans. Never rejects: `onError` receives failures. */
  readonly flush: () => Promise<void>;
  /** Ends unclosed calls, flushes, and stops exporting. Can be called again. */
  readonly shutdown: () => Promise<void>;
}

/**
 * Starts tracing an instrumented module, which is compiled or bytes.
 * Throws a {@link TraceError} with code `invalid_option` or `invalid_module`.
 */
export function start(module: WebAssembly.Module | BufferSource, options: TraceOptions = {}): TraceContext {
  const { minDurationMicroseconds, limits } = resolveOptions(options);
  const clock = options.clock ?? systemClock();
  const names = createFunctionNames(nameSectionOf(module), options);
  const report = reporter(options.onError);
  const delivery = createDelivery(options.exporters ?? [], report);
  const anchor = createAnchor(clock);
  const roots = createRoots({
    anchor,
    limits,
    names,
    delivery,
    ids: createIdSource(options.random),
    parent: () => askForParent(options.parent, report),
    attributes: attributesOf(options.attributes),
  });
  // Without exporters, no span is needed.
  const minDurationMs = options.exporters?.length ? thresholdMs(minDurationMicroseconds) : Number.POSITIVE_INFINITY;
  const adaptive =
    options.adaptive !== false && minDurationMs >= minAdaptiveMs ? createAdaptive(minDurationMs) : undefined;
  const context: RecordingContext = {
    limits,
    minDurationMs,
    adaptive,
    dropped: { spans: 0, depth: 0, events: 0, attributes: 0, unmatched: 0 },
    counters: options.statistics ? createFunctionCounters(limits.functions) : undefined,
    endRoot: roots.end,
  };
  const recorder = createRecorder(clock.now, context);
  const binding = createBinding(recorder, { failureReason: options.failureReason, adaptive });
  const spanContext = () => roots.contextOf(recorder.stack, recorder.retain());
  let memory: WebAssembly.Memory | undefined;
  const memories = createLiveMemories();
  const shared = createImports(recorder, { memory: () => memory, limits, report });
  const heap = createHeapRecorder({ now: clock.now, limits, stack: recorder.stack, watch: recorder.watch });
  const imports = (): ObserveImports => ({ ...shared, 'tenon:instrument': heap.imports() });
  const bind = (instance: WebAssembly.Instance) => {
    memory = memoryOf(instance) ?? memory;
    memories.add(Object.values(instance.exports));
    return binding.bind(instance);
  };
  const instantiation = createInstantiation(module, {
    recorder,
    binding,
    imports,
    onImports(compiled, own) {
      const imported = importedMemory(compiled, own);
      memory = imported ?? memory;
      memories.add([imported]);
    },
  });
  return {
    get imports() {
      return imports();
    },
    instantiate: async (own) => bind(await instantiation.instantiate(own)),
    instantiateSync: (own) => bind(instantiation.instantiateSync(own)),
    bind,
    run: binding.run,
    spanContext,
    traceparent() {
      const context = spanContext();
      return context && formatTraceParent(context);
    },
    statistics: () => ({
      functions: context.counters?.snapshot(names, adaptive?.untimedCalls) ?? [],
      dropped: {
        ...context.dropped,
        functions: context.counters?.uncounted() ?? 0,
        exports: delivery.failedExports(),
      },
      livePages: memories.pages(),
    }),
    heapProfile: () => heap.profile(names, anchor.originUnixNano()),
    flush: delivery.flush,
    shutdown() {
      recorder.closeUnclosedCalls();
      return delivery.shutdown();
    },
  };
}

/** Adaptive tracing finds shorter calls less precisely, because its clock has microseconds. */
const minAdaptiveMs = 0.005;

/**
 * The shortest duration of a span. Durations are differences of doubles, which lose less than half a nanosecond. No clock has
 * that resolution.
 */
function thresholdMs(minDurationMicroseconds: number): number {
  return minDurationMicroseconds === 0 ? Number.NEGATIVE_INFINITY : (minDurationMicroseconds * 1e3 - 0.5) / 1e6;
}

function reporter(onError: TraceOptions['onError']): (error: TraceError) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      // There is no other listener for an error of the listener.
    }
  };
}

function attributesOf(given: TraceOptions['attributes']): Attributes {
  if (given === undefined) return new Map();
  return new Map(given instanceof Map ? given : Object.entries(given));
}
