import type { Span, TraceStatistics } from '@tenon/trace';
import { flameGraphHtml } from '@tenon/trace/flame-graph';
import { chromeTrace, foldedStacks, speedscope } from '@tenon/trace/formats';
import { otlpJson } from '@tenon/trace/otlp';
import type { Ending } from './messages.ts';
import type { RepeatSummary } from './summary.ts';

/** What `--format` takes, and how a file of it is called beside the module. */
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

/** Everything that there is to tell of a trace. */
export interface Trace {
  /** What was traced: the module's name, and what was called. */
  readonly title: string;
  readonly spans: readonly Span[];
  readonly statistics: TraceStatistics | undefined;
  readonly initialPages: number | undefined;
  readonly ending: Ending;
  readonly minDurationMicroseconds: number;
  /** Nanoseconds that the last run took within traced calls. */
  readonly timeNano: number;
  readonly summary: RepeatSummary | undefined;
}

/** A trace in one of the formats that other programs read. */
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

/** A trace as `--json` has it. Durations are numbers of nanoseconds; moments, which JSON's numbers can't hold, are texts of digits. */
export function traceAsJson(trace: Trace): unknown {
  const { title, spans, statistics, ending, initialPages, minDurationMicroseconds, timeNano, summary } = trace;
  return {
    title,
    ending,
    timeNano,
    minDurationMicroseconds,
    initialPages: initialPages ?? null,
    spans: spans.map(spanAsJson),
    functions: (statistics?.functions ?? []).map((entry) => ({
      ...entry.function,
      calls: entry.calls,
      failures: entry.failures,
      totalTimeNano: Number(entry.totalTimeNano),
      selfTimeNano: Number(entry.selfTimeNano),
      maxTimeNano: Number(entry.maxTimeNano),
      grownPages: entry.grownPages,
    })),
    dropped: statistics?.dropped ?? null,
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
