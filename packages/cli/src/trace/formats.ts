import type { Ending } from '@tenon/run-kit';
import type { HeapProfile, Span, TraceStatistics } from '@tenon/trace';
import { flameGraphHtml } from '@tenon/trace/flame-graph';
import { chromeTrace, foldedStacks, speedscope } from '@tenon/trace/formats';
import { otlpJson } from '@tenon/trace/otlp';
import { memoryAsJson } from './memory-report.ts';
import type { RepeatSummary } from './summary.ts';

/** The values of `--format`, and the endings of their files next to the module. */
export const formats = {
  tree: '.trace.txt',
  json: '.trace.json',
  html: '.trace.html',
  chrome: '.chrome.json',
  speedscope: '.speedscope.json',
  folded: '.folded.txt',
  otlp: '.otlp.json',
} as const;

export type Format = keyof typeof formats;

/** A trace, and how it was made. */
export interface Trace {
  /** The module's name, and the export that was called. */
  readonly title: string;
  readonly spans: readonly Span[];
  readonly statistics: TraceStatistics;
  /** With `--memory`. */
  readonly heap: HeapProfile | undefined;
  readonly initialPages: number | undefined;
  readonly ending: Ending;
  readonly minDurationMicroseconds: number;
  /** Nanoseconds of the last run within traced calls. */
  readonly timeNano: number;
  readonly summary: RepeatSummary | undefined;
}

/** Formats a trace for other programs. */
export function formatTrace(format: Exclude<Format, 'tree' | 'json'>, trace: Trace): string {
  const { spans, title, initialPages } = trace;
  switch (format) {
    case 'html':
      return flameGraphHtml(spans, { title, initialPages });
    case 'chrome':
      return chromeTrace(spans, { processName: title });
    case 'speedscope':
      return speedscope(spans, { name: title });
    case 'folded':
      return foldedStacks(spans);
    case 'otlp':
      return otlpJson(spans, { 'service.name': title });
  }
}

/** A trace for `--json`. Durations are numbers of nanoseconds; points in time, which are too large for numbers of JSON, are strings. */
export function traceAsJson(trace: Trace): unknown {
  const { title, spans, statistics, heap, ending, initialPages, minDurationMicroseconds, timeNano, summary } = trace;
  return {
    title,
    ending,
    timeNano,
    minDurationMicroseconds,
    initialPages: initialPages ?? null,
    spans: spans.map(spanAsJson),
    functions: statistics.functions.map((entry) => ({
      ...entry.function,
      calls: entry.calls,
      untimedCalls: entry.untimedCalls,
      failures: entry.failures,
      totalTimeNano: Number(entry.totalTimeNano),
      selfTimeNano: Number(entry.selfTimeNano),
      maxTimeNano: Number(entry.maxTimeNano),
      grownPages: entry.grownPages,
    })),
    dropped: statistics.dropped,
    memory: heap === undefined ? null : memoryAsJson(heap),
    repeat: summary ?? null,
  };
}

function spanAsJson(span: Span): unknown {
  const { folded, startTimeUnixNano, endTimeUnixNano, selfTimeNano, attributes, events, function: traced } = span;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? null,
    name: span.name,
    function: traced ?? null,
    startTimeUnixNano: String(startTimeUnixNano),
    durationNano: Number(endTimeUnixNano - startTimeUnixNano),
    selfTimeNano: Number(selfTimeNano),
    folded: { calls: folded.calls, timeNano: Number(folded.timeNano) },
    grownPages: span.grownPages,
    failure: span.status.code === 'error' ? span.status.message : null,
    attributes: attributesAsJson(attributes),
    events: events.map((event) => ({
      name: event.name,
      timeUnixNano: String(event.timeUnixNano),
      attributes: attributesAsJson(event.attributes),
    })),
    dropped: span.dropped,
  };
}

function attributesAsJson(attributes: Span['attributes']): [string, unknown][] {
  return [...attributes].map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]);
}
