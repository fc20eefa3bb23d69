import type { TraceClock } from './clock.ts';
import { invalidOptions, type OptionFault, type TraceError } from './errors.ts';
import type { RandomSource } from './ids.ts';
import type { Attributes, AttributeValue, SpanExporter } from './span.ts';

/** W3C trace context, as it travels in two headers: https://www.w3.org/TR/trace-context/ */
export interface TraceParent {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** Which span of the host a module's calls lie in. `undefined` and `null`: none, each call begins a trace of its own. */
export type ParentSource = string | TraceParent | undefined | null;

/** How much is kept. What is dropped is counted, in `span.dropped` or in `statistics().dropped`. */
export interface TraceLimits {
  /** Spans of one root. Default: 100,000. */
  readonly spans: number;
  /** Calls within each other. Default: 100,000, which is more than engines' stacks hold. */
  readonly depth: number;
  /** Functions that `statistics()` tells of, at about 270 bytes each. Default: 100,000. */
  readonly functions: number;
  /** Events of one span. Default: 128. */
  readonly events: number;
  /** Attributes of one span. Default: 128. */
  readonly attributes: number;
  /** UTF-16 code units of one text that a module reports; what is longer is cut. Default: 4,096. */
  readonly textLength: number;
  /** UTF-16 code units of all texts that a module reports within one root. Default: 4,194,304. */
  readonly traceTextLength: number;
}

/** Options of {@link start}. The ones that the interface names are spelled in its way in JSON: see {@link parseConfiguration}. */
export interface TraceOptions {
  readonly spanFilter?:
    | {
        /** Spans shorter than this are not emitted, but for the root of a trace. Microseconds; default 20; 0 keeps all. */
        readonly minDurationMicroseconds?: number | undefined;
      }
    | undefined;
  /** Where spans go. Default: nowhere. */
  readonly exporters?: readonly SpanExporter[] | undefined;
  /** The span of the host that calls lie in, or what tells it when a call begins. A malformed one is ignored. */
  readonly parent?: ParentSource | (() => ParentSource);
  /** What the root of every trace gets as attributes. */
  readonly attributes?: Attributes | Readonly<Record<string, AttributeValue>> | undefined;
  /** Whether calls are counted and timed by function, for {@link TraceContext.statistics}. Default: false. */
  readonly statistics?: boolean | undefined;
  readonly limits?: Partial<TraceLimits> | undefined;
  /** Makes a mangled name readable; `undefined` or the same text for one that isn't mangled. Default: names stay. */
  readonly demangle?: ((rawName: string) => string | undefined) | undefined;
  /**
   * Why a call failed, told by what it threw; `undefined` for what is no failure, as when a program exits by throwing.
   * Default: the error's name and message.
   */
  readonly failureReason?: ((thrown: unknown) => string | undefined) | undefined;
  /** Hears of what goes wrong in tracing itself, which never disturbs the module. Default: nobody. */
  readonly onError?: ((error: TraceError) => void) | undefined;
  /** Default: the host's `performance.now()` and `Date.now()`. */
  readonly clock?: TraceClock | undefined;
  /** Random bytes for ids. Default: the host's `crypto.getRandomValues`. */
  readonly random?: RandomSource | undefined;
}

export const defaultMinDurationMicroseconds = 20;

export const defaultLimits: TraceLimits = Object.freeze({
  spans: 100_000,
  depth: 100_000,
  functions: 100_000,
  events: 128,
  attributes: 128,
  textLength: 4_096,
  traceTextLength: 4_194_304,
});

/** What goes over JSON and command lines: the part of the options that is data, in the interface's spelling. */
const configurationKeys = {
  span_filter: ['spanFilter', { min_duration_microseconds: 'minDurationMicroseconds' }],
  limits: [
    'limits',
    {
      spans: 'spans',
      depth: 'depth',
      functions: 'functions',
      events: 'events',
      attributes: 'attributes',
      text_length: 'textLength',
      trace_text_length: 'traceTextLength',
    },
  ],
  statistics: ['statistics', undefined],
} as const;

type Found = Record<string, unknown>;

/**
 * Reads options from JSON, as text or parsed: `{"span_filter": {"min_duration_microseconds": 20}, "limits": {…}, "statistics": true}`.
 * Throws a {@link TraceError} with code `invalid_option` whose `faults` have the JSON pointer of everything that is wrong.
 */
export function parseConfiguration(json: unknown): TraceOptions {
  const faults: OptionFault[] = [];
  const result: Found = {};
  const value = typeof json === 'string' ? parseJson(json, faults) : json;
  for (const [key, found] of entriesOf(value, '', faults)) {
    const known = Object.hasOwn(configurationKeys, key)
      ? configurationKeys[key as keyof typeof configurationKeys]
      : undefined;
    if (known === undefined) faults.push(unknownOption(`/${escapeKey(key)}`, Object.keys(configurationKeys)));
    else if (known[1] === undefined) result[known[0]] = checkScalar(found, `/${key}`, known[0], faults);
    else result[known[0]] = readGroup(found, `/${key}`, known[1], faults);
  }
  if (faults.length > 0) throw invalidOptions(faults);
  return result;
}

function readGroup(
  value: unknown,
  pointer: string,
  names: Readonly<Record<string, string>>,
  faults: OptionFault[],
): Found {
  const group: Found = {};
  for (const [key, found] of entriesOf(value, pointer, faults)) {
    const name = Object.hasOwn(names, key) ? names[key] : undefined;
    if (name === undefined) faults.push(unknownOption(`${pointer}/${escapeKey(key)}`, Object.keys(names)));
    else group[name] = checkScalar(found, `${pointer}/${key}`, name, faults);
  }
  return group;
}

/** The options with their defaults. */
export interface ResolvedOptions {
  readonly minDurationMicroseconds: number;
  readonly limits: TraceLimits;
}

/** What {@link TraceOptions} has: a record, which does not compile without one of them. */
const isOption: Readonly<Record<keyof TraceOptions, true>> = {
  spanFilter: true,
  exporters: true,
  parent: true,
  attributes: true,
  statistics: true,
  limits: true,
  demangle: true,
  failureReason: true,
  onError: true,
  clock: true,
  random: true,
};
export const optionNames: readonly string[] = Object.keys(isOption);

/** Checks options of the TypeScript structure. Throws as {@link parseConfiguration} does. */
export function resolveOptions(options: TraceOptions): ResolvedOptions {
  const faults: OptionFault[] = [];
  for (const [key, value] of entriesOf(options, '', faults)) {
    if (!optionNames.includes(key)) faults.push(unknownOption(`/${escapeKey(key)}`, optionNames));
    else if (value !== undefined) checkOption(key, value, faults);
  }
  if (faults.length > 0) throw invalidOptions(faults);
  return {
    minDurationMicroseconds: options.spanFilter?.minDurationMicroseconds ?? defaultMinDurationMicroseconds,
    limits: { ...defaultLimits, ...definedEntries(options.limits ?? {}) },
  };
}

function checkOption(key: string, value: unknown, faults: OptionFault[]): void {
  const pointer = `/${key}`;
  if (key === 'spanFilter') {
    readGroup(value, pointer, { minDurationMicroseconds: 'minDurationMicroseconds' }, faults);
  } else if (key === 'limits') {
    readGroup(value, pointer, Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, name])), faults);
  } else if (key === 'statistics') {
    checkScalar(value, pointer, key, faults);
  } else if (key === 'exporters') {
    checkExporters(value, pointer, faults);
  } else if (key === 'clock') {
    for (const name of ['now', 'wallNow']) checkFunction((value as Found)?.[name], `${pointer}/${name}`, faults);
    const timeOrigin = (value as Found)?.timeOrigin;
    if (timeOrigin !== undefined && typeof timeOrigin !== 'number') {
      faults.push(wrong(`${pointer}/timeOrigin`, 'a number of milliseconds', timeOrigin));
    }
  } else if (key === 'attributes') {
    checkAttributes(value, pointer, faults);
  } else if (key === 'parent') {
    checkParent(value, pointer, faults);
  } else checkFunction(value, pointer, faults);
}

