import type { CallStack } from './call-stack.ts';
import { TraceError } from './errors.ts';
import type { TraceLimits } from './options.ts';
import type { Recorder } from './recorder.ts';
import type { AttributeValue } from './span.ts';
import { parseStatsd } from './statsd.ts';

/** The dependencies of imports that read text. */
export interface TextReading {
  /** The memory of an instance that is called through unbound functions, if known. */
  readonly memory: () => WebAssembly.Memory | undefined;
  readonly limits: TraceLimits;
  readonly report: (error: TraceError) => void;
}

/** An address: `i32`, or `i64` in the older namespace, in some bindings, and where memories have 64-bit addresses. */
type Address = number | bigint;

/** The imports of instrumented modules, of the older namespace too. */
export type ObserveImports = {
  readonly 'dylibso:observe/instrument': WebAssembly.ModuleImports;
  readonly 'dylibso:observe/api': WebAssembly.ModuleImports;
  readonly 'tenon:instrument': WebAssembly.ModuleImports;
  readonly dylibso_observe: WebAssembly.ModuleImports;
};

/** The imports that the instances of a module share. */
export type SharedImports = Omit<ObserveImports, 'tenon:instrument'>;

export const observeModules = [
  'dylibso:observe/instrument',
  'dylibso:observe/api',
  'tenon:instrument',
  'dylibso_observe',
] as const;

/** The import object of instrumented modules, and of modules with manual spans, apart from what differs by instance. */
export function createImports(recorder: Recorder, reading: TextReading): SharedImports {
  const { enter, exit, memoryGrow } = recorder;
  const manual = createManualFunctions(recorder, reading);
  return {
    'dylibso:observe/instrument': { enter, exit, 'memory-grow': memoryGrow },
    'dylibso:observe/api': {
      'span-enter': manual.spanEnter,
      'span-exit': manual.spanExit,
      'span-tags': manual.spanTags,
      metric: manual.metric,
      log: manual.log,
    },
    dylibso_observe: {
      instrument_enter: enter,
      instrument_exit: exit,
      instrument_memory_grow: memoryGrow,
      span_enter: manual.spanEnter,
      span_exit: manual.spanExit,
      span_tags: manual.spanTags,
      metric: manual.metric,
      log: manual.log,
    },
  };
}

/** By the number in the bindings; 0 was the first bindings' error. */
const logLevels = ['error', 'error', 'warn', 'info', 'debug', 'trace'];
const statsdFormat = 1;

function createManualFunctions(recorder: Recorder, reading: TextReading) {
  const { spanEnter, spanExit, tag, addEvent, dropText, stack } = recorder;
  const read = createTextReader(reading);
  const take = (address: Address, length: Address): string | undefined => read(address, length, stack);
  return {
    spanEnter: (address: Address, length: Address) => spanEnter(take(address, length) ?? 'span'),
    spanExit: () => spanExit(),
    spanTags(address: Address, length: Address) {
      const text = take(address, length);
      if (text === undefined) dropText('attributes');
      else tag(parseTags(text));
    },
    metric(format: number, address: Address, length: Address) {
      const text = take(address, length);
      if (text === undefined) dropText('events');
      else for (const metric of describeMetrics(format, text)) addEvent('metric', metric);
    },
    log(level: number, address: Address, length: Address) {
      const text = take(address, length);
      if (text === undefined) dropText('events');
      else
        addEvent(
          'log',
          new Map([
            ['log.severity', logLevels[level] ?? `${level}`],
            ['log.message', text],
          ]),
        );
    },
  };
}

/** The attributes of reported metrics: the message and, if it can be parsed, its parts. statsd messages have one metric per line. */
function describeMetrics(format: number, text: string): ReadonlyMap<string, AttributeValue>[] {
  if (format !== statsdFormat) {
    return [
      new Map([
        ['metric.format', `${format}`],
        ['metric.message', text],
      ]),
    ];
  }
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.length === 0 ? [text] : lines).map(
    (line) =>
      new Map<string, AttributeValue>([['metric.format', 'statsd'], ['metric.message', line], ...parseStatsd(line)]),
  );
}

/** `name:value,name:value`; a name alone is a flag. */
function parseTags(text: string): Map<string, AttributeValue> {
  const tags = new Map<string, AttributeValue>();
  for (const part of text.split(',')) {
    const colon = part.indexOf(':');
    const name = (colon === -1 ? part : part.slice(0, colon)).trim();
    if (name !== '') tags.set(name, colon === -1 ? true : part.slice(colon + 1).trim());
  }
  return tags;
}

/** Reads text that a module reports. Its address, length, and bytes are untrusted. */
function createTextReader({ memory, limits, report }: TextReading) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let hasReported = false;
  return (address: Address, length: Address, stack: CallStack): string | undefined => {
    const found = stack.memory ?? memory();
    if (found === undefined) {
      if (!hasReported) report(noMemory());
      hasReported = true;
      return undefined;
    }
    const { buffer } = found;
    const start = unsigned(address);
    // Text outside of roots is dropped, so it does not count.
    const isInRoot = stack.top > 0;
    const maxLength = isInRoot ? Math.min(limits.textLength, stack.textLeft) : limits.textLength;
    // A code unit takes at most three bytes.
    const end = Math.min(start + Math.min(unsigned(length), maxLength * 3), buffer.byteLength);
    if (!(start <= end) || maxLength === 0) return undefined;
    // Decoders refuse shared memory, so the bytes are copied.
    const text = decoder.decode(new Uint8Array(buffer, start, end - start).slice()).slice(0, maxLength);
    if (isInRoot) stack.textLeft -= text.length;
    return text;
  };
}

function noMemory(): TraceError {
  return new TraceError(
    'no_memory',
    'Cannot read what the module reports: its memory is not known. Use instantiate() or bind(), and have the module export its memory',
  );
}

function unsigned(value: Address): number {
  return typeof value === 'bigint' ? Number(BigInt.asUintN(64, value)) : value >>> 0;
}
