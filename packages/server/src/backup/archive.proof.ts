import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { archiveOf, chunksOf, forgedArchive, forgedHeader, manifestOf, tarEntry } from '../../test/helpers/archives.ts';
import { addressOfBytes, bytesOf, collect, demandSameBytes } from '../../test/helpers/bytes.ts';
import { BackupError, type BackupErrorCode } from './errors.ts';
import { fileNames, formatManifest, type Manifest } from './manifest.ts';
import { readArchive } from './read-archive.ts';
import { blockBytes, endBytes, sizeInHeader, tarHeader } from './tar.ts';
import { writeArchive } from './write-archive.ts';

const database = bytesOf(1, 700);
const blobs = [bytesOf(2, 0), bytesOf(3, 512), bytesOf(4, 513)];

/** Reads an archive, and gives what came out of it by name. */
async function unpack(source: AsyncIterable<Uint8Array>, totalBytes?: number) {
  const files = new Map<string, Uint8Array>();
  const take = async (name: string, chunks: AsyncIterable<Uint8Array>) => {
    files.set(name, (await collect(chunks)) ?? new Uint8Array());
  };
  const manifest = await readArchive(
    source,
    {
      async begin() {},
      database: (chunks) => take('database', chunks),
      blob: ({ address }, chunks) => take(address, chunks),
    },
    totalBytes,
  );
  return { manifest, files };
}

async function demandRefused(bytes: Uint8Array, message: string, code?: BackupErrorCode): Promise<void> {
  const error = await unpack(chunksOf(bytes)).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof BackupError, `${message}: ${error}`);
  if (code !== undefined) assert.equal(error.code, code, message);
}

const files = (manifest: unknown, more: readonly (readonly [string, Uint8Array | string])[] = []) =>
  forgedArchive([[fileNames.manifest, JSON.stringify(manifest)], ...more]);