function checkExporters(value: unknown, pointer: string, faults: OptionFault[]): void {
  if (!Array.isArray(value)) faults.push(wrong(pointer, 'an array', value));
  else
    for (const [index, exporter] of value.entries()) {
      const found = exporter as Partial<SpanExporter> | null | undefined;
      checkFunction(found?.export, `${pointer}/${index}/export`, faults);
      for (const name of ['flush', 'shutdown'] as const) {
        if (found?.[name] !== undefined) checkFunction(found[name], `${pointer}/${index}/${name}`, faults);
      }
    }
}

function checkAttributes(value: unknown, pointer: string, faults: OptionFault[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.push(wrong(pointer, 'an object or a Map', value));
    return;
  }
  for (const [name, attribute] of value instanceof Map ? value : Object.entries(value)) {
    const values: readonly unknown[] = Array.isArray(attribute) ? attribute : [attribute];
    const types = Array.isArray(attribute)
      ? ['string', 'number', 'boolean']
      : ['string', 'number', 'boolean', 'bigint'];
    if (typeof name === 'string' && values.every((each) => types.includes(typeof each))) continue;
    const expected = 'a name with a string, a number, a boolean, a bigint, or an array of the first three';
    faults.push(wrong(`${pointer}/${escapeKey(String(name))}`, expected, attribute));
  }
}

