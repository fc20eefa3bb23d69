export { systemClock, type TraceClock } from './clock.ts';
export { type OptionFault, TraceError, type TraceErrorCode } from './errors.ts';
export type { HeapCounts, HeapPath, HeapProfile, HeapTotals } from './heap/heap-profile.ts';
export type { RandomSource } from './ids.ts';
export type { ObserveImports } from './imports.ts';
export {
  defaultLimits,
  defaultMinDurationMicroseconds,
  type ParentSource,
  parseConfiguration,
  type TraceLimits,
  type TraceOptions,
  type TraceParent,
} from './options.ts';
export type {
  Attributes,
  AttributeValue,
  DropCounts,
  FoldedCalls,
  FunctionStatistics,
  Span,
  SpanEvent,
  SpanExporter,
  SpanStatus,
  TracedFunction,
  TraceStatistics,
} from './span.ts';
export { start, type TraceContext } from './start.ts';
export { parseTraceParent, type SpanContext } from './trace-parent.ts';
