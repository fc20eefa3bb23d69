export { activeParent } from './opentelemetry/active-parent.ts';
export type { BridgeApi, BridgeMeter, BridgeSpan, BridgeTracer } from './opentelemetry/api.ts';
export { observeStatistics } from './opentelemetry/observe-statistics.ts';
export { type BridgeOptions, openTelemetryExporter } from './opentelemetry/span-exporter.ts';