function checkParent(value: unknown, pointer: string, faults: OptionFault[]): void {
  if (value === null || typeof value === 'string' || typeof value === 'function') return;
  if (typeof value !== 'object') {
    faults.push(wrong(pointer, 'a traceparent, an object with one, or a function that gives one', value));
  } else if (typeof (value as Found).traceparent !== 'string') {
    faults.push(wrong(`${pointer}/traceparent`, 'a traceparent', (value as Found).traceparent));
  }
}

function checkFunction(value: unknown, pointer: string, faults: OptionFault[]): void {
  if (typeof value !== 'function') faults.push(wrong(pointer, 'a function', value));
}

/** The scalars that options have: a flag, a duration, and counts. */
function checkScalar(value: unknown, pointer: string, name: string, faults: OptionFault[]): unknown {
  if (value === undefined) return undefined;
  if (name === 'statistics') {
    if (typeof value !== 'boolean') faults.push(wrong(pointer, 'true or false', value));
  } else if (name === 'minDurationMicroseconds') {
    if (!Number.isFinite(value) || (value as number) < 0) {
      faults.push(wrong(pointer, 'a number of microseconds, 0 or more', value));
    }
  } else if (!Number.isSafeInteger(value) || (value as number) < 1) {
    faults.push(wrong(pointer, 'a whole number, 1 or more', value));
  }
  return value;
}

function parseJson(text: string, faults: OptionFault[]): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    faults.push({ pointer: '', detail: `expected JSON: ${(cause as Error).message}` });
    return {};
  }
}

function entriesOf(value: unknown, pointer: string, faults: OptionFault[]): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  if (faults.length === 0 || pointer !== '') faults.push(wrong(pointer, 'an object', value));
  return [];
}

function definedEntries(group: Partial<TraceLimits>): Partial<TraceLimits> {
  return Object.fromEntries(Object.entries(group).filter(([, value]) => value !== undefined));
}

function unknownOption(pointer: string, known: readonly string[]): OptionFault {
  return { pointer, detail: `there is no such option; there are ${known.join(', ')}` };
}

function wrong(pointer: string, expected: string, found: unknown): OptionFault {
  return { pointer, detail: `expected ${expected}, found ${describe(found)}` };
}

function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean')
    return `${value}`;
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** As JSON pointers want it: https://www.rfc-editor.org/rfc/rfc6901#section-3 */
function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
