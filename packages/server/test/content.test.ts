import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ContentAddress, Plugin } from '@tenon/protocol';
import { blobPath } from '../src/blobs/folder/paths.ts';
import { blobKey } from '../src/db/blob-key.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { largeModule, makeWorld, ok, publishAs, type World } from './helpers/world.ts';

describe('GET /api/v1/c/:contentAddress (A3)', () => {
  let service: TestService;
  let world: World;
  let base: string;
  /** One that is kept in memory, and one that is too large for that. */
  let contents: readonly { readonly bytes: Buffer; readonly plugin: Plugin }[];
  before(async () => {
    service = await openService({ config: { contentCacheBytes: 1024 * 1024 } });
    base = await service.listen();
    world = await makeWorld(service);
    contents = await Promise.all(
      [10_000, 3_000_000].map(async (size) => {
        const bytes = largeModule(size);
        return { bytes, plugin: await publishAs(service, world.guest, world.extensionPointId, `p${size}`, bytes) };
      }),
    );
  });
  after(() => service.close());

  const read = (address: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${base}/api/v1/c/${address}`, {
      method,
      headers: { authorization: `Bearer ${world.owner.token}`, ...headers },
    });
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

  it('returns immutable bytes', async () => {
    for (const { bytes, plugin } of contents) {
      for (let time = 0; time < 2; time++) {
        const response = await read(plugin.contentAddress);
        assert.equal(response.status, 200);
        const fields = Object.fromEntries(response.headers);
        assert.equal(fields['content-type'], 'application/wasm');
        assert.equal(fields.etag, `"${plugin.contentAddress}"`);
        assert.equal(fields['cache-control'], 'private, max-age=31536000, immutable');
        assert.equal(fields['content-length'], String(bytes.length));
        assert.equal(fields.vary, 'authorization');
        assert.equal(fields['accept-ranges'], 'bytes');
        assert.equal(fields['x-content-type-options'], 'nosniff');
        const digest = createHash('sha256').update(bytes).digest('base64');
        assert.equal(fields['repr-digest'], `sha-256=:${digest}:`);
        assert.ok((await bytesOf(response)).equals(bytes));
      }
    }
  });

  it('responds to HEAD with the header fields of GET', async () => {
    for (const { bytes, plugin } of contents) {
      const response = await read(plugin.contentAddress, { range: 'bytes=0-1' }, 'HEAD');
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-length'), String(bytes.length));
      assert.equal(response.headers.get('etag'), `"${plugin.contentAddress}"`);
      assert.equal((await bytesOf(response)).length, 0);
    }
  });

  it('supports single ranges, each with the digest of all bytes', async () => {
    for (const { bytes, plugin } of contents) {
      const { length } = bytes;
      const cases: [string, number, number][] = [
        ['bytes=0-0', 0, 0],
        ['bytes=1-9', 1, 9],
        [`bytes=${length - 3}-`, length - 3, length - 1],
        ['bytes=-4', length - 4, length - 1],
        [`bytes=5-${'9'.repeat(50)}`, 5, length - 1],
        [`bytes=-${length * 2}`, 0, length - 1],
      ];
      for (const [range, first, last] of cases) {
        const response = await read(plugin.contentAddress, { range });
        assert.equal(response.status, 206, range);
        assert.equal(response.headers.get('content-range'), `bytes ${first}-${last}/${length}`);
        assert.equal(response.headers.get('content-length'), String(last - first + 1));
        assert.match(response.headers.get('repr-digest') ?? '', /^sha-256=:/);
        assert.ok((await bytesOf(response)).equals(bytes.subarray(first, last + 1)), range);
      }
    }
  });

  it('sends all bytes for unsupported ranges', async () => {
    for (const { bytes, plugin } of contents) {
      const etag = `"${plugin.contentAddress}"`;
      for (const headers of [
        { range: 'bytes=0-1,3-4' },
        { range: 'lines=1-2' },
        { range: 'bytes=3-1' },
        { range: 'bytes=0-1', 'if-range': '"x"' },
        { range: 'bytes=0-1', 'if-range': `W/${etag}` },
      ]) {
        const response = await read(plugin.contentAddress, headers);
        assert.equal(response.status, 200, JSON.stringify(headers));
        assert.equal((await bytesOf(response)).length, bytes.length);
      }
      const heeded = await read(plugin.contentAddress, { range: 'bytes=0-1', 'if-range': etag });
      assert.equal(heeded.status, 206);
      await heeded.arrayBuffer();
    }
  });

  it('responds 416 with the size for a range behind the end', async () => {
    for (const { bytes, plugin } of contents) {
      const response = await read(plugin.contentAddress, { range: `bytes=${bytes.length}-` });
      assert.equal(response.status, 416);
      assert.equal(response.headers.get('content-range'), `bytes */${bytes.length}`);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.equal(((await response.json()) as { code: string }).code, 'range_not_satisfiable');
    }
  });

  it('responds 304 to a matching entity tag, before any range', async () => {
    for (const { plugin } of contents) {
      const etag = `"${plugin.contentAddress}"`;
      for (const headers of [{ 'if-none-match': etag }, { 'if-none-match': '*', range: 'bytes=0-1' }]) {
        const response = await read(plugin.contentAddress, headers);
        assert.equal(response.status, 304);
        assert.equal(response.headers.get('etag'), etag);
        assert.match(response.headers.get('cache-control') ?? '', /immutable/);
      }
      assert.equal((await read(plugin.contentAddress, { 'if-match': '"x"' })).status, 412);
    }
  });

  it('responds the same 404 for unknown and for invisible content', async () => {
    const [content] = contents;
    assert.ok(content);
    const address = content.plugin.contentAddress;
    const { token } = world.otherGuest;
    const hidden = await service.call('GET', `/api/v1/c/${address}`, { token });
    const missing = await service.call(
      'GET',
      `/api/v1/c/${address.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
      { token },
    );
    assert.equal(hidden.payload, missing.payload);
    assertProblem(hidden, 404, 'not_found');
    for (const bad of ['x', `${address}=`, '..%2f..', 'a'.repeat(5000), '%00']) {
      assertProblem(await service.call('GET', `/api/v1/c/${bad}`, { token: world.owner.token }), 404, 'not_found');
    }
  });

  describe('whose stored bytes are damaged', () => {
    const damages: readonly [string, (bytes: Buffer) => Buffer | undefined][] = [
      ['gone', () => undefined],
      ['empty', () => Buffer.alloc(0)],
      ['cut to half', (bytes) => bytes.subarray(0, bytes.length / 2)],
      ['flipped in one bit', flipped],
      ['longer', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
    ];
    const sizes = [2000, 200_000, 1_500_000]; // kept in memory, sent in one chunk, sent in several
    for (const size of sizes) {
      for (const [at, [what, damage]] of damages.entries()) {
        it(`never serves ${size} bytes that are ${what}, and serves them after they are published again`, async () => {
          const bytes = largeModule(size + at);
          const name = `d${size}-${at}`;
          const publishing = () => publishAs(service, world.guest, world.extensionPointId, name, bytes);
          const { contentAddress } = await publishing();
          const { token } = world.owner;
          // What is in memory is right, and stays.
          if (size > 1024 * 128) assert.ok((await bytesOf(await read(contentAddress))).equals(bytes));
          const file = await fileOf(contentAddress as ContentAddress);
          const spoilt = damage(bytes);
          await (spoilt === undefined ? rm(file) : writeFile(file, spoilt));
          for (const headers of [{}, {}, { range: 'bytes=0-9' }]) {
            const response = await read(contentAddress, headers);
            if (response.status === 200) {
              await assert.rejects(response.arrayBuffer(), 'cut off before its last bytes');
              continue;
            }
            assert.equal(response.status, 500);
            const fields = Object.fromEntries(response.headers);
            assert.equal(fields['cache-control'], 'no-store');
            for (const field of ['etag', 'repr-digest', 'accept-ranges']) assert.equal(fields[field], undefined, field);
            assert.equal(((await response.json()) as { code: string }).code, 'content_damaged');
          }
          assertProblem(await service.call('GET', `/api/v1/c/${contentAddress}`, { token }), 500, 'content_damaged');
          assert.ok(
            service.logged.some((line) => line.includes(contentAddress)),
            'the log names it',
          );
          await publishing();
          const healed = await read(contentAddress);
          assert.equal(healed.status, 200);
          assert.ok((await bytesOf(healed)).equals(bytes));
        });
      }
    }
  });

  async function fileOf(address: ContentAddress): Promise<string> {
    const row = await service.services.deps.store.read.blob(address);
    assert.ok(row);
    return join(service.dataDir, 'blobs', blobPath(blobKey(row)) ?? '');
  }

  it('is deleted with the extension point, and hidden from a publisher who lost the guest', async () => {
    const { owner, guest, appId, guestId } = world;
    const [content] = contents;
    const path = `/api/v1/c/${content?.plugin.contentAddress}`;
    const bytes = largeModule(777);
    const made = { name: 'for a while' };
    const { id } = await ok<{ id: string }>(service, 'POST', `/api/v1/apps/${appId}/extension-points`, {
      token: owner.token,
      json: made,
    });
    const plugin = await publishAs(service, guest, id, 'short-lived', bytes);
    const shortLived = `/api/v1/c/${plugin.contentAddress}`;
    assert.equal((await service.call('GET', shortLived, { token: owner.token })).statusCode, 200);
    await ok(service, 'DELETE', `/api/v1/extension-points/${id}`, { token: owner.token });
    assertProblem(await service.call('GET', shortLived, { token: owner.token }), 404, 'not_found');

    assert.equal((await service.call('GET', path, { token: guest.token })).statusCode, 200);
    await ok(service, 'DELETE', `/api/v1/apps/${appId}/guests/${guestId}/users/${guest.id}`, { token: owner.token });
    assertProblem(await service.call('GET', path, { token: guest.token }), 404, 'not_found');
    assert.equal((await service.call('GET', path, { token: owner.token })).statusCode, 200);
  });

  it('never responds with an empty body for bytes that the blob store lost', async () => {
    const large = contents[1];
    assert.ok(large);
    await rm(join(service.dataDir, 'blobs'), { recursive: true });
    const response = await service.call('GET', `/api/v1/c/${large.plugin.contentAddress}`, {
      token: world.owner.token,
    });
    assertProblem(response, 500, 'content_damaged');
    assert.ok(service.logged.some((line) => line.includes('the object is missing')));
  });
});

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length - 9;
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
