import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createIo } from '../../test/helpers/streams.ts';
import { addressOf } from '../provenance/address.ts';
import type { Catalog, CatalogVersion } from './catalog.ts';
import { blobFile, createLayout, hexOf, indexFile, layoutFile, layoutText, referenceOf, sha256 } from './layout.ts';
import { withBundle } from './open-bundle.ts';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';
import { isAllowed } from './verify-bundle.ts';

const extensionPoint = 'ext_01j29hxk3mfpq8ad68ha6hbsex';
const user = 'usr_01j29hxk3mfpq8ad68ha6hbsex';
const module = Buffer.from('\0asm\u0001\0\0\0');
const attestation = Buffer.from('{"mediaType":"none"}');
const stateAttestation = Buffer.from('{"mediaType":"other"}');
const documents = new Map([module, attestation, stateAttestation].map((bytes) => [sha256(bytes), bytes]));

function catalogOf(version: Partial<CatalogVersion> = {}, bindings = [{ guestKey: 'acme', version: 1 }]): Catalog {
  return {
    extensionPoints: [
      {
        id: extensionPoint,
        name: 'Formulas',
        schema: { exports: {} },
        requiresApproval: false,
        minVersionAgeSeconds: 0,
        limits: { maxModuleBytes: null, maxInitialMemoryPages: null, proposals: null, allowWasi: true },
        plugins: [
          {
            id: `${extensionPoint}/plugin/${user}/greet`,
            userId: user,
            userName: 'Ada',
            name: 'greet',
            versions: [
              {
                number: 1,
                semver: null,
                note: null,
                contentAddress: addressOf(module),
                size: module.length,
                attestations: [{ kind: 'publish', digest: sha256(attestation), size: attestation.length }],
                testResult: null,
                ...version,
              },
            ],
            bindings,
          },
        ],
        attestation: { digest: sha256(stateAttestation), size: stateAttestation.length },
      },
    ],
  };
}

type Files = readonly (readonly [name: string, content: Buffer])[];

function filesOf(catalog = catalogOf(), text = JSON.stringify(catalog)): Files {
  const layout = createLayout(catalog, Buffer.from(text));
  return [
    [layoutFile, Buffer.from(layoutText)],
    [indexFile, layout.index],
    ...layout.blobs.map(({ digest, source }) => {
      const document = source.kind === 'computed' ? source.bytes : documents.get(digest);
      return [blobFile(digest), document ?? Buffer.alloc(0)] as const;
    }),
  ];
}

function pack(files: Files = filesOf()): Buffer {
  const parts = files.flatMap(([name, bytes]) => [tarHeader(name, bytes.length), bytes, tarPadding(bytes.length)]);
  return Buffer.concat([...parts, tarEnd]);
}

/** Another base64url text of the same bytes. */
function respelled(address: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return address.slice(0, -1) + alphabet.charAt(alphabet.indexOf(address.slice(-1)) + 1);
}

