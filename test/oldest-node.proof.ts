import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startServer } from './helpers/server.ts';

/** Takes away what the oldest Node.js that is supported, 24.7, does not have yet, and newer ones do. */
const takeAway = `
  import { DatabaseSync } from 'node:sqlite';
  for (const { prototype } of [Map, WeakMap]) {
    delete prototype.getOrInsert;
    delete prototype.getOrInsertComputed;
  }
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (sql) {
    return prepare.call(this, sql);
  };
`;

it('a server does without what the oldest Node.js lacks, and hears of what is revoked', async () => {
  const preload = `--import=data:text/javascript,${encodeURIComponent(takeAway)}`;
  const server = await startServer({ settings: { NODE_OPTIONS: preload } });
  try {
    const { TENON_URL, TENON_TOKEN, TENON_EXTENSION_POINT_ID, TENON_GUEST_KEY } = server.quickstart;
    const call = (method: string, path: string, token: string | undefined, body?: object) =>
      fetch(`${TENON_URL}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const made = await call('POST', '/api/v1/tokens', TENON_TOKEN, { name: 'short', scopes: ['read'] });
    const { id, token } = (await made.json()) as { readonly id: string; readonly token: string };
    const list = `/api/v1/extension-points/${TENON_EXTENSION_POINT_ID}/bindings/${TENON_GUEST_KEY}`;
    for (let tries = 0; tries < 3; tries++) assert.equal((await call('GET', list, token)).status, 200);
    assert.ok((await call('DELETE', `/api/v1/tokens/${id}`, TENON_TOKEN)).ok);
    assert.equal((await call('GET', list, token)).status, 401);
  } finally {
    await server.stop();
  }
});
