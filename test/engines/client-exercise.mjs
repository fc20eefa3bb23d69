// Uses the built @tenon/client through faults, in any engine: a page, a worker, Deno, Bun or Node.js.

/**
 * @typedef {object} Task
 * @property {string} [diskUrl] the entry of the disk store. Without it there is no store
 * @property {string} [folder] for files
 * @property {string} baseUrl of the server or its proxy
 * @property {string} calmUrl requested after the calls: it ends the faults and the publishing
 * @property {string} token
 * @property {string} extensionPointId
 * @property {readonly { readonly key: string, readonly names: readonly string[] }[]} guests
 * @property {number} calls
 * @property {number} lanes the number of concurrent calls
 * @property {number} seed
 */

/**
 * @typedef {object} Entry the result of one call
 * @property {number} lane
 * @property {number} startMs by `performance.now()`
 * @property {number} endMs
 * @property {'list' | 'module' | 'content'} kind
 * @property {string} key the guest's
 * @property {string} [name] of the plugin, if requested
 * @property {number} [number] of the module
 * @property {Record<string, string>} [list] the addresses, by name
 * @property {string} [address]
 * @property {boolean} [isRight] whether the bytes are those of the address
 * @property {string} [source] of the list
 * @property {boolean} [isStale]
 * @property {number} [ageMs]
 * @property {string} [error] its code. Errors of other classes begin with an exclamation mark
 */

/** @typedef {{ readonly log: Entry[], readonly last: Entry[], readonly unhandled: string[], readonly reported: Record<string, number> }} Report */

/** Short times, so that thousands of calls through hung connections take seconds. */
const settings = {
  streaming: false,
  maxAgeMs: 2,
  revalidateTimeoutMs: 40,
  timeouts: { headersMs: 250, idleMs: 150, totalMs: 600 },
  retry: { maxRetries: 2, baseDelayMs: 2, maxDelayMs: 8, maxRetryAfterMs: 50 },
};

/**
 * @param {string} packageUrl where the package's entry is
 * @param {Task} task
 * @param {object} [more] further options of the client
 * @param {typeof import('@tenon/client').createClient} [create] in place of the package's `createClient`
 * @returns {Promise<Report>}
 */
export async function exercise(packageUrl, task, more = {}, create = undefined) {
  /** @type {typeof import('@tenon/client')} */
  const { createClient } = await import(packageUrl);
  /** @type {string[]} */
  const unhandled = [];
  listenForUnhandled((reason) => unhandled.push(String(reason)));
  const store = task.diskUrl === undefined ? {} : { store: await openDisk(task.diskUrl, task.folder ?? '') };
  const client = (create ?? createClient)({ baseUrl: task.baseUrl, token: task.token, ...settings, ...store, ...more });
  /** @type {Record<string, number>} */
  const reported = {};
  for (const type of /** @type {const} */ (['change', 'stale', 'recover', 'error', 'response', 'lookup'])) {
    client.on(type, () => {
      reported[type] = (reported[type] ?? 0) + 1;
    });
  }

  /** @type {Entry[]} */
  const log = [];
  const callsOfLane = Math.ceil(task.calls / task.lanes);
  await Promise.all(
    Array.from({ length: task.lanes }, async (_, lane) => {
      const random = createRandom(task.seed + lane);
      for (let call = 0; call < callsOfLane; call++) {
        log.push(await once(client, task, random, lane));
        // In more than half of the pauses the list expires.
        await new Promise((resolve) => setTimeout(resolve, random() * 5));
      }
    }),
  );

  await (await fetch(task.calmUrl)).text();
  const last = await Promise.all(task.guests.map(({ key }) => untilFresh(client, task, key)));
  await client.close();
  return { log, last, unhandled, reported };
}

/**
 * @param {import('@tenon/client').Client} client
 * @param {Task} task
 * @param {() => number} random
 * @param {number} lane
 * @returns {Promise<Entry>}
 */
async function once(client, { extensionPointId, guests }, random, lane) {
  const { key, names } = /** @type {Task['guests'][number]} */ (guests[Math.floor(random() * guests.length)]);
  const dice = random();
  const kind = dice < 0.4 ? 'list' : dice < 0.85 ? 'module' : 'content';
  const name = random() < 0.5 ? names[Math.floor(random() * names.length)] : undefined;
  // Some callers abort.
  const signal = random() < 0.03 ? AbortSignal.timeout(Math.floor(random() * 30)) : undefined;
  const startMs = performance.now();
  /** @type {Partial<Entry>} */
  let found;
  try {
    found = await ask();
  } catch (error) {
    const code = /** @type {{ code?: string }} */ (error).code;
    const isOurs = /** @type {Error} */ (error).name === 'ClientError' && code !== undefined;
    found = { error: isOurs ? code : `!${error}` };
  }
  return { lane, startMs, endMs: performance.now(), kind, key, ...(name === undefined ? {} : { name }), ...found };

  /** @returns {Promise<Partial<Entry>>} */
  async function ask() {
    if (kind === 'module')
      return { number: run(await client.load({ extensionPointId, guestKey: key, name }, { signal })) };
    const { bindings, source, isStale, ageMs } = await client.getBindings(
      { extensionPointId, guestKey: key },
      { signal },
    );
    const addresses = addressesOf(bindings);
    if (kind === 'list') return { list: addresses, source, isStale, ageMs };
    const [address] = Object.values(addresses);
    if (address === undefined) return { list: addresses };
    return { address, isRight: (await addressOf(await client.getContent(address, { signal }))) === address };
  }
}

/**
 * Calls until the result is not stale.
 *
 * @param {import('@tenon/client').Client} client
 * @param {Task} task
 * @param {string} key
 * @returns {Promise<Entry>}
 */
async function untilFresh(client, { extensionPointId }, key) {
  for (const startMs = performance.now(); ; ) {
    const { bindings, isStale, ageMs } = await client
      .getBindings({ extensionPointId, guestKey: key }, { maxAgeMs: 0 })
      .catch(() => ({ bindings: {}, isStale: true, ageMs: Number.POSITIVE_INFINITY }));
    const endMs = performance.now();
    if (!isStale || endMs - startMs > 60_000) {
      return { lane: -1, startMs, endMs, kind: 'list', key, list: addressesOf(bindings), isStale, ageMs };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** @param {import('@tenon/client').BindingList} list */
function addressesOf(list) {
  return Object.fromEntries(Object.entries(list).map(([name, { contentAddress }]) => [name, contentAddress]));
}

/** @param {WebAssembly.Module} module a numbered module */
function run(module) {
  const { exports } = new WebAssembly.Instance(module);
  return /** @type {() => number} */ (exports.number)();
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function addressOf(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const base64 = btoa(String.fromCharCode(...digest));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * @param {string} diskUrl
 * @param {string} folder
 */
async function openDisk(diskUrl, folder) {
  /** @type {typeof import('@tenon/client/disk')} */
  const { diskStore } = await import(diskUrl);
  return diskStore({ directory: folder });
}

/** @param {(reason: unknown) => void} onReason */
function listenForUnhandled(onReason) {
  /** @type {any} */
  const scope = globalThis;
  if (typeof scope.process?.on === 'function') scope.process.on('unhandledRejection', onReason);
  else
    scope.addEventListener('unhandledrejection', (/** @type {{ reason: unknown }} */ event) => onReason(event.reason));
}

/**
 * Mulberry32: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
 *
 * @param {number} seed
 */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
