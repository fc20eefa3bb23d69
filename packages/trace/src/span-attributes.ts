import type { Attributes, AttributeValue, Span } from './span.ts';

/**
 * The attributes of a span: what was measured, under `code.function.name` and names that begin with
 * `wasm.`, and what the plugin's author and the host added. What was measured can't be overwritten by a plugin.
 *
 * | attribute | |
 * |---|---|
 * | `code.function.name` | the name as people write it: https://opentelemetry.io/docs/specs/semconv/registry/attributes/code/ |
 * | `wasm.function.raw_name` | the name in the module, where it is another |
 * | `code.file.path`, `code.line.number` | where the function is declared; absent if unknown |
 * | `wasm.function.index` | the index in the instrumented module |
 * | `wasm.self_time_ns` | nanoseconds in this span but not in its child spans |
 * | `wasm.folded.calls`, `wasm.folded.time_ns` | calls without a span of their own; absent where there are none |
 * | `wasm.memory.grown_pages` | pages of 64 KiB; absent where memory did not grow |
 */
export function spanAttributes(span: Span): Attributes {
  const measured = measuredAttributes(span);
  if (span.attributes.size === 0) return measured;
  return new Map([...measured, ...[...span.attributes].filter(([key]) => !measured.has(key))]);
}

function measuredAttributes(span: Span): Map<string, AttributeValue> {
  const attributes = new Map<string, AttributeValue>();
  if (span.function !== undefined) {
    const { index, name, rawName, file, line } = span.function;
    attributes.set('code.function.name', name);
    if (file !== undefined) attributes.set('code.file.path', file);
    if (line !== undefined) attributes.set('code.line.number', line);
    if (rawName !== name) attributes.set('wasm.function.raw_name', rawName);
    attributes.set('wasm.function.index', index);
  }
  attributes.set('wasm.self_time_ns', span.selfTimeNano);
  if (span.folded.calls > 0) {
    attributes.set('wasm.folded.calls', span.folded.calls);
    attributes.set('wasm.folded.time_ns', span.folded.timeNano);
  }
  if (span.grownPages > 0) attributes.set('wasm.memory.grown_pages', span.grownPages);
  return attributes;
}
