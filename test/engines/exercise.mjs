// Uses the built @tenon/instrument in whatever runs this: a page, a worker, Deno, Bun or Node.js.

/**
 * @param {string} packageUrl where the package's entry is
 * @param {Readonly<Record<string, Uint8Array>>} modules `run` is run, all are instrumented
 */
export async function exercise(packageUrl, modules) {
  /** @type {typeof import('@tenon/instrument')} */
  const { InstrumentError, instrument, listFunctions, version } = await import(packageUrl);
  /** @type {Record<string, string>} */
  const digests = {};
  for (const [name, bytes] of Object.entries(modules)) digests[name] = await digest(instrument(bytes).bytes);

  const { run = new Uint8Array() } = modules;
  const traced = instrument(run, { banned: ['unseen*'], patterns: true });
  /** @type {string[]} */
  const events = [];
  const hook = (/** @type {string} */ kind) => (/** @type {number} */ value) => void events.push(`${kind} ${value}`);
  const { instance } = await WebAssembly.instantiate(new Uint8Array(traced.bytes), {
    'dylibso:observe/instrument': { enter: hook('enter'), exit: hook('exit'), 'memory-grow': hook('grow') },
  });
  const call = /** @type {(argument: number) => number} */ (instance.exports.fibonacci);
  const result = call(3);

  let refusal = '';
  try {
    instrument(run.subarray(0, 20));
  } catch (error) {
    if (error instanceof InstrumentError) refusal = `${error.code} ${error.message}`;
  }
  const names = listFunctions(run).functions.map(({ name }) => name);
  return { version, digests, events, result, refusal, names, notes: traced.report.notes.length };
}

/** @param {Uint8Array} bytes */
async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
