/** A server of ours with something to fetch, in a process of its own. It tells its parent where everything is. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createUser, issueToken, loadConfig, openData, serve } from '../../src/index.ts';
import { moduleOfSize } from './module-of-size.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
const config = loadConfig({ dataDir, port: '0', logLevel: 'warn', demo: false }, {});

const data = await openData(config);
const { context } = data;
const user = await createUser(context, { name: 'bench', email: null });
const { secret } = await issueToken(context, user.id, {
  name: 'bench',
  scopes: ['read', 'publish', 'manage'],
  appId: null,
  expiresAtMs: Date.now() + 3_600_000,
});
await data.close();

const server = await serve(config);
const api = `${server.url}/api/v1`;
const headers = { authorization: `Bearer ${secret}` };

async function call(method: string, path: string, body?: unknown, contentType = 'application/json') {
  const payload = body instanceof Uint8Array ? new Uint8Array(body) : body === undefined ? null : JSON.stringify(body);
  const response = await fetch(api + path, {
    method,
    headers: { ...headers, 'content-type': contentType },
    body: payload,
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
}

const app = await call('POST', '/apps', { name: 'bench' });
const extensionPoint = await call('POST', `/apps/${app.id}/extension-points`, { name: 'bench' });
const { link = '' } = await call('POST', `/apps/${app.id}/guests`, {
  deliveryMethod: 'link',
  guestKey: 'customers/globex',
});
await call('POST', '/invitations/accept', { code: new URL(link).searchParams.get('code') });
const addresses: string[] = [];
for (const size of [64 * 1024, 1024 * 1024]) {
  const path = `/artifacts/${extensionPoint.id}/plugin/${user.id}/p${size}`;
  const { contentAddress = '' } = await call('PUT', path, moduleOfSize(size), 'application/wasm');
  addresses.push(contentAddress);
}

process.send?.({
  url: server.url,
  headers,
  bindings: `/api/v1/extension-points/${extensionPoint.id}/bindings/customers%2Fglobex`,
  contents: addresses.map((address) => `/api/v1/c/${address}`),
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', async () => {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
});
