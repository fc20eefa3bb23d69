// A host that verifies provenance: in pages by its function, elsewhere by
//   deno run … client-verify.mjs <package-entry> <task as JSON>

/**
 * @typedef {object} Task
 * @property {string} baseUrl
 * @property {string} token
 * @property {string} extensionPointId
 * @property {string} guestKey
 * @property {object[]} trustedKeys
 * @property {object[]} otherKeys keys of another server
 */

/** @typedef {{ readonly state: string | undefined, readonly refused: string, readonly reason: string, readonly warned: string | undefined }} Report */

/**
 * @param {string} packageUrl where the package's entry is
 * @param {Task} task
 * @returns {Promise<Report>}
 */
export async function verifyPlugin(packageUrl, { baseUrl, token, extensionPointId, guestKey, trustedKeys, otherKeys }) {
  /** @type {typeof import('@tenon/client')} */
  const { createClient } = await import(packageUrl);
  const key = { extensionPointId, guestKey };
  /** @param {object} options */
  const connect = (options) => createClient({ baseUrl, token, streaming: false, .../** @type {{}} */ (options) });
  const strict = connect({ verify: 'require', trustedKeys });
  const { provenance } = await strict.loadPlugin(key);
  await strict.close();
  const misled = connect({ verify: 'require', trustedKeys: otherKeys });
  const error = await misled.loadPlugin(key).then(
    () => ({ code: 'none', reason: 'none' }),
    (fault) => fault,
  );
  await misled.close();
  const lenient = connect({ verify: 'warn', trustedKeys: otherKeys });
  const { provenance: other } = await lenient.loadPlugin(key);
  await lenient.close();
  return { state: provenance?.state, refused: error.code, reason: error.reason, warned: other?.state };
}

const { argv } = globalThis.process ?? { argv: [] };
if (argv[1]?.endsWith('client-verify.mjs')) {
  const { pathToFileURL } = await import('node:url');
  const [entry = '', task = ''] = argv.slice(2);
  console.log(JSON.stringify(await verifyPlugin(pathToFileURL(entry).href, JSON.parse(task))));
}
