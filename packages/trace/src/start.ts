import { createBinding } from './bind.ts';
import { systemClock } from './clock.ts';
import { createDelivery } from './delivery.ts';
import type { TraceError } from './errors.ts';
import type { RecordingContext } from './frames.ts';
import { createFunctionCounters } from './function-counters.ts';
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

/** What a host adds around one instrumented module. Several of its instances may share it. */
export interface TraceContext {
  /** What the module reports to; add it to its own imports. {@link instantiate} does that. */
  readonly imports: ObserveImports;
  /**
   * Instantiates the module with these imports and those of tracing, and binds the instance.
   */
  readonly instantiate: (imports?: WebAssembly.Imports) => Promise<WebAssembly.Instance>;
  /** The same at once, where the host lets a module of its size be instantiated so: not on the main thread of a browser. */
  readonly instantiateSync: (imports?: WebAssembly.Imports) => WebAssembly.Instance;
  /** An instance of the module whose exports tell where calls from the host begin and end, and why they failed. */
  readonly bind: (instance: WebAssembly.Instance) => WebAssembly.Instance;
  /** Calls `action`, which may call functions of the module that aren't bound, such as those in its tables. */
  readonly run: <Result>(action: () => Result) => Result;
  /** The current call, as the parent of the host's own spans. It becomes a span, however short it is. */
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
  const names = createFunctionNames(nameSectionOf(module), options.demangle);
  const report = reporter(options.onError);
  const delivery = createDelivery(options.exporters ?? [], report);
  const roots = createRoots({
    clock,
    limits,
    names,
    delivery,
    ids: createIdSource(options.random),
    parent: () => askForParent(options.parent, report),
    attributes: attributesOf(options.attributes),
  });
  const context: RecordingContext = {
    limits,
    // Without exporters, nobody would get the spans.
    minDurationMs: options.exporters?.length ? thresholdMs(minDurationMicroseconds) : Number.POSITIVE_INFINITY,
    dropped: { spans: 0, depth: 0, events: 0, attributes: 0, unmatched: 0 },
    counters: options.statistics ? createFunctionCounters(limits.functions) : undefined,
    endRoot: roots.end,
  };
  const recorder = createRecorder(clock.now, context);
  const binding = createBinding(recorder, options.failureReason);
  const spanContext = () => roots.contextOf(recorder.stack, recorder.retain());
  let memory: WebAssembly.Memory | undefined;
  const memories = createLiveMemories();
  const imports = createImports(recorder, { memory: () => memory, limits, report });
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
    imports,
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
      functions: context.counters?.snapshot(names) ?? [],
      dropped: {
        ...context.dropped,
        functions: context.counters?.uncounted() ?? 0,
        exports: delivery.failedExports(),
      },
      livePages: memories.pages(),
    }),
    flush: delivery.flush,
    shutdown() {
      recorder.closeUnclosedCalls();
      return delivery.shutdown();
    },
  };
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
