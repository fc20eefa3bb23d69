import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Version } from '@tenon/protocol';
import { collect } from '../src/blobs/collect.ts';
import { blobKey } from '../src/db/blob-key.ts';
import { closeStores, openStores, type StoreSettings } from '../src/open-stores.ts';
import type { CopyStep } from '../src/ops/copy/copy-store.ts';
import { addressOfBytes } from './helpers/bytes.ts';
import {
  assertVerifies,
  type CopyGround,
  copy,
  embedded,
  openAsServer,
  openCopyGround,
  refused,
} from './helpers/copies.ts';
import { dump } from './helpers/dump.ts';
import { whyNoPostgres } from './helpers/postgres.ts';
import { createRecords } from './helpers/records.ts';
import { openService, type TestService } from './helpers/service.ts';
import { tinyModule } from './helpers/world.ts';

for (const major of [15, 18] as const) {
  describe(`copyStore() between folders, and PostgreSQL ${major} with an object store`, {
    skip: whyNoPostgres(major),
  }, () => {
    let ground: CopyGround;
    before(async () => {
      ground = await openCopyGround(major);
    });
    after(() => ground.close());

    const listPath = () => `/api/v1/extension-points/${ground.workshop.extensionPointId}/bindings/first`;

    /**
     * Copies from under a server that publishes, deletes and collects all the while. The copy is the server's data of one moment:
     * versions up to one of them, with what belongs to each, and nothing that was published after.
     */
    async function copyServer(service: TestService, from: StoreSettings, to: StoreSettings, firstNumber: number) {
      const { workshop } = ground;
      const publish = (path: string, number: number) =>
        service.call('PUT', path, {
          token: workshop.publisher.token,
          body: tinyModule(number),
          headers: { 'content-type': 'application/wasm' },
        });
      const published: number[] = [];
      let isOver = false;
      const publishing = (async () => {
        for (let number = firstNumber; !isOver; number++) {
          const { statusCode, payload } = await publish(workshop.path(), number);
          assert.ok(statusCode < 300, payload);
          published.push(number);
        }
      })();
      const deleting = (async () => {
        for (let number = firstNumber + 5000; !isOver; number++) {
          assert.ok((await publish(workshop.path('passing'), number)).statusCode < 300);
          const path = workshop.path('passing');
          assert.equal((await service.call('DELETE', path, { token: workshop.publisher.token })).statusCode, 204);
          await collect(service.services.deps, { graceMs: 0, isForced: true });
        }
      })();
      Promise.all([publishing, deleting]).catch(() => {}); // awaited below
      let publishedBefore = 0;
      let publishedAtBlobs = 0;
      try {
        await copy(from, to, {
          async onStep(step) {
            const count = published.length;
            for (let tries = 0; published.length < count + 2; tries++) {
              assert.ok(tries < 3000, 'the server goes on to publish');
              await sleep(5);
            }
            if (step === 'mark_target') publishedBefore = published.length;
            if (step === 'copy_blobs') publishedAtBlobs = published.length;
          },
        });
      } finally {
        isOver = true;
        await Promise.all([publishing, deleting]);
      }
      await assertVerifies(to);
      const { objects } = await versionsOf(to);
      const numbers = objects.map(({ contentAddress }) => contentAddress);
      const copied = published.filter((number) => numbers.includes(addressOfBytes(tinyModule(number))));
      assert.deepEqual(copied, published.slice(0, copied.length), 'one moment');
      assert.ok(copied.length >= publishedBefore, 'after the beginning');
      assert.ok(copied.length <= publishedAtBlobs, 'and before contents were copied');
      return copied;
    }

    async function versionsOf(settings: StoreSettings): Promise<{ objects: Version[] }> {
      const service = await openService({ config: settings });
      const { workshop } = ground;
      const path = `${workshop.path()}/versions?limit=1000`;
      const { payload } = await service.call('GET', path, { token: workshop.owner.token });
      await service.close();
      return JSON.parse(payload);
    }

    it('copies a running server there and back, and the copy serves the same data to the same tokens', async () => {
      const { service, workshop, folder, home } = ground;
      const [remote, back, beside] = [await ground.remote(), embedded(join(folder, 'back')), join(folder, 'beside')];
      await copyServer(service, home, embedded(beside), 500);
      const copied = await copyServer(service, home, remote, 1000);
      const there = await openService({ config: remote });
      try {
        const { token } = workshop.owner;
        const list = await there.call('GET', listPath(), { token });
        assert.equal(list.statusCode, 200);
        for (const number of [1, ...copied]) {
          const bytes = tinyModule(number);
          const { rawPayload } = await there.call('GET', `/api/v1/c/${addressOfBytes(bytes)}`, { token });
          assert.deepEqual(rawPayload, bytes, `module ${number}`);
        }
        await copyServer(there, remote, back, 2000);
      } finally {
        await there.close();
      }
    });

    it('copies a store without changes byte for byte: rows, lists, ETags', async () => {
      const { service, workshop, home, folder } = ground;
      const [remote, back] = [await ground.remote(), embedded(join(folder, `same-${major}`))];
      const { token } = workshop.owner;
      const served = await service.call('GET', listPath(), { token });
      await copy(home, remote);
      await copy(remote, back);
      for (const settings of [remote, back]) {
        assert.deepEqual(await dump(settings), await dump(home));
        const there = await openService({ config: settings });
        const { payload, headers } = await there.call('GET', listPath(), { token });
        assert.deepEqual([payload, headers.etag], [served.payload, served.headers.etag]);
        await there.close();
      }
      assert.ok((await dump(home)).get('users')?.some((user) => user.includes('Nutzer 599 é 🦀')));
    });

    it('continues after a failure in any step, includes later changes, and no server opens an unfinished copy', async () => {
      const { home, workshop } = ground;
      const to = await ground.remote();
      let number = 5000;
      for (const step of ['copy_rows', 'copy_blobs', 'verify', 'finish'] as const satisfies readonly CopyStep[]) {
        const failing = copy(home, to, {
          onStep(at) {
            if (at === step) throw new Error('the disk is on fire');
          },
        });
        await assert.rejects(failing, /on fire/);
        await assert.rejects(openAsServer(to), refused('unfinished_copy'));
        await assert.rejects(copy(to, await ground.remote()), refused('unfinished_copy'));
        await workshop.publish(number++);
      }
      await ground.service.store.write((tx) => tx.deleteGuest(workshop.second as never));
      await copy(home, to);
      assert.deepEqual(await dump(to), await dump(home));
      await assertVerifies(to);
      await openAsServer(to);
    });

    it('repairs wrong data in the target, and deletes excess data', async () => {
      const { home } = ground;
      const to = await ground.remote();
      const address = addressOfBytes(tinyModule(1));
      for (const bytes of [undefined, tinyModule(1).subarray(1), tinyModule(2)]) {
        const spoiled = copy(home, to, {
          async onStep(step) {
            if (step !== 'verify') return;
            const stores = await openStores(to);
            const row = await stores.store.read.blob(address);
            assert.ok(row);
            await (bytes === undefined
              ? stores.blobs.delete(blobKey(row))
              : stores.blobs.put(blobKey(row), new Uint8Array(bytes)));
            await stores.blobs.put(addressOfBytes(tinyModule(9)), tinyModule(9));
            await closeStores(stores);
          },
        });
        await assert.rejects(spoiled, refused('differs'));
      }
      await copy(home, to);
      await assertVerifies(to);
    });

    it('rejects a target that is not empty, and does not change it', async () => {
      const { home } = ground;
      const [full, unfinished, done] = [await ground.remote(), await ground.remote(), await ground.remote()];
      const stores = await openStores(full);
      await createRecords(stores.store).user();
      await closeStores(stores);
      const before = await dump(full);
      await assert.rejects(copy(home, full), refused('not_empty'));
      assert.deepEqual(await dump(full), before);
      await assert.rejects(copy(full, full), refused('same_store'));
      await assert.rejects(copy(await ground.remote(), full), refused('no_source'));
      await assert.rejects(
        copy(home, unfinished, {
          onStep: (step) => (step === 'verify' ? Promise.reject(new Error('off')) : undefined),
        }),
        /off/,
      );
      await assert.rejects(copy(full, unfinished), refused('not_empty'));
      await copy(home, done);
      await assert.rejects(copy(home, done), refused('not_empty'));
      const { s3Prefix } = done;
      await assert.rejects(
        copy(home, { ...(await ground.remote()), s3Prefix }),
        refused('not_empty'),
        'blobs of others',
      );
    });
  });
}
