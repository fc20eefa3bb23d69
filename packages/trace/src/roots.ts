import { buildSpans } from './build-spans.ts';
import { type CallStack, clearRecords, type RootTrace } from './call-stack.ts';
import type { Anchor } from './clock.ts';
import type { Delivery } from './delivery.ts';
import { detailsAt } from './frames.ts';
import type { IdSource } from './ids.ts';
import type { FunctionNames } from './names.ts';
import type { TraceLimits } from './options.ts';
import { rootTrace } from './root-trace.ts';
import type { Attributes, Span } from './span.ts';
import type { SpanContext } from './trace-parent.ts';

export interface RootParts {
  readonly anchor: Anchor;
  readonly limits: TraceLimits;
  readonly names: FunctionNames;
  readonly delivery: Delivery;
  readonly ids: IdSource;
  /** The host's span that the next root lies in. */
  readonly parent: () => SpanContext | undefined;
  /** Attributes of every root. */
  readonly attributes: Attributes;
}

/** Makes spans of ended roots, and assigns ids to open calls. */
export interface Roots {
  readonly end: (stack: CallStack) => void;
  /** The context of the call at a row, which becomes a span; `undefined` for row 0. */
  readonly contextOf: (stack: CallStack, at: number) => SpanContext | undefined;
}

export function createRoots({ anchor, limits, names, delivery, ids, parent, attributes }: RootParts): Roots {
  const traceOf = (stack: CallStack): RootTrace => {
    stack.trace ??= rootTrace(parent(), ids.traceId);
    return stack.trace;
  };
  const build = (stack: CallStack, trace: RootTrace): Span[] =>
    buildSpans(stack, trace, {
      names,
      spanId: ids.spanId,
      originUnixNano: anchor.originUnixNano(),
      rootAttributes: attributes,
    });
  return {
    end(stack) {
      const trace = delivery.isNeeded() ? traceOf(stack) : undefined;
      // The host has made the sampling decision: https://www.w3.org/TR/trace-context/#sampled-flag
      const spans = trace !== undefined && trace.traceFlags & 1 ? build(stack, trace) : undefined;
      // Exporters may call the module.
      clearRecords(stack, limits.traceTextLength);
      if (spans !== undefined) delivery.deliver(spans);
    },
    contextOf(stack, at) {
      if (at === 0) return undefined;
      const details = detailsAt(stack, at);
      details.spanId ??= ids.spanId();
      const { traceId, traceFlags, traceState } = traceOf(stack);
      return { traceId, spanId: details.spanId, traceFlags, traceState };
    },
  };
}
