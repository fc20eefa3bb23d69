// A host that is told of a change while it does nothing. Runs in any engine: in pages by its function, elsewhere by
//   deno run … client-news.mjs <package-entry> <task as JSON>

/**
 * @typedef {object} Task
 * @property {string} baseUrl
 * @property {string} token
 * @property {string} extensionPointId
 * @property {string} guestKey
 * @property {string} changeUrl asking for it changes the list
 */

/** @typedef {{ readonly before: string[], readonly after: string[], readonly asked: number, readonly streams: number }} Report */

/**
 * @param {string} packageUrl where the package's entry is
 * @param {Task} task
 * @returns {Promise<Report>} the names in the list, and what was asked for after the stream stood
 */
export async function hearNews(packageUrl, { baseUrl, token, extensionPointId, guestKey, changeUrl }) {
  /** @type {typeof import('@tenon/client')} */
  const { createClient } = await import(packageUrl);
  const client = createClient({ baseUrl, token });
  let [asked, streams] = [0, 0];
  client.on('request', ({ operation, status }) => {
    if (operation === 'bindings') asked++;
    if (operation === 'news' && status === 200) streams++;
  });
  /** @type {Promise<string[]>} */
  const changed = new Promise((resolve) => client.on('changed', ({ list }) => resolve(Object.keys(list))));
  // A list that is told of is fresh whatever age is asked for.
  const look = () => client.lookUp(extensionPointId, guestKey, { maxAgeMs: 0.001 });
  for (let answer = await look(); answer.source !== 'memory'; answer = await look()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const before = Object.keys(await client.bindings(extensionPointId, guestKey));
  asked = 0;
  await (await fetch(changeUrl)).text();
  const after = await changed;
  for (let time = 0; time < 100; time++) await look();
  await client.close();
  return { before, after, asked, streams };
}

const { argv } = globalThis.process ?? { argv: [] };
if (argv[1]?.endsWith('client-news.mjs')) {
  const { pathToFileURL } = await import('node:url');
  const [entry = '', task = ''] = argv.slice(2);
  console.log(JSON.stringify(await hearNews(pathToFileURL(entry).href, JSON.parse(task))));
}
