import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { createFakeServer, key, listResponse, openClient } from '../test/helpers/fake-server.ts';
import { version } from './version.ts';

it("is the package's version, which each request has as its user agent", async () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  assert.equal(version, manifest.version);
  const server = createFakeServer(() => listResponse({}));
  const { client } = openClient(server);
  await client.getBindings(key);
  assert.equal(server.requests[0]?.headers.get('user-agent'), `tenon-client/${version}`);
});

it('is not sent by browsers, which would ask the server for permission', async () => {
  const platform = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Mozilla/5.0' }, configurable: true });
  try {
    const server = createFakeServer(() => listResponse({}));
    const { client } = openClient(server);
    await client.getBindings(key);
    assert.equal(server.requests[0]?.headers.has('user-agent'), false);
  } finally {
    if (platform !== undefined) Object.defineProperty(globalThis, 'navigator', platform);
  }
});
