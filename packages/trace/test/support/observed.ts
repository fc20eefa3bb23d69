import { wat } from '../../../../test/helpers/wat.ts';
import { start, type TraceContext, type TraceOptions } from '../../src/index.ts';
import type { Span } from '../../src/span.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';

/** A context whose spans are collected, on a clock that the test moves. */
export interface Observed {
  readonly context: TraceContext;
  readonly clock: ManualClock;
  /** What was exported, a root at a time. */
  readonly batches: (readonly Span[])[];
}

/** Keeps every span, unless the options say otherwise. */
export function observe(module: WebAssembly.Module | Uint8Array, options: TraceOptions = {}): Observed {
  const clock = createManualClock();
  const batches: (readonly Span[])[] = [];
  const exporter = { export: (spans: readonly Span[]) => void batches.push(spans) };
  const context = start(module, {
    clock,
    spanFilter: { minDurationMicroseconds: 0 },
    ...options,
    exporters: [exporter, ...(options.exporters ?? [])],
  });
  return { context, clock, batches };
}

/** A module that is compiled, of text. */
export function moduleOf(text: string): WebAssembly.Module {
  return new WebAssembly.Module(wat(text) as BufferSource);
}

/** A batch as indented names, each with why it failed. */
export function tree(batch: readonly Span[] | undefined): string[] {
  const depths = new Map<string | undefined, number>();
  return (batch ?? []).map(({ name, spanId, parentSpanId, status }) => {
    const depth = (depths.get(parentSpanId) ?? -1) + 1;
    depths.set(spanId, depth);
    return `${'  '.repeat(depth)}${name}${status.code === 'error' ? ` ! ${status.message}` : ''}`;
  });
}

/** The imports that instrumented modules have, for modules that tests write by hand: functions 0, 1 and 2. */
export const hookImports = `
  (import "dylibso:observe/instrument" "enter" (func $enter (param i32)))
  (import "dylibso:observe/instrument" "exit" (func $exit (param i32)))
  (import "dylibso:observe/instrument" "memory-grow" (func $grow (param i32)))`;
