import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { type ObjectStore, startObjectStore } from '../packages/server/test/helpers/s3.ts';
import { type RunningServer, startServer, tenon, withoutTenon } from './helpers/server.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where the server has its objects, and how a byte of each is flipped. */
interface Place {
  readonly settings: Readonly<Record<string, string>>;
  flip(server: RunningServer): Promise<number>;
  stop(): Promise<void>;
}

const folderStore = async (): Promise<Place> => ({
  settings: {},
  async flip({ folder }) {
    const blobs = join(folder, 'tenon-data', 'blobs');
    const entries = await readdir(blobs, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() && /^[0-9a-f]{64}/.test(entry.name));
    for (const { parentPath, name } of files) {
      const file = join(parentPath, name);
      await writeFile(file, flipped(await readFile(file)));
    }
    return files.length;
  },
  stop: async () => {},
});

const objectStore = async (): Promise<Place> => {
  const store: ObjectStore = await startObjectStore(['plugins']);
  const { bucket, endpoint, credentials } = store.options('plugins');
  return {
    settings: {
      TENON_S3_BUCKET: bucket,
      TENON_S3_ENDPOINT: endpoint,
      TENON_S3_ACCESS_KEY_ID: credentials.accessKeyId,
      TENON_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    flip: () => store.changeObjects('plugins', flipped),
    stop: () => store.stop(),
  };
};

/** The bytes with one bit changed. */
function flipped(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = copy.length >> 1;
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

for (const [name, open] of Object.entries({ folder: folderStore, 'object store': objectStore })) {
  describe(`one flipped byte in the ${name}`, () => {
    it('is refused by the client and by tenon, and reported by tenon admin verify', async (test) => {
      const place = await open();
      const server = await startServer({ settings: place.settings });
      test.after(async () => {
        await server.stop();
        await place.stop();
      });
      const { TENON_URL: baseUrl = '', TENON_TOKEN: token = '', TENON_EXTENSION_POINT_ID = '' } = server.quickstart;
      const key = { extensionPointId: TENON_EXTENSION_POINT_ID, guestKey: server.quickstart.TENON_GUEST_KEY ?? '' };
      const cli = (...args: string[]) => run(server, place, args);
      const connect = (options: Partial<Parameters<typeof createClient>[0]> = {}) =>
        createClient({ baseUrl, token, streaming: false, retry: { maxRetries: 1, baseDelayMs: 1 }, ...options });

      const store = diskStore({ directory: join(server.folder, 'host') });
      const host = connect({ store });
      const good = await host.loadPlugin(key);
      await host.close();
      const reference = `${good.id}@1`;
      assert.equal((await cli('plugin', 'verify', reference)).code, 0);
      assert.equal((await cli('admin', 'verify', '--json')).code, 0);

      await server.kill();
      assert.ok((await place.flip(server)) >= 1);
      await server.restart();

      const fresh = connect();
      await assert.rejects(fresh.getContent(good.contentAddress), { name: 'ClientError' });
      await assert.rejects(fresh.load(key), { name: 'ClientError' });
      await fresh.close();
      const refused = await cli('plugin', 'verify', reference);
      assert.notEqual(refused.code, 0);
      assert.equal(refused.stdout, '');
      const found = await cli('admin', 'verify', '--json');
      assert.notEqual(found.code, 0);
      assert.match(found.stdout, new RegExp(good.contentAddress));

      // A host that has the content continues.
      const again = connect({ store });
      assert.equal((await again.loadPlugin(key)).contentAddress, good.contentAddress);
      await again.close();
    });

    it('is refused by the client where a server passes it on', async (test) => {
      const place = await open();
      const server = await startServer({ settings: place.settings });
      test.after(async () => {
        await server.stop();
        await place.stop();
      });
      const { TENON_URL: baseUrl = '', TENON_TOKEN: token = '', TENON_EXTENSION_POINT_ID = '' } = server.quickstart;
      const key = { extensionPointId: TENON_EXTENSION_POINT_ID, guestKey: server.quickstart.TENON_GUEST_KEY ?? '' };
      const passOn: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (!String(input).includes('/api/v1/c/')) return response;
        return new Response(new Uint8Array(flipped(new Uint8Array(await response.arrayBuffer()))));
      };
      const client = createClient({ baseUrl, token, streaming: false, fetch: passOn });
      await assert.rejects(client.load(key), { code: 'content_mismatch' });
      await client.close();
    });
  });
}

async function run(server: RunningServer, { settings }: Place, args: readonly string[]): Promise<Outcome> {
  const options = { cwd: server.folder, env: { ...withoutTenon(process.env), ...server.quickstart, ...settings } };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [tenon, ...args], options);
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as Outcome;
    return { code, stdout, stderr };
  }
}
