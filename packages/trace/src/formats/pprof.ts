import type { HeapProfile } from '../heap/heap-profile.ts';
import { encodeProtobuf } from '../otlp/encode.ts';
import type { Span, TracedFunction } from '../span.ts';
import { firstStart, walkTrees } from '../span-tree.ts';
import { callTrees } from './call-tree.ts';
import { profileSchema } from './pprof-schema.ts';

export interface PprofOptions {
  /** The name of the traced module. */
  readonly fileName?: string | undefined;
  /** Its build id, in hexadecimal. */
  readonly buildId?: string | undefined;
}

export interface TimePprofOptions extends PprofOptions {
  /** The time and the calls of deeper calls are added to their caller at this depth. Default: 500. */
  readonly maxDepth?: number | undefined;
}

/** A type of values with its unit. */
type ValueType = readonly [type: string, unit: string];

/** A function of a stack. Manual spans have only a name. */
type Frame = Pick<TracedFunction, 'name'> & Partial<TracedFunction>;

interface Sample {
  /** Outermost first. */
  readonly stack: readonly Frame[];
  /** One for each type. */
  readonly values: readonly bigint[];
}

/**
 * Writes spans as a profile of pprof, with the calls of each stack and the nanoseconds in its last function itself. Folded calls
 * have no span, so their time belongs to the span around them. Pprof reads the bytes as they are or compressed with gzip.
 */
export function pprof(spans: readonly Span[], options: TimePprofOptions = {}): Uint8Array<ArrayBuffer> {
  const { maxDepth = 500 } = options;
  const stack: Frame[] = [];
  const samples: Sample[] = [];
  walkTrees(callTrees(spans, true), {
    enter({ name, function: traced, calls, selfTimeNano }, depth) {
      if (depth < maxDepth) stack.push(traced ?? { name });
      samples.push({ stack: [...stack], values: [BigInt(calls), selfTimeNano] });
    },
    leave(_, depth) {
      if (depth < maxDepth) stack.pop();
    },
  });
  const start = firstStart(spans);
  const end = spans.reduce((last, { endTimeUnixNano }) => (endTimeUnixNano > last ? endTimeUnixNano : last), start);
  const types = [
    ['calls', 'count'],
    ['time', 'nanoseconds'],
  ] as const;
  return writeProfile(types, samples, { ...options, timeNanos: start, durationNanos: end - start });
}

/**
 * Writes allocations as a heap profile of pprof, by call path: all allocations (`alloc_objects`, `alloc_space`), and those that
 * were not freed (`inuse_objects`, `inuse_space`). Pprof leaves out the allocators, so it shows the functions that call them.
 */
export function heapPprof({ paths }: HeapProfile, options: PprofOptions = {}): Uint8Array<ArrayBuffer> {
  const samples = paths.map(
    ({ path, allocations, allocatedBytes, liveAllocations, liveBytes }): Sample => ({
      stack: path.length > 1 ? path : [{ name: path.length === 0 ? '(more paths)' : '(host)' }, ...path],
      values: [allocations, allocatedBytes, liveAllocations, liveBytes].map(BigInt),
    }),
  );
  const types = [
    ['alloc_objects', 'count'],
    ['alloc_space', 'bytes'],
    ['inuse_objects', 'count'],
    ['inuse_space', 'bytes'],
  ] as const;
  const allocators = new Set(
    paths.flatMap(({ path }) => (path.length === 0 ? [] : [namePattern(path.at(-1) as Frame)])),
  );
  return writeProfile(types, samples, {
    ...options,
    dropFrames: [...allocators].filter((pattern) => pattern !== '').join('|'),
  });
}

/** Matches a name as pprof does: without parameters. */
function namePattern({ name }: Frame): string {
  return (name.split('(', 1)[0] as string).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

interface ProfileFacts extends PprofOptions {
  readonly timeNanos?: bigint;
  readonly durationNanos?: bigint;
  /** A regular expression. */
  readonly dropFrames?: string;
}

/** The last type is the default, and the period is one unit of it. */
function writeProfile(
  types: readonly ValueType[],
  samples: readonly Sample[],
  { fileName = '', buildId = '', timeNanos, durationNanos, dropFrames = '' }: ProfileFacts,
): Uint8Array<ArrayBuffer> {
  const text = createIndex(['']);
  const functions = new Map<string, { readonly id: number; readonly frame: Frame }>();
  const idOf = (frame: Frame): number => {
    const key = `${frame.index ?? 'manual'} ${frame.name}`;
    const known = functions.get(key) ?? { id: functions.size + 1, frame };
    functions.set(key, known);
    return known.id;
  };
  const sample = samples.map(({ stack, values }) => ({
    locationId: stack.map(idOf).reverse(),
    value: values,
  }));
  const described = [...functions.values()];
  const valueTypes = types.map(([type, unit]) => ({ type: text.indexOf(type), unit: text.indexOf(unit) }));
  const profile = {
    sampleType: valueTypes,
    sample,
    mapping: [
      {
        id: 1,
        filename: text.indexOf(fileName),
        buildId: text.indexOf(buildId),
        hasFunctions: true,
        hasFilenames: described.some(({ frame }) => frame.file !== undefined),
        hasLineNumbers: described.some(({ frame }) => frame.line !== undefined),
      },
    ],
    location: described.map(({ id, frame }) => ({
      id,
      mappingId: 1,
      line: [{ functionId: id, line: frame.line ?? 0 }],
    })),
    function: described.map(({ id, frame }) => ({
      id,
      name: text.indexOf(frame.name),
      systemName: text.indexOf(frame.rawName ?? frame.name),
      filename: text.indexOf(frame.file ?? ''),
      startLine: frame.line ?? 0,
    })),
    dropFrames: text.indexOf(dropFrames),
    stringTable: text.entries,
    timeNanos,
    durationNanos,
    periodType: valueTypes.at(-1),
    period: 1,
    defaultSampleType: valueTypes.at(-1)?.type,
  };
  return encodeProtobuf(profile, profileSchema);
}

/** Numbers texts in the order of their first use. */
function createIndex(entries: string[]) {
  const known = new Map(entries.map((entry, at) => [entry, at]));
  return {
    entries,
    indexOf(given: string): number {
      const entry = given.toWellFormed();
      const found = known.get(entry);
      if (found !== undefined) return found;
      known.set(entry, entries.length);
      return entries.push(entry) - 1;
    },
  };
}
