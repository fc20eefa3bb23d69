// Shows how many of the workspace's own source files take part in answering a request: those in which V8's precise coverage has counted a
// call between two requests.
//
//   node scripts/files-per-request.mjs          the counts
//   node scripts/files-per-request.mjs --list   the files too
import './lib/require-node.mjs';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { root } from './lib/workspace.mjs';

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const { loadConfig, serve } = await import('../packages/server/src/index.ts');
const dataDir = mkdtempSync(join(tmpdir(), 'tenon-files-'));
const config = loadConfig({ dataDir, port: '0', logLevel: 'error' }, {});
let server = await serve(config);
const demo = parseEnv(readFileSync(join(dataDir, 'quickstart.env'), 'utf8'));
const { TENON_TOKEN: token, TENON_EXTENSION_POINT_ID: point, TENON_GUEST_KEY: guest, TENON_USER_ID: user } = demo;
const list = `/api/v1/extension-points/${point}/bindings/${encodeURIComponent(guest ?? '')}`;
const module = readFileSync(join(root, 'packages/server/sample/greet.wasm'));
let published = 0;

try {
  await send('GET', list);
  const { etag } = (await send('GET', list)).headers;
  await report('A2, from the response cache, 304', () => send('GET', list, { 'if-none-match': etag }));
  await report('A2, from the response cache, 200', () => send('GET', list));
  await server.close();
  server = await serve(config);
  await send('GET', '/healthz');
  await report('A2, nothing cached', () => send('GET', list));
  await publish();
  await report('publish', publish);
} finally {
  await server.close();
  rmSync(dataDir, { recursive: true });
}
process.exit();

/** A version that is like no other: a custom section holds a number. */
function publish() {
  const section = Buffer.from([0, 6, 1, 0x6e, 0, 0, 0, published++]);
  const path = `/api/v1/artifacts/${point}/plugin/${user}/measured`;
  return send('PUT', path, { 'content-type': 'application/wasm' }, Buffer.concat([module, section]));
}

/**
 * @param {string} method
 * @param {string} path
 * @param {import('node:http').OutgoingHttpHeaders} [headers]
 * @param {Uint8Array} [body]
 */
async function send(method, path, headers = {}, body) {
  const options = { method, headers: { authorization: `Bearer ${token}`, ...headers } };
  const [response] = await once(request(server.url + path, options).end(body), 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  if (response.statusCode >= 400) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
  return response;
}

/**
 * @param {string} what
 * @param {() => Promise<unknown>} act
 */
async function report(what, act) {
  await sleep(300); // what the request before has left to do
  await session.post('Profiler.takePreciseCoverage');
  await act();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = result
    .filter(({ url, functions }) => isOwn(url) && functions.some(({ ranges: [range] }) => (range?.count ?? 0) > 0))
    .map(({ url }) => relative(root, fileURLToPath(url)))
    .sort();
  console.log(`${String(files.length).padStart(3)} files: ${what}`);
  if (process.argv.includes('--list')) for (const file of files) console.log(`      ${file}`);
}

/** @param {string} url */
function isOwn(url) {
  return url.startsWith('file:') && /^packages\/[^/]+\/src\//.test(relative(root, fileURLToPath(url)));
}
