// What every engine must do with the exporters of `@tenon/trace`: send spans to a collector, plain and compressed, and write
// each format.

/**
 * @param {string} packageUrl the package's entry; its other entries lie beside it
 * @param {Record<string, Uint8Array>} files `demangler`, a module, and `collector`, a URL as text
 */
export async function exercise(packageUrl, files) {
  // Built packages are JavaScript, sources are not.
  const entry = (/** @type {string} */ name) => new URL(`${name}${/\.\w+$/.exec(packageUrl)}`, packageUrl).href;
  const { otlpExporter } = await import(entry('otlp'));
  const { createDemangler } = await import(entry('demangle'));
  const { chromeTrace, foldedStacks, speedscope, treeText } = await import(entry('formats'));
  const demangle = createDemangler(files.demangler);
  const spans = ['_ZN5space3runEv', '_RNvC6plugin4step', 'plain'].map((rawName, index) =>
    span(index, rawName, demangle(rawName)),
  );
  const endpoint = new TextDecoder().decode(files.collector).trim();
  const counts = [];
  for (const options of [{}, { protocol: 'http/json', compression: 'gzip' }]) {
    const exporter = otlpExporter({ endpoint, headers: { 'x-key': 'secret' }, ...options });
    exporter.export(spans);
    await exporter.shutdown();
    counts.push(exporter.counts());
  }
  const formats = [treeText, chromeTrace, speedscope, foldedStacks].map((format) => format(spans));
  return { names: spans.map(({ name }) => name), counts, formats };
}

/**
 * @param {number} index
 * @param {string} rawName
 * @param {string} name
 */
function span(index, rawName, name) {
  const start = 1_790_000_000_000_000_001n + BigInt(index * 1000);
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: `000000000000000${index + 1}`,
    parentSpanId: index === 0 ? undefined : '0000000000000001',
    traceFlags: 1,
    traceState: undefined,
    name,
    function: { index, rawName, name },
    startTimeUnixNano: start,
    endTimeUnixNano: start + (index === 0 ? 5_000n : 900n),
    selfTimeNano: 900n,
    folded: { calls: index, timeNano: BigInt(index) },
    grownPages: index,
    status: { code: 'unset', message: '' },
    attributes: new Map([['text', '💥']]),
    events: [],
    dropped: { events: 0, attributes: 0 },
  };
}
