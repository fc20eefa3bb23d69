import {
  type Check,
  checkOptions,
  escapeKey,
  expects,
  failOn,
  hasMembers,
  isBoolean,
  isCount,
  isFunction,
  isRecord,
  listOf,
  optionGroup,
  wrong,
} from './check-options.ts';
import type { TraceClock } from './clock.ts';
import type { OptionFault, TraceError } from './errors.ts';
import type { RandomSource } from './ids.ts';
import type { FunctionSource } from './names.ts';
import type { Attributes, AttributeValue, SpanExporter } from './span.ts';

/** W3C trace context, as it travels in two headers: https://www.w3.org/TR/trace-context/ */
export interface TraceParent {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** The host's span that contains a module's calls. `undefined` and `null`: none, each root starts a trace. */
export type ParentSource = string | TraceParent | undefined | null;

/** Limits. Dropped items are counted, in `span.dropped` or in `statistics().dropped`. */
export interface TraceLimits {
  /** Spans of one root. Default: 100,000. */
  readonly spans: number;
  /** Nested calls. Default: 100,000, which is more than engines' stacks hold. */
  readonly depth: number;
  /** Functions in `statistics()`, at about 70 bytes each. Default: 100,000. */
  readonly functions: number;
  /** Live allocations of one instance, at about 40 bytes each. Default: 1,000,000. */
  readonly allocations: number;
  /** Call paths in `heapProfile()`, at about 100 bytes each. Default: 100,000. */
  readonly callPaths: number;
  /** Events of one span. Default: 128. */
  readonly events: number;
  /** Attributes of one span. Default: 128. */
  readonly attributes: number;
  /** UTF-16 code units of one reported text; longer ones are cut. Default: 4,096. */
  readonly textLength: number;
  /** UTF-16 code units of all reported texts in one root. Default: 4,194,304. */
  readonly traceTextLength: number;
}

/** Options of {@link start}. {@link parseConfiguration} reads some of them from JSON. */
export interface TraceOptions {
  readonly spanFilter?:
    | {
        /** Shorter spans are not emitted, except roots. Microseconds; default 20; 0 keeps all. */
        readonly minDurationMicroseconds?: number | undefined;
      }
    | undefined;
  /** The receivers of spans. Default: none. */
  readonly exporters?: readonly SpanExporter[] | undefined;
  /** The host's span that contains the calls, or a function that returns it for each root. Malformed values are ignored. */
  readonly parent?: ParentSource | (() => ParentSource);
  /** Attributes of every root. */
  readonly attributes?: Attributes | Readonly<Record<string, AttributeValue>> | undefined;
  /** Whether calls are counted and timed by function, for {@link TraceContext.statistics}. Default: false. */
  readonly statistics?: boolean | undefined;
  /**
   * Whether a module that was instrumented with `adaptive` skips most calls of functions whose calls are too short for a
   * span. Default: true.
   */
  readonly adaptive?: boolean | undefined;
  readonly limits?: Partial<TraceLimits> | undefined;
  /** Demangles a name; returns `undefined` or the same text for other names. Default: none. */
  readonly demangle?: ((rawName: string) => string | undefined) | undefined;
  /**
   * Finds the source of a function by its index in the instrumented module: `functionSource` of `@tenon/instrument/debug-info`.
   * Default: none.
   */
  readonly source?: FunctionSource | undefined;
  /**
   * The failure message for a thrown value; `undefined` if it is no failure, such as a program's exit.
   * Default: the error's name and message.
   */
  readonly failureReason?: ((thrown: unknown) => string | undefined) | undefined;
  /** Receives failures of tracing itself, which never disturb the module. Default: none. */
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
  allocations: 1_000_000,
  callPaths: 100_000,
  events: 128,
  attributes: 128,
  textLength: 4_096,
  traceTextLength: 4_194_304,
});

const limitChecks: Readonly<Record<keyof TraceLimits, Check>> = {
  spans: isCount,
  depth: isCount,
  functions: isCount,
  allocations: isCount,
  callPaths: isCount,
  events: isCount,
  attributes: isCount,
  textLength: isCount,
  traceTextLength: isCount,
};
const spanFilterChecks = {
  minDurationMicroseconds: expects(
    'a number of microseconds, 0 or more',
    (value) => Number.isFinite(value) && (value as number) >= 0,
  ),
};