describe('withBundle()', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-bundle-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function open(bytes: Uint8Array) {
    const file = join(folder, 'bundle.tar');
    await writeFile(file, bytes);
    const { signal } = new AbortController();
    return withBundle(createIo().io, false, file, signal, async ({ catalog, read }) => ({
      catalog,
      module: await read(hexOf(addressOf(module))),
    }));
  }
  const refuses = (bytes: Uint8Array, why: RegExp) =>
    assert.rejects(open(bytes), { code: 'invalid_bundle', message: why });

  it('reads what export writes, which has the same bytes for ever', async () => {
    const bytes = pack();
    assert.equal(sha256(bytes), '2b76db9b776a7f55a3fc9cf5a0c778d6631565d6f43e2d18dd025350d3a150c2');
    const found = await open(bytes);
    assert.deepEqual(found.catalog, catalogOf());
    assert.ok(found.module.equals(module));
  });

  it('is a regular archive to tar', async () => {
    const file = join(folder, 'tar.tar');
    await writeFile(file, pack());
    const listed = execFileSync('tar', ['-tvf', file], { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });
    assert.match(listed, /^-rw-r--r-- 0\/0 +30 1970-01-01 00:00 oci-layout\n/);
    assert.equal(listed.trim().split('\n').length, filesOf().length);
  });

  it('refuses any archive with one changed bit, or cut anywhere', async () => {
    const bytes = pack();
    for (let at = 0; at < bytes.length; at += 331) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await refuses(changed, /^The bundle is refused: .*Nothing was imported\.$/s);
      await refuses(bytes.subarray(0, at), /refused/);
    }
    await refuses(Buffer.concat([bytes, Buffer.alloc(512)]), /its end at byte/);
    await refuses(Buffer.concat([bytes, bytes]), /its end at byte/);
  });

  it('refuses files that no catalog leads to, duplicates, and other names', async () => {
    const files = filesOf();
    const extra = Buffer.from('extra');
    const all = [...files, [blobFile(sha256(extra)), extra] as const];
    const sorted = [...all.slice(0, 2), ...all.slice(2).sort(([one], [other]) => (one < other ? -1 : 1))];
    await refuses(pack(sorted), /no entry of its catalog leads to the file blobs\/sha256/);
    await refuses(pack([...files, files[0] ?? all[0]] as Files), /"oci-layout" is unknown, duplicate, or out of order/);
    await refuses(pack([...files, files.at(-1)] as Files), /out of order/);
    for (const name of ['../../etc/passwd', '/etc/passwd', 'blobs/sha256/../x', `blobs/sha256/${'0'.repeat(63)}`]) {
      await refuses(pack([...files, [name, extra]]), /is unknown, duplicate, or out of order/);
    }
    for (let index = 0; index < files.length; index++) {
      await refuses(pack(files.filter((_, other) => other !== index)), /missing|out of order/);
    }
  });

  it('refuses links, folders, sparse files, extensions, and sizes beyond the archive', async () => {
    const header = (change: (bytes: Buffer) => void) => {
      const bytes = tarHeader(layoutFile, layoutText.length);
      change(bytes);
      bytes.fill(' ', 148, 156);
      const sum = bytes.reduce((total, byte) => total + byte, 0);
      bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'ascii');
      return Buffer.concat([bytes, pack().subarray(512)]);
    };
    for (const type of ['\0', '1', '2', '5', 'S', 'x', 'g', 'L', 'K']) {
      await refuses(
        header((bytes) => bytes.write(type, 156)),
        /the header at byte 0 \("oci-layout"\) is not that of a regular/,
      );
    }
    await refuses(
      header((bytes) => bytes.write('0000755', 100)),
      /header at byte 0/,
    );
    await refuses(
      header((bytes) => bytes.write('00000000001', 136)),
      /header at byte 0/,
    );
    await refuses(
      header((bytes) => bytes.writeUInt8(0x80, 124)),
      /header at byte 0/,
    );
    await refuses(
      header((bytes) => bytes.write('77777777777', 124)),
      /it ends within the file oci-layout/,
    );
    await refuses(Buffer.alloc(1024), /the file index\.json is missing|the file oci-layout is missing/);
  });

  it('refuses a catalog that contradicts itself or the bytes', async () => {
    const withUnbound = catalogOf();
    const versions = withUnbound.extensionPoints[0]?.plugins[0]?.versions ?? [];
    for (const version of [...versions]) versions.push({ ...version, number: 2 });
    const cases: readonly (readonly [Catalog, RegExp])[] = [
      [catalogOf({ size: 9 }), /has 8 bytes, and its catalog says 9/],
      [catalogOf({}, [{ guestKey: 'acme', version: 2 }]), /version 2 of .*greet is bound, and missing/],
      [
        catalogOf({}, [
          ...(catalogOf().extensionPoints[0]?.plugins[0]?.bindings ?? []),
          { guestKey: 'acme', version: 1 },
        ]),
        /ascending/,
      ],
      [catalogOf({}, []), /\/bindings/],
      [withUnbound, /version 2 of .*greet is not bound/],
      [catalogOf({ semver: 'one' }), /invalid semantic version/],
      [catalogOf({ contentAddress: respelled(addressOf(module)) }), /is not canonical/],
      [
        catalogOf({ testResult: { digest: sha256(attestation), size: 16 * 1024 * 1024 + 1 } }),
        /its catalog is malformed: .*\/testResult/,
      ],
      [catalogOf({ number: 0 }), /its catalog is malformed: \/extensionPoints\/0\/plugins\/0\/versions\/0\/number/],
      [{ ...catalogOf(), more: 1 } as Catalog, /its catalog is malformed/],
    ];
    for (const [catalog, why] of cases) await refuses(pack(filesOf(catalog)), why);
    const unsigned = JSON.stringify(catalogOf(), (key, value) => (key === 'attestation' ? undefined : value));
    await refuses(pack(filesOf(catalogOf(), unsigned)), /its catalog is malformed: \/extensionPoints\/0/);
    const spaced = filesOf().map(
      ([name, bytes]) => [name, name === indexFile ? Buffer.concat([bytes, Buffer.from(' ')]) : bytes] as const,
    );
    await refuses(pack(spaced), /index\.json is not that of its catalog/);
  });
});

describe('referenceOf()', () => {
  it('gives a name that OCI allows, which no other version has', () => {
    const [placed] = catalogOf().extensionPoints;
    const [plugin] = placed?.plugins ?? [];
    assert.ok(placed && plugin);
    const names = ['greet', 'a.b', 'a..b', 'A', 'a-', 'a--b', 'a---b', 'a__b', '612e2e62', 'hex'];
    const references = names.map((name) => referenceOf({ extensionPoint: placed, plugin: { ...plugin, name } }, 3));
    const allowed = /^[A-Za-z0-9]+(?:(?:[-._:@+]|--)[A-Za-z0-9]+)*(?:\/[A-Za-z0-9]+(?:(?:[-._:@+]|--)[A-Za-z0-9]+)*)*$/;
    for (const reference of references) assert.match(reference, allowed);
    assert.equal(new Set(references).size, names.length);
    assert.equal(references[2], `${extensionPoint}/${user}/hex/612e2e62:3`);
  });
});

describe('isAllowed()', () => {
  it('matches whole ids, in which only the asterisk is special', () => {
    const id = `${extensionPoint}/plugin/${user}/a.b`;
    assert.ok(isAllowed(id, ['*']));
    assert.ok(isAllowed(id, ['none', `${extensionPoint}/plugin/*/a.b`]));
    assert.ok(isAllowed(id, [id]));
    assert.ok(!isAllowed(id, []));
    assert.ok(!isAllowed(id, ['a.b']));
    assert.ok(!isAllowed(id, [`${extensionPoint}/plugin/*/a`]));
    assert.ok(!isAllowed(id.replace('a.b', 'axb'), [id]));
  });
});
