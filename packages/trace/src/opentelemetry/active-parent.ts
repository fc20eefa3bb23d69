import type { TraceParent } from '../options.ts';
import { formatTraceParent } from '../trace-parent.ts';
import type { BridgeApi } from './api.ts';

/**
 * The host's active span, for the option `parent` of `start()`: the parent of a module's spans is then the current request.
 *
 * ```js
 * start(module, { parent: () => activeParent(api), exporters: [openTelemetryExporter({ api })] });
 * ```
 */
export function activeParent(api: BridgeApi): TraceParent | undefined {
  const active = api.trace.getSpanContext(api.context.active() as never);
  if (active === undefined) return undefined;
  const { traceId, spanId, traceFlags, traceState } = active;
  const tracestate = traceState?.serialize();
  return {
    traceparent: formatTraceParent({ traceId, spanId, traceFlags, traceState: undefined }),
    ...(tracestate && { tracestate }),
  };
}
