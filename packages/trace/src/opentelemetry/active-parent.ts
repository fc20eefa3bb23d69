import type { TraceParent } from '../options.ts';
import { formatTraceParent } from '../trace-parent.ts';
import type { BridgeApi } from './api.ts';

/**
 * The host's span that is active, for the option `parent` of `start()`: a module's spans then hang under the request that calls it.
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
