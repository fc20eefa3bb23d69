// Traces a plugin's calls with OpenTelemetry's SDK, which prints spans and metrics here.
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, ConsoleSpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { parseConfiguration, parseTraceParent, type SpanContext, start } from '@tenon/trace';
import { type ExtismFunctions, extismFunctions } from '@tenon/trace/extism';
import { activeParent, observeStatistics, openTelemetryExporter } from '@tenon/trace/opentelemetry';

const metricsIntervalMs = 2000;

export interface PluginTracing {
  /** The imports of an instrumented plugin, for Extism. Other plugins don't call them. */
  readonly functions: ExtismFunctions;
  /** Makes a span of a call, below the request's `traceparent`; the plugin's own spans lie within it. */
  call<Result>(name: string, traceparent: string | undefined, action: () => Promise<Result>): Promise<Result>;
}

/** @param configuration the options of tracing as JSON, such as `{"span_filter": {"min_duration_microseconds": 20}}` */
export function tracePlugin(module: WebAssembly.Module, configuration: string): PluginTracing {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const spanProcessors = [new SimpleSpanProcessor(new ConsoleSpanExporter())];
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  const exporter = new ConsoleMetricExporter();
  const meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: metricsIntervalMs })],
  });

  const trace = start(module, {
    ...parseConfiguration(configuration),
    statistics: true,
    parent: () => activeParent(api),
    exporters: [openTelemetryExporter({ api })],
  });
  observeStatistics(meters.getMeter('plugins'), trace.statistics);

  const tracer = api.trace.getTracer('web-host');
  return {
    functions: extismFunctions(trace),
    call(name, traceparent, action) {
      const remote = traceparent === undefined ? undefined : parseTraceParent(traceparent);
      const outer = remote === undefined ? api.ROOT_CONTEXT : contextOf(remote);
      return tracer.startActiveSpan(name, {}, outer, async (span) => {
        try {
          return await action();
        } finally {
          span.end();
        }
      });
    },
  };
}

function contextOf({ traceId, spanId, traceFlags }: SpanContext): api.Context {
  return api.trace.setSpanContext(api.ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}
