export type {
  Attributes,
  AttributeValue,
  DropCounts,
  FunctionStatistics,
  LeftOut,
  Span,
  SpanEvent,
  SpanExporter,
  SpanStatus,
  TracedFunction,
  TraceStatistics,
} from './span.ts';
