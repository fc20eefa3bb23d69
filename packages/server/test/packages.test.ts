import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Response } from 'light-my-request';
import { packagePartBytes } from '../src/db/package-records.ts';
import { offerPackages } from '../src/packages/offer-packages.ts';
import { type OwnPackage, readOwnPackages } from '../src/packages/own-packages.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

/** More than two parts of the store, and no two parts alike. */
const bytesOf = (seed: number) =>
  Buffer.from(
    Uint8Array.from({ length: 2 * packagePartBytes + 1000 }, (_, place) => (place * 7 + seed + (place >> 8)) % 251),
  );

const versionBefore = '1.0.0';
const versionNow = '1.10.0';

describe("the server's packages", () => {
  let folder: string;
  let service: TestService;
  let own: readonly OwnPackage[];
  const warnings: object[] = [];
  const log = { warn: (about: object) => void warnings.push(about) } as never;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tenon-packages-'));
    writeFileSync(join(folder, 'secret.tgz'), 'outside');
    own = build(versionNow, 2);
    service = await openService({ replace: () => ({ packages: own }), config: { publicReadsPerMinute: 1000 } });
    await offerPackages(service.services.deps, build(versionBefore, 1), log);
    await offerPackages(service.services.deps, own, log);
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  function build(version: string, seed: number): readonly OwnPackage[] {
    const file = `tenon-client-${version}.tgz`;
    mkdirSync(join(folder, version), { recursive: true });
    writeFileSync(join(folder, version, file), bytesOf(seed));
    writeFileSync(join(folder, version, 'packages.json'), JSON.stringify([{ name: '@tenon/client', version, file }]));
    writeFileSync(join(folder, 'current'), `${version}\n`);
    return readOwnPackages(folder);
  }

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    service.call(method, `/packages/${path}`, { headers });
  const integrityOf = (bytes: Buffer) => `sha512-${hash('sha512', bytes, 'base64')}`;
  const assertBytes = ({ rawPayload }: Response, expected: Buffer) => assert.ok(rawPayload.equals(expected));

  it('lists all versions with their integrity, the newest first', async () => {
    const { objects } = (await service.call('GET', '/packages')).json();
    const described = (version: string, file: string, seed: number) => ({
      version,
      file,
      integrity: integrityOf(bytesOf(seed)),
      size: bytesOf(seed).length,
    });
    assert.deepEqual(objects, [
      {
        name: '@tenon/client',
        ...described(versionNow, 'tenon-client.tgz', 2),
        versions: [
          described(versionNow, `tenon-client-${versionNow}.tgz`, 2),
          described(versionBefore, `tenon-client-${versionBefore}.tgz`, 1),
        ],
      },
    ]);
  });

  it('keeps what it offered before, from the store alone', async () => {
    const found = await get(`tenon-client-${versionBefore}.tgz`);
    assert.equal(found.statusCode, 200);
    assertBytes(found, bytesOf(1));
    assert.equal(found.headers['content-length'], String(bytesOf(1).length));
    assert.equal(found.headers['cache-control'], 'public, max-age=31536000, immutable');
  });

  it('serves the newest under the name without a version, for a short time', async () => {
    const found = await get('tenon-client.tgz');
    assertBytes(found, bytesOf(2));
    assert.equal(found.headers['cache-control'], 'public, max-age=300');
    assert.equal(found.headers['content-type'], 'application/gzip');
    assert.equal(found.headers['x-content-type-options'], 'nosniff');
    assert.equal(found.headers['set-cookie'], undefined);
  });

  for (const [name, seed] of [
    ['from memory', 2],
    ['from the store', 1],
  ] as const) {
    it(`serves conditional requests, ranges and HEAD ${name}`, async () => {
      const path = `tenon-client-${seed === 1 ? versionBefore : versionNow}.tgz`;
      const bytes = bytesOf(seed);
      const etag = String((await get(path)).headers.etag);
      assert.equal(etag, `"${integrityOf(bytes)}"`);
      const unchanged = await get(path, { 'if-none-match': etag });
      assert.deepEqual([unchanged.statusCode, unchanged.payload, unchanged.headers.etag], [304, '', etag]);
      assertProblem(await get(path, { 'if-match': '"other"' }), 412, 'precondition_failed');
      const head = await get(path, {}, 'HEAD');
      assert.deepEqual([head.statusCode, head.payload], [200, '']);
      assert.equal(head.headers['content-length'], String(bytes.length));
      const edges = [0, 1, packagePartBytes - 1, packagePartBytes, packagePartBytes + 1, bytes.length - 1];
      for (const first of edges) {
        for (const last of edges.filter((edge) => edge >= first)) {
          const part = await get(path, { range: `bytes=${first}-${last}` });
          assert.equal(part.statusCode, 206);
          assert.equal(part.headers['content-range'], `bytes ${first}-${last}/${bytes.length}`);
          assertBytes(part, bytes.subarray(first, last + 1));
        }
      }
      assertProblem(await get(path, { range: `bytes=${bytes.length}-` }), 416, 'range_not_satisfiable');
      assertBytes(await get(path, { range: 'bytes=0-1', 'if-range': '"other"' }), bytes);
    });
  }

  it('serves nothing else', async () => {
    const names = [
      'secret.tgz',
      'current',
      'packages.json',
      '../secret.tgz',
      '..%2fsecret.tgz',
      '%2e%2e%2fcurrent',
      '..%5csecret.tgz',
      `${versionNow}%2fpackages.json`,
      `${versionNow}/packages.json`,
      '%2fetc%2fpasswd',
      'tenon-client.tgz%00',
      'tenon-client.tgz/',
      'TENON-CLIENT.TGZ',
      'tenon-client-1.0.tgz',
      "tenon-client-1.0.0.tgz'--",
      '__proto__',
      'constructor',
      '.',
      '%25',
      'a'.repeat(5000),
    ];
    for (const name of names) {
      const found = await get(name);
      assert.equal(found.statusCode, 404, name);
      assert.equal(found.headers['cache-control'], 'no-store', name);
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assertProblem(await get('tenon-client.tgz', {}, method), 405, 'method_not_allowed');
    }
  });

  it('never changes the bytes of a version, and warns', async () => {
    const changed = build(versionNow, 3);
    await offerPackages(service.services.deps, changed, log);
    assert.deepEqual(warnings, [{ file: `tenon-client-${versionNow}.tgz` }]);
    const other = await openService({ replace: () => ({ packages: changed, deps: service.services.deps }) });
    try {
      const bytesAt = async (path: string) => (await other.call('GET', `/packages/${path}`)).rawPayload;
      assert.ok((await bytesAt(`tenon-client-${versionNow}.tgz`)).equals(bytesOf(2)));
      assert.ok((await bytesAt('tenon-client.tgz')).equals(bytesOf(3)));
    } finally {
      await other.close();
    }
  });

  it('serves from memory what is not stored, but not as what never changes', async () => {
    const packages = own;
    const other = await openService({ replace: () => ({ packages }) });
    try {
      const found = await other.call('GET', `/packages/tenon-client-${versionNow}.tgz`);
      assert.deepEqual([found.statusCode, found.headers['cache-control']], [200, 'public, max-age=300']);
    } finally {
      await other.close();
    }
  });

  it('limits how many an address fetches', async () => {
    const other = await openService({ replace: () => ({ packages: own }), config: { publicReadsPerMinute: 3 } });
    try {
      for (const path of ['/packages', '/packages/tenon-client.tgz', '/packages/unknown']) {
        assert.notEqual((await other.call('GET', path)).statusCode, 429);
      }
      const rejected = await other.call('GET', '/packages/tenon-client.tgz');
      assertProblem(rejected, 429, 'rate_limited');
      assert.ok(Number(rejected.headers['retry-after']) > 0);
    } finally {
      await other.close();
    }
  });

  it('does without a build', async () => {
    assert.deepEqual(readOwnPackages(join(folder, 'nowhere')), []);
    const other = await openService({ replace: () => ({ packages: [] }) });
    try {
      assert.deepEqual((await other.call('GET', '/packages')).json(), { objects: [] });
      assertProblem(await other.call('GET', '/packages/tenon-client.tgz'), 404, 'not_found');
    } finally {
      await other.close();
    }
  });
});
