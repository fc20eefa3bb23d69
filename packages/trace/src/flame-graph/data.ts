import type { AttributeValue, Span } from '../span.ts';
import { firstStart, orderSpans } from '../span-tree.ts';

/**
 * The data of a flame graph, as columns of plain JSON, because a page contains it and a trace may have 100,000 spans. Parents
 * come before children; `parent`, `name` and the pairs refer to other entries by position.
 */
export interface FlameGraphData {
  readonly format: 1;
  readonly title: string;
  /** Milliseconds since 1970-01-01 UTC at which the first span begins. */
  readonly startTimeMs: number;
  /** Each name once, demangled. */
  readonly names: readonly string[];
  /** The name in the module for each of these, or `null` if it is the same. */
  readonly rawNames: readonly (string | null)[];
  /** The source file and line of the function of each of these, or `null` if unknown. */
  readonly sources: readonly (string | null)[];
  /** The name of each span. */
  readonly name: readonly number[];
  /** The parent of each span; -1 without one. */
  readonly parent: readonly number[];
  /** Nanoseconds since the first span began. */
  readonly start: readonly number[];
  /** Nanoseconds. */
  readonly duration: readonly number[];
  /** Nanoseconds without child spans. */
  readonly self: readonly number[];
  /** Pages of 64 KiB of memory growth, without child spans. */
  readonly pages: readonly number[];
  /** Folded calls: span, number, nanoseconds. */
  readonly folded: readonly (readonly [span: number, calls: number, timeNano: number])[];
  /** Failed spans, with the reason. */
  readonly failures: readonly (readonly [span: number, message: string])[];
  /** Attributes of single spans. */
  readonly attributes: readonly (readonly [span: number, entries: readonly (readonly [string, string])[]])[];
  /** Memory growth in time order: nanoseconds since the first span began, and pages. */
  readonly growth: readonly (readonly [timeNano: number, pages: number])[];
  /** Pages at the start, or `null` if unknown. */
  readonly initialPages: number | null;
}

/** Options of a flame graph. */
export interface FlameGraphOptions {
  /** Default: the name of the first root. */
  readonly title?: string | undefined;
  /** Initial pages of 64 KiB. Without it the track shows only growth. */
  readonly initialPages?: number | undefined;
}

/** Names are untrusted: a name may be a megabyte long. */
const maxTextLength = 2_000;

/** The flame graph of finished spans of one or more traces, in any order. */
export function flameGraphData(spans: readonly Span[], options: FlameGraphOptions = {}): FlameGraphData {
  const { spans: ordered, parents } = orderSpans(spans);
  const first = firstStart(ordered);
  const names = numberNames(ordered);
  const folded = ordered.flatMap((span, at): [number, number, number][] =>
    span.folded.calls === 0 ? [] : [[at, span.folded.calls, Number(span.folded.timeNano)]],
  );
  const failures = ordered.flatMap((span, at): [number, string][] =>
    span.status.code === 'error' ? [[at, shortened(span.status.message)]] : [],
  );
  return {
    format: 1,
    title: shortened(options.title ?? ordered[0]?.name ?? 'Trace'),
    startTimeMs: Number(first / 1_000_000n),
    names: names.texts,
    rawNames: names.raw,
    sources: names.sources,
    name: names.ofSpan,
    parent: parents,
    start: ordered.map((span) => Number(span.startTimeUnixNano - first)),
    duration: ordered.map((span) => Number(span.endTimeUnixNano - span.startTimeUnixNano)),
    self: ordered.map((span) => Number(span.selfTimeNano)),
    pages: ordered.map((span) => span.grownPages),
    folded,
    failures,
    attributes: ordered.flatMap((span, at) => attributesOf(span, at)),
    growth: ordered.flatMap((span) => growthOf(span, first)).sort(([a], [b]) => a - b),
    initialPages: options.initialPages ?? null,
  };
}

function numberNames(spans: readonly Span[]) {
  const texts: string[] = [];
  const raw: (string | null)[] = [];
  const sources: (string | null)[] = [];
  const numbers = new Map<string, number>();
  const ofSpan = spans.map(({ name, function: traced }) => {
    const rawName = traced === undefined || traced.rawName === name ? null : traced.rawName;
    const { file, line } = traced ?? {};
    const source = file === undefined ? null : line === undefined ? file : `${file}:${line}`;
    const key = JSON.stringify([name, rawName, source]);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = texts.push(shortened(name)) - 1;
    raw.push(rawName === null ? null : shortened(rawName));
    sources.push(source === null ? null : shortened(source));
    numbers.set(key, number);
    return number;
  });
  return { texts, raw, sources, ofSpan };
}

function attributesOf(span: Span, at: number): [number, [string, string][]][] {
  const entries = [...span.attributes].map(([key, value]): [string, string] => [shortened(key), textOf(value)]);
  return entries.length === 0 ? [] : [[at, entries]];
}

function textOf(value: AttributeValue): string {
  return shortened(typeof value === 'object' ? value.map(String).join(', ') : String(value));
}

/** When memory grew in a span. Growth without an event, which was dropped, counts at the span's end. */
function growthOf(span: Span, first: bigint): [number, number][] {
  const moments = span.events.flatMap(({ name, timeUnixNano, attributes }): [number, number][] => {
    const pages = Number(attributes.get('pages') ?? 0);
    return name === 'memory.grow' && pages > 0 ? [[Number(timeUnixNano - first), pages]] : [];
  });
  const reported = moments.reduce((sum, [, pages]) => sum + pages, 0);
  const rest = span.grownPages - reported;
  return rest > 0 ? [...moments, [Number(span.endTimeUnixNano - first), rest]] : moments;
}

function shortened(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
