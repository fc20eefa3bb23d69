// A host that receives a change event while it makes no calls. Runs in any engine: in pages by its function, elsewhere by
//   deno run … client-streaming.mjs <package-entry> <task as JSON>

/**
 * @typedef {object} Task
 * @property {string} baseUrl
 * @property {string} token
 * @property {string} extensionPointId
 * @property {string} guestKey
 * @property {string} changeUrl a request to it changes the list
 */

/** @typedef {{ readonly before: string[], readonly after: string[], readonly asked: number, readonly streams: number }} Report */

/**
 * @param {string} packageUrl where the package's entry is
 * @param {Task} task
 * @returns {Promise<Report>} the names in the list, and the requests after the stream was live
 */
export async function receiveChange(packageUrl, { baseUrl, token, extensionPointId, guestKey, changeUrl }) {
  /** @type {typeof import('@tenon/client')} */
  const { createClient } = await import(packageUrl);
  const client = createClient({ baseUrl, token });
  let [asked, streams] = [0, 0];
  client.on('response', ({ operation, status }) => {
    if (operation === 'bindings') asked++;
    if (operation === 'changes' && status === 200) streams++;
  });
  /** @type {Promise<string[]>} */
  const changed = new Promise((resolve) => client.on('change', ({ bindings }) => resolve(Object.keys(bindings))));
  // With a live stream a list is fresh for any `maxAgeMs` above 0.
  const look = () => client.getBindings({ extensionPointId, guestKey }, { maxAgeMs: 0.001 });
  for (let answer = await look(); answer.source !== 'memory'; answer = await look()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const before = Object.keys((await look()).bindings);
  asked = 0;
  await (await fetch(changeUrl)).text();
  const after = await changed;
  for (let time = 0; time < 100; time++) await look();
  await client.close();
  return { before, after, asked, streams };
}

const { argv } = globalThis.process ?? { argv: [] };
if (argv[1]?.endsWith('client-streaming.mjs')) {
  const { pathToFileURL } = await import('node:url');
  const [entry = '', task = ''] = argv.slice(2);
  console.log(JSON.stringify(await receiveChange(pathToFileURL(entry).href, JSON.parse(task))));
}
