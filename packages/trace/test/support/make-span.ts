import type { Span } from '../../src/span.ts';

/** 2026-09-21T14:13:20Z, in nanoseconds: beyond what a double holds exactly. */
export const someTimeUnixNano = 1_790_000_000_000_000_001n;

/** The trace that spans belong to where nothing else is said. */
export const someTraceId = '0af7651916cd43dd8448eb211c80319c';

/** A span id out of a small number. */
export function spanIdOf(number: number): string {
  return number.toString(16).padStart(16, '0');
}

/** How a test writes a span: times in nanoseconds since {@link someTimeUnixNano}, its number as id, all else as it needs it. */
export interface SpanPlan
  extends Partial<Omit<Span, 'startTimeUnixNano' | 'endTimeUnixNano' | 'spanId' | 'parentSpanId'>> {
  /** More than 0. */
  readonly id: number;
  /** The number of the span that it lies in. */
  readonly parent?: number;
  readonly start: number;
  readonly end: number;
}

/** Makes a span of a function that is called as the span is, without anything but times where the plan says nothing. */
export function makeSpan({ id, parent, start, end, ...rest }: SpanPlan): Span {
  const name = rest.name ?? `f${id}`;
  return {
    traceId: someTraceId,
    spanId: spanIdOf(id),
    parentSpanId: parent === undefined ? undefined : spanIdOf(parent),
    traceFlags: 1,
    traceState: undefined,
    name,
    function: { index: id, rawName: name, name },
    startTimeUnixNano: someTimeUnixNano + BigInt(start),
    endTimeUnixNano: someTimeUnixNano + BigInt(end),
    selfTimeNano: BigInt(end - start),
    folded: { calls: 0, timeNano: 0n },
    grownPages: 0,
    status: { code: 'unset', message: '' },
    attributes: new Map(),
    events: [],
    dropped: { events: 0, attributes: 0 },
    ...rest,
  };
}

/** The growth of a memory, as an event at so many nanoseconds since {@link someTimeUnixNano}. */
export function growth(at: number, pages: number): Span['events'][number] {
  return { name: 'memory.grow', timeUnixNano: someTimeUnixNano + BigInt(at), attributes: new Map([['pages', pages]]) };
}

/**
 * A small trace with one of everything: `_start` calls `main`, which grows memory and calls `parse` three times, once with calls that
 * were folded, and `run`, which fails.
 */
export function smallTrace(): Span[] {
  const parse = { index: 7, rawName: '_Z5parsei', name: 'parse(int)' };
  return [
    makeSpan({ id: 1, start: 0, end: 12_800_000, name: '_start', selfTimeNano: 3_070n }),
    makeSpan({
      id: 2,
      parent: 1,
      start: 1_000,
      end: 12_797_930,
      name: 'main',
      selfTimeNano: 1_412n,
      grownPages: 3,
      events: [growth(1_500, 1), growth(9_000_000, 2)],
    }),
    makeSpan({ id: 3, parent: 2, start: 2_000, end: 402_000, name: parse.name, function: parse }),
    makeSpan({
      id: 4,
      parent: 2,
      start: 402_000,
      end: 902_000,
      name: parse.name,
      function: parse,
      folded: { calls: 340, timeNano: 320_500n },
    }),
    makeSpan({ id: 5, parent: 2, start: 902_000, end: 1_002_000, name: parse.name, function: parse }),
    makeSpan({
      id: 6,
      parent: 2,
      start: 1_002_000,
      end: 12_797_518,
      name: 'run',
      status: { code: 'error', message: 'unreachable' },
      attributes: new Map<string, string | bigint>([
        ['plugin.step', 'last'],
        ['count', 9_007_199_254_740_993n],
        ['wasm.self_time_ns', 'a plugin can not say this'],
      ]),
    }),
  ];
}
