import type { Attributes, Span, SpanEvent } from '../span.ts';
import { spanAttributes } from '../span-attributes.ts';
import { firstStart, walkTrees } from '../span-tree.ts';
import { lanesOf } from './lanes.ts';

export interface ChromeTraceOptions {
  /** The name of the process. Default: `wasm`. */
  readonly processName?: string | undefined;
}

/** One process is enough; viewers want a number. */
const processId = 1;

/**
 * Writes spans as a trace of Chrome's kind, which Perfetto (https://ui.perfetto.dev), `chrome://tracing` and speedscope open:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 * Times are microseconds since the first span, to the nanosecond; when that was stands in `otherData.startTimeUnixNano`. Calls that
 * overlap lie in lanes of their own, as threads. The growth of memory is a counter.
 *
 * @returns JSON, one event a line
 */
export function chromeTrace(spans: readonly Span[], options: ChromeTraceOptions = {}): string {
  const start = firstStart(spans);
  const events = [
    metadata('process_name', 0, options.processName ?? 'wasm'),
    ...lanesOf(spans).flatMap((trees, lane) => {
      const lines = [metadata('thread_name', lane + 1, `calls ${lane + 1}`)];
      walkTrees(trees, { enter: ({ span }) => lines.push(...eventsOf(span, lane + 1, start)) });
      return lines;
    }),
    ...growthOf(spans, start),
  ];
  const otherData = JSON.stringify({ startTimeUnixNano: String(start) });
  return `{"displayTimeUnit":"ns","otherData":${otherData},"traceEvents":[\n${events.join(',\n')}\n]}\n`;
}

function eventsOf(span: Span, lane: number, start: bigint): string[] {
  const args: Record<string, unknown> = plainAttributes(spanAttributes(span));
  if (span.status.code === 'error') args.error = span.status.message;
  const call = event('X', span.name, lane, span.startTimeUnixNano - start, {
    cat: span.function === undefined ? 'manual' : 'wasm',
    dur: microseconds(span.endTimeUnixNano - span.startTimeUnixNano),
    args,
  });
  return [call, ...span.events.filter((each) => !isGrowth(each)).map((each) => instant(each, lane, start))];
}

function instant({ name, timeUnixNano, attributes }: SpanEvent, lane: number, start: bigint): string {
  return event('i', name, lane, timeUnixNano - start, { s: 't', args: plainAttributes(attributes) });
}

/** A counter that rises: viewers draw it over time. */
function growthOf(spans: readonly Span[], start: bigint): string[] {
  const growths = spans.flatMap(({ events }) => events.filter(isGrowth));
  growths.sort((one, other) => Number(one.timeUnixNano - other.timeUnixNano));
  let grown = 0;
  return growths.map(({ timeUnixNano, attributes }) => {
    grown += Number(attributes.get('pages'));
    return event('C', 'memory growth', 0, timeUnixNano - start, { args: { pages: grown } });
  });
}

function isGrowth({ name, attributes }: SpanEvent): boolean {
  return name === 'memory.grow' && Number.isFinite(Number(attributes.get('pages') ?? Number.NaN));
}

function metadata(name: string, lane: number, value: string): string {
  return JSON.stringify({ ph: 'M', name, pid: processId, tid: lane, args: { name: value } });
}

function event(phase: string, name: string, lane: number, sinceStartNano: bigint, rest: object): string {
  return JSON.stringify({ ph: phase, name, pid: processId, tid: lane, ts: microseconds(sinceStartNano), ...rest });
}

function microseconds(nano: bigint): number {
  return Number(nano) / 1000;
}

/** Without a prototype: a plugin's author may call an attribute `__proto__`. */
function plainAttributes(attributes: Attributes): Record<string, unknown> {
  const plain: Record<string, unknown> = Object.create(null);
  for (const [key, value] of attributes) {
    plain[key] =
      typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  return plain;
}
