import { buildSpans } from './build-spans.ts';
import { createAnchor, type TraceClock, toNano } from './clock.ts';
import type { Delivery } from './delivery.ts';
import { clearRecords, type Fiber, type RootTrace } from './fiber.ts';
import { detailsAt } from './frames.ts';
import type { IdSource } from './ids.ts';
import type { FunctionNames } from './names.ts';
import type { TraceLimits } from './options.ts';
import { rootTrace } from './root-trace.ts';
import type { Attributes, Span } from './span.ts';
import type { SpanContext } from './trace-parent.ts';

export interface RootParts {
  readonly clock: TraceClock;
  readonly limits: TraceLimits;
  readonly names: FunctionNames;
  readonly delivery: Delivery;
  readonly ids: IdSource;
  /** What every root gets. */
  readonly attributes: Attributes;
}

/** Makes spans of roots that have ended, and says which span a call that goes on will be. */
export interface Roots {
  readonly end: (fiber: Fiber) => void;
  /** Of the call at a place, which will be emitted; `undefined` for the place 0. */
  readonly contextOf: (fiber: Fiber, at: number) => SpanContext | undefined;
  /** Nanoseconds since 1970 when this was made. */
  readonly startTimeUnixNano: bigint;
}

export function createRoots({ clock, limits, names, delivery, ids, attributes }: RootParts): Roots {
  const anchor = createAnchor(clock);
  const traceOf = (fiber: Fiber): RootTrace => {
    fiber.trace ??= rootTrace(fiber.parent(), ids.traceId);
    return fiber.trace;
  };
  const build = (fiber: Fiber, trace: RootTrace): Span[] =>
    buildSpans(fiber, trace, {
      names,
      spanId: ids.spanId,
      originUnixNano: anchor.originUnixNano(),
      rootAttributes: attributes,
    });
  return {
    end(fiber) {
      const trace = delivery.isNeeded() ? traceOf(fiber) : undefined;
      // A host that samples has decided already: https://www.w3.org/TR/trace-context/#sampled-flag
      const spans = trace !== undefined && trace.traceFlags & 1 ? build(fiber, trace) : undefined;
      // Before exporters get the spans, since they may call the module.
      clearRecords(fiber, limits.traceTextLength);
      if (spans !== undefined) delivery.deliver(spans);
    },
    contextOf(fiber, at) {
      if (at === 0) return undefined;
      const details = detailsAt(fiber, at);
      details.spanId ??= ids.spanId();
      const { traceId, traceFlags, traceState } = traceOf(fiber);
      return { traceId, spanId: details.spanId, traceFlags, traceState };
    },
    startTimeUnixNano: anchor.originUnixNano() + toNano(clock.now()),
  };
}
