// Uses the built @tenon/trace in whatever runs this: a page, a worker, Deno, Bun or Node.js.

/**
 * @param {string} packageUrl where the package's entry is
 * @param {Readonly<Record<string, Uint8Array>>} modules `traced` is a module that has been instrumented
 */
export async function exercise(packageUrl, modules) {
  /** @type {typeof import('@tenon/trace')} */
  const trace = await import(packageUrl);
  const module = await WebAssembly.compile(new Uint8Array(modules.traced ?? []));
  return {
    known: await knownSpans(trace, module),
    own: await ownSpans(trace, module),
    refusal: refusal(trace, module),
  };
}

/** @typedef {typeof import('@tenon/trace')} Trace */
/** @typedef {import('@tenon/trace').Span} Span */
/** @typedef {Record<string, (argument: number) => unknown>} Calls */

/**
 * With a clock and random bytes that are the same everywhere, all that comes out is.
 *
 * @param {Trace} trace
 * @param {WebAssembly.Module} module
 */
async function knownSpans({ start }, module) {
  let now = 1000;
  let byte = 0;
  /** @type {Span[]} */
  const spans = [];
  const context = start(module, {
    exporters: [{ export: (batch) => void spans.push(...batch) }],
    parent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    statistics: true,
    clock: { now: () => (now += 1 / 128), wallNow: () => 1_784_000_000_000 + now, timeOrigin: 1_784_000_000_000 },
    random(bytes) {
      for (let index = 0; index < bytes.length; index++) bytes[index] = byte = (byte * 5 + 17) & 255;
    },
  });
  /** @type {Calls} */
  let calls = {};
  const host = { again: (/** @type {number} */ n) => attempt(() => calls.fibonacci?.(n)) };
  calls = /** @type {Calls} */ (/** @type {unknown} */ ((await context.instantiate({ host })).exports));
  const results = [calls.fibonacci?.(5), attempt(() => calls.fail?.(3)), calls.reenter?.(3)];
  return plain({ results, spans, statistics: context.statistics() });
}

/**
 * With the engine's own clock and random bytes, what must hold of them.
 *
 * @param {Trace} trace
 * @param {WebAssembly.Module} module
 */
async function ownSpans({ start }, module) {
  /** @type {Span[]} */
  const spans = [];
  const context = start(module, {
    spanFilter: { minDurationMicroseconds: 0 },
    exporters: [{ export: (batch) => void spans.push(...batch) }],
  });
  const { exports } = await context.instantiate({ host: { again() {} } });
  const calls = /** @type {Calls} */ (/** @type {unknown} */ (exports));
  calls.fibonacci?.(10);
  const awayMs = spans.map(({ startTimeUnixNano }) => Math.abs(Number(startTimeUnixNano / 1_000_000n) - Date.now()));
  return {
    count: spans.length,
    isNow: Math.max(...awayMs) < 60_000,
    ids: new Set(spans.map(({ spanId }) => spanId)).size,
    areOrdered: spans.every(({ startTimeUnixNano, endTimeUnixNano }) => startTimeUnixNano <= endTimeUnixNano),
  };
}

/**
 * @param {Trace} trace
 * @param {WebAssembly.Module} module
 */
function refusal({ start, TraceError }, module) {
  try {
    start(module, /** @type {{}} */ ({ span_filter: {} }));
  } catch (error) {
    if (error instanceof TraceError) return [error.code, error.faults[0]?.pointer];
  }
  return [];
}

/** @param {() => unknown} action */
function attempt(action) {
  try {
    return action();
  } catch (error) {
    return error instanceof WebAssembly.RuntimeError ? 'trap' : String(error);
  }
}

/**
 * As JSON has it, with what it has not: big integers and maps. Engines word traps in their own way.
 *
 * @param {unknown} value
 */
function plain(value) {
  const text = JSON.stringify(value, (key, item) => {
    if (typeof item === 'bigint') return `${item}`;
    if (key === 'message' && item !== '') return 'a reason';
    return item instanceof Map ? Object.fromEntries(item) : item;
  });
  return JSON.parse(text);
}