describe('readArchive()', () => {
  for (const length of [1, 511, 512, 1000, 1_000_000]) {
    it(`gives back what writeArchive() was given, in chunks of ${length} bytes`, async () => {
      const bytes = await archiveOf(database, blobs);
      const { manifest, files } = await unpack(chunksOf(bytes, length), bytes.length);
      assert.deepEqual(manifest, manifestOf(database, blobs));
      demandSameBytes(files.get('database'), database);
      for (const blob of blobs) demandSameBytes(files.get(addressOfBytes(blob)), blob);
      assert.equal(files.size, 1 + blobs.length);
    });
  }

  it('refuses an archive of which any one byte was changed', async () => {
    const bytes = await archiveOf(database, blobs);
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      await demandRefused(changed, `byte ${at}`);
    }
  });

  it('refuses an archive that was cut off anywhere, or goes on after its end', async () => {
    const bytes = await archiveOf(database, blobs);
    for (let length = 0; length < bytes.length; length++)
      await demandRefused(bytes.slice(0, length), `${length} bytes`);
    for (const more of [1, 512, 1024]) {
      await demandRefused(new Uint8Array([...bytes, ...new Uint8Array(more)]), `${more} bytes more`, 'damaged_backup');
    }
  });

  it('refuses an archive of another length than its manifest tells before it unpacks anything', async () => {
    const bytes = await archiveOf(database, blobs);
    let begun = 0;
    const target = {
      async begin() {
        begun++;
      },
      async database() {},
      async blob() {},
    };
    await assert.rejects(readArchive(chunksOf(bytes), target, bytes.length - 1), /should have/);
    assert.equal(begun, 0);
  });

  it('says of what is no backup that it is none', async () => {
    const strangers: [string, Uint8Array][] = [
      ['nothing', new Uint8Array()],
      ['a module', new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])],
      ['zeros', new Uint8Array(10_240)],
      ['another archive', forgedArchive([['etc/passwd', 'root']])],
      ['a compressed one', new Uint8Array([0x1f, 0x8b, ...bytesOf(9, 2000)])],
    ];
    for (const [what, bytes] of strangers) await demandRefused(bytes, what, 'not_a_backup');
  });

  it('refuses headers that other tar readers take for links, folders, devices, or files elsewhere', async () => {
    const manifest = formatManifest(manifestOf(database, []));
    const changes: Record<string, (header: Buffer) => void> = {
      'a hard link': (header) => header.write('1', 156),
      'a symbolic link': (header) => {
        header.write('2', 156);
        header.write('/etc/passwd', 157);
      },
      'a device': (header) => header.write('3', 156),
      'a folder': (header) => header.write('5', 156),
      'extended fields': (header) => header.write('x', 156),
      'a long name': (header) => header.write('L', 156),
      'a prefix': (header) => header.write('../..', 345),
      'an absolute path': (header) => header.write('/', 0),
      'everybody may write it': (header) => header.write('0000666', 100),
      'a negative size': (header) => header.fill(0xff, 124, 136),
    };
    for (const [what, change] of Object.entries(changes)) {
      const entry = tarEntry(fileNames.manifest, manifest);
      const header = forgedHeader(fileNames.database, database.length, change);
      const rest = tarEntry(fileNames.database, database).subarray(blockBytes);
      await demandRefused(Buffer.concat([entry, header, rest, Buffer.alloc(endBytes)]), what, 'damaged_backup');
      const first = forgedHeader(fileNames.manifest, manifest.length, change);
      await demandRefused(Buffer.concat([first, entry.subarray(blockBytes)]), `${what}, first`, 'not_a_backup');
    }
  });

  const valid = manifestOf(database, blobs);
  const firstBlob = valid.blobs[0] as Manifest['blobs'][number];
  const badManifests: [string, unknown, BackupErrorCode?][] = [
    ['none', null],
    ['no object', []],
    ['another format', { ...valid, format: 'tarball' }],
    ['a newer format', { ...valid, formatVersion: 2, more: true }, 'newer_backup'],
    ['a format of none', { ...valid, formatVersion: 0 }],
    ['a member that is not known', { ...valid, postInstall: 'rm -rf /' }],
    ['a negative size', { ...valid, database: { ...valid.database, size: -1 } }],
    ['a size that is no whole number', { ...valid, database: { ...valid.database, size: 0.5 } }],
    ['a size beyond all numbers', { ...valid, database: { ...valid.database, size: 1e300 } }],
    ['a digest that is none', { ...valid, database: { ...valid.database, sha256: 'x' } }],
    ['a blob that would lie elsewhere', { ...valid, blobs: [{ address: '../../../../etc/passwd', size: 1 }] }],
    ['an address that is none', { ...valid, blobs: [{ ...firstBlob, address: `${'A'.repeat(42)}B` }] }],
    ['a blob twice', { ...valid, blobs: [firstBlob, firstBlob] }],
    ['blobs in another order', { ...valid, blobs: valid.blobs.toReversed() }],
  ];
  for (const [what, manifest, code = 'damaged_backup'] of badManifests) {
    it(`refuses a manifest with ${what}`, async () => {
      await demandRefused(files(manifest), what, code);
    });
  }

  it('refuses a manifest that is no JSON, is not UTF-8, or is longer than any', async () => {
    await demandRefused(forgedArchive([[fileNames.manifest, '{"format"']]), 'no JSON', 'damaged_backup');
    const latin = Buffer.from(`{"format":"\xff"}`, 'latin1');
    await demandRefused(forgedArchive([[fileNames.manifest, latin]]), 'not UTF-8', 'damaged_backup');
    await demandRefused(tarHeader(fileNames.manifest, 2 ** 40), 'a tebibyte', 'damaged_backup');
  });

  it('refuses files that the manifest does not list, lists in another place, or with other bytes', async () => {
    const manifest = manifestOf(database, []);
    const other = bytesOf(9, 700);
    const forged: [string, Uint8Array][] = [
      [
        'one more',
        files(manifest, [
          [fileNames.database, database],
          ['tenon-backup/more', 'x'],
        ]),
      ],
      ['one less', files(manifest)],
      ['other bytes', files(manifest, [[fileNames.database, other]])],
      ['another name', files(manifest, [['tenon-backup/../tenon.db', database]])],
      ['another size', files(manifest, [[fileNames.database, database.subarray(1)]])],
    ];
    for (const [what, bytes] of forged) await demandRefused(bytes, what, 'damaged_backup');
  });
});

describe('writeArchive()', () => {
  it('makes an archive that tar lists and unpacks', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'tenon-tar-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'backup.tar'), await archiveOf(database, blobs));
    const run = promisify(execFile);
    try {
      await run('tar', ['--version']);
    } catch {
      return t.skip('there is no tar here');
    }
    await run('tar', ['-xf', 'backup.tar'], { cwd: folder });
    demandSameBytes(await readFile(join(folder, 'tenon-backup', 'tenon.db')), database);
    for (const blob of blobs) {
      const hex = Buffer.from(addressOfBytes(blob), 'base64url').toString('hex');
      demandSameBytes(await readFile(join(folder, 'tenon-backup', 'blobs', hex)), blob);
    }
  });

  it('refuses to write a blob that is missing, or that has other bytes than its address says', async () => {
    const manifest = manifestOf(database, blobs);
    for (const given of [undefined, bytesOf(8, 513), bytesOf(8, 512)]) {
      const writing = writeArchive(async () => {}, manifest, {
        database: () => chunksOf(database),
        blob: async () => given && chunksOf(given),
      });
      await assert.rejects(writing, { code: 'damaged_data' });
    }
  });
});

describe('sizeInHeader()', () => {
  for (const size of [0, 1, 8 ** 11 - 1, 8 ** 11, 2 ** 45, Number.MAX_SAFE_INTEGER]) {
    it(`reads ${size} bytes as they were written`, () => {
      assert.equal(sizeInHeader(tarHeader('a', size)), size);
    });
  }
});
