export type { OtlpHeaders, OtlpOptions, OtlpRetry } from './otlp/options.ts';
export type { ResourceAttributes } from './otlp/resource.ts';
export {
  type OtlpExporter,
  type OtlpExporterOptions,
  type OtlpSpanCounts,
  otlpExporter,
} from './otlp/span-exporter.ts';
export { type HostSpan, otlpJson } from './otlp/trace-request.ts';
