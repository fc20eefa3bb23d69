import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Client, type ClientOptions, createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { createExtismPlugin } from '@tenon/client/extism';
import { createRandom } from '../../../test/helpers/random.ts';
import { startServer } from '../../../test/helpers/server.ts';
import { numberedModule, numberOf } from './helpers/numbered-module.ts';
import { openStage, type Stage } from './helpers/stage.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';

const random = createRandom(11);
const modules = [1, 2, 3, 4].map((number) => numberedModule(number, random));
const [one, two, three, four] = modules;
assert.ok(one && two && three && four);

describe('createClient() against a real server', () => {
  let stage: Stage;
  const open: Client[] = [];
  before(async () => {
    stage = await openStage();
    await stage.invite('customers/acme');
    await stage.publish('customers/acme', 'first', one);
    await stage.publish('customers/acme', 'second', two);
  });
  after(async () => {
    for (const client of open) await client.close();
    await stage?.close();
  });

  /** A client that revalidates on each call, and waits for the response even on a slow machine. */
  function connect(options: Partial<ClientOptions> = {}): Client {
    const longTimeouts = {
      revalidateTimeoutMs: Number.POSITIVE_INFINITY,
      timeouts: { headersMs: Number.POSITIVE_INFINITY },
    };
    const own = { baseUrl: stage.url, token: stage.token, maxAgeMs: 0, streaming: false };
    const client = createClient({ ...own, ...longTimeouts, ...options });
    open.push(client);
    return client;
  }

  it('returns the bindings of the server and content', async () => {
    const client = connect();
    const path = `extension-points/${stage.extensionPointId}/bindings/customers%2Facme`;
    const { bindings: list } = await client.getBindings({
      extensionPointId: stage.extensionPointId,
      guestKey: 'customers/acme',
    });
    assert.deepEqual({ ...list }, await stage.call('GET', path));
    assert.deepEqual(await client.getContent(one.address), one.bytes);
    assert.equal(
      numberOf(await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' })),
      2,
    );
    assert.equal(
      numberOf(
        await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme', name: 'first' }),
      ),
      1,
    );
    assert.deepEqual(
      { ...(await client.getBindings({ extensionPointId: stage.extensionPointId, guestKey: 'unknown' })).bindings },
      {},
    );
  });

  it('fetches a list whole only when it has changed', async () => {
    const client = connect();
    const look = async () =>
      (await client.getBindings({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' })).source;
    assert.deepEqual([await look(), await look(), await look()], ['network', 'not_modified', 'not_modified']);
    await stage.publish('customers/acme', 'second', three);
    assert.deepEqual([await look(), await look()], ['network', 'not_modified']);
    assert.equal(
      numberOf(await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' })),
      3,
    );
  });

  it('finds the guest of unusual keys', async () => {
    const keys = ['a b', 'ü/ß', '100%', 'x?y#z', '\\back', 'a%2Fb', 'constructor', '🦊', "it's", '*'];
    const client = connect();
    for (const [at, key] of keys.entries()) {
      await stage.invite(key);
      await stage.publish(key, 'p', numberedModule(100 + at, random));
    }
    for (const [at, key] of keys.entries()) {
      assert.equal(
        numberOf(await client.load({ extensionPointId: stage.extensionPointId, guestKey: key })),
        100 + at,
        key,
      );
    }
  });

  it('serves its cache when its token is revoked, or fails with `staleOnUnauthorized: false`', async () => {
    const { token, revoke } = await stage.issueToken();
    const [serving, failing] = [connect({ token }), connect({ token, staleOnUnauthorized: false })];
    for (const client of [serving, failing])
      await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' });
    await revoke();
    const plugin = await serving.loadPlugin({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' });
    assert.equal(plugin.isStale, true);
    assert.equal(plugin.error?.code, 'invalid_token');
    const refused = failing.load({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' });
    await assert.rejects(refused, { code: 'invalid_token', status: 401 });
    await assert.rejects(serving.getContent(four.address), { code: 'invalid_token' });
  });

  it('refreshes its token after a 401', async () => {
    const { token: old, revoke } = await stage.issueToken();
    await revoke();
    const client = connect({ token: ({ forceRefresh }) => (forceRefresh ? stage.token : old) });
    assert.ok(await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' }));
  });

  it("rejects with the server's code and request id", async () => {
    const error = await connect()
      .getBindings({ extensionPointId: 'ext_01j29hxk3mfpq8ad68ha6hbsex', guestKey: 'x' })
      .catch((error) => error);
    assert.equal(error.code, 'not_found');
    assert.equal(error.status, 404);
    assert.ok(error.requestId);
    await assert.rejects(connect().getContent(four.address), { code: 'not_found' });
    await assert.rejects(
      connect({ baseUrl: `${stage.url}/elsewhere` }).getBindings({
        extensionPointId: stage.extensionPointId,
        guestKey: 'x',
      }),
      {
        status: 404,
      },
    );
  });

  it('serves the disk cache to a host that starts while the server is down', async (test) => {
    const server = await startServer();
    const { TENON_URL = '', TENON_TOKEN = '', TENON_EXTENSION_POINT_ID = '', TENON_GUEST_KEY = '' } = server.quickstart;
    const store = diskStore({ directory: await temporaryFolder(test) });
    const options = { baseUrl: TENON_URL, token: TENON_TOKEN, store };
    const before = connect(options);
    const plugin = await before.loadPlugin({ extensionPointId: TENON_EXTENSION_POINT_ID, guestKey: TENON_GUEST_KEY });
    await before.close();
    await server.stop();
    const after = await connect(options).loadPlugin({
      extensionPointId: TENON_EXTENSION_POINT_ID,
      guestKey: TENON_GUEST_KEY,
    });
    assert.equal(after.contentAddress, plugin.contentAddress);
    assert.equal(after.isStale, true);
    assert.equal(after.error?.code, 'network');
  });

  it('creates Extism plugins', async () => {
    const { extensionPointId } = stage;
    const plugin = await createExtismPlugin(connect(), { extensionPointId, guestKey: 'customers/acme', name: 'first' });
    try {
      assert.deepEqual(await plugin.functionExists('number'), true);
    } finally {
      await plugin.close();
    }
  });

  it('warms up many keys at once', async () => {
    const client = connect({ maxAgeMs: 60_000 });
    const keys = ['customers/acme', 'nobody', 'a b'].map((guestKey) => ({
      extensionPointId: stage.extensionPointId,
      guestKey,
    }));
    const { plugins, failures } = await client.warmUp(keys);
    assert.equal(plugins, 3);
    assert.deepEqual(failures, []);
    const asked: unknown[] = [];
    client.on('response', (event) => asked.push(event));
    await client.load({ extensionPointId: stage.extensionPointId, guestKey: 'customers/acme' });
    assert.deepEqual(asked, []);
  });

  it('deletes a list after a 404', async () => {
    const client = connect();
    const made = await stage.call<{ id: string }>('POST', `apps/${await appOf(stage)}/extension-points`, {
      name: 'Brief',
    });
    assert.deepEqual({ ...(await client.getBindings({ extensionPointId: made.id, guestKey: 'x' })).bindings }, {});
    await stage.call('DELETE', `extension-points/${made.id}`);
    await assert.rejects(client.getBindings({ extensionPointId: made.id, guestKey: 'x' }), { code: 'not_found' });
  });
});

async function appOf({ call, extensionPointId }: Stage): Promise<string> {
  return (await call<{ appId: string }>('GET', `extension-points/${extensionPointId}`)).appId;
}