/** Does not compile without one of the {@link TraceOptions}. */
const optionChecks: Readonly<Record<keyof TraceOptions, Check>> = {
  spanFilter: optionGroup(spanFilterChecks),
  exporters: listOf(hasMembers({ export: isFunction }, { flush: isFunction, shutdown: isFunction })),
  parent: checkParent,
  attributes: checkAttributes,
  statistics: isBoolean,
  adaptive: isBoolean,
  limits: optionGroup(limitChecks),
  demangle: isFunction,
  source: isFunction,
  failureReason: isFunction,
  onError: isFunction,
  clock: hasMembers(
    { now: isFunction, wallNow: isFunction },
    { timeOrigin: expects('a number of milliseconds', (value) => typeof value === 'number') },
  ),
  random: isFunction,
};
export const optionNames: readonly string[] = Object.keys(optionChecks);

const configurationChecks = optionGroup({
  span_filter: optionGroup(inSnakeCase(spanFilterChecks)),
  limits: optionGroup(inSnakeCase(limitChecks)),
  statistics: isBoolean,
});

/**
 * Reads options from JSON, as text or parsed: `{"span_filter": {"min_duration_microseconds": 20}, "limits": {…}, "statistics": true}`.
 * Throws a {@link TraceError} with code `invalid_option` whose `faults` have a JSON pointer for each invalid value.
 */
export function parseConfiguration(json: unknown): TraceOptions {
  const value = typeof json === 'string' ? parseJson(json) : json;
  checkOptions('start tracing', configurationChecks, value);
  return inCamelCase(value) as TraceOptions;
}

/** The options with their defaults. */
export interface ResolvedOptions {
  readonly minDurationMicroseconds: number;
  readonly limits: TraceLimits;
}

/** Checks options of the TypeScript structure. Throws as {@link parseConfiguration} does. */
export function resolveOptions(options: TraceOptions): ResolvedOptions {
  checkOptions('start tracing', optionGroup(optionChecks), options);
  return {
    minDurationMicroseconds: options.spanFilter?.minDurationMicroseconds ?? defaultMinDurationMicroseconds,
    limits: { ...defaultLimits, ...definedEntries(options.limits ?? {}) },
  };
}

function checkAttributes(value: unknown, pointer: string, faults: OptionFault[]): void {
  if (!isRecord(value)) {
    wrong('an object or a Map', value, pointer, faults);
    return;
  }
  for (const [name, attribute] of value instanceof Map ? value : Object.entries(value)) {
    const isList = Array.isArray(attribute);
    const values: readonly unknown[] = isList ? attribute : [attribute];
    const types = ['string', 'number', 'boolean', ...(isList ? [] : ['bigint'])];
    if (typeof name === 'string' && values.every((each) => types.includes(typeof each))) continue;
    const expected = 'a name with a string, a number, a boolean, a bigint, or an array of the first three';
    wrong(expected, attribute, `${pointer}/${escapeKey(String(name))}`, faults);
  }
}

function checkParent(value: unknown, pointer: string, faults: OptionFault[]): void {
  if (value === null || typeof value === 'string' || typeof value === 'function') return;
  if (typeof value !== 'object') {
    wrong('a traceparent, an object with one, or a function that gives one', value, pointer, faults);
  } else
    hasMembers({ traceparent: expects('a traceparent', (text) => typeof text === 'string') }, {})(
      value,
      pointer,
      faults,
    );
}

function inSnakeCase(checks: Readonly<Record<string, Check>>): Record<string, Check> {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(checks).map(([name, check]) => [snake(name), check]));
}

function inCamelCase(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [camel(name), inCamelCase(each)]));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    return failOn('start tracing', [{ pointer: '', detail: `expected JSON: ${(cause as Error).message}` }]);
  }
}

function definedEntries(group: Partial<TraceLimits>): Partial<TraceLimits> {
  return Object.fromEntries(Object.entries(group).filter(([, value]) => value !== undefined));
}
