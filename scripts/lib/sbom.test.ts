import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatBom, serverBom } from './sbom.mjs';
import { root } from './workspace.mjs';

/** The rules of https://cyclonedx.org/docs/1.6/json/ for the fields that the document has. */
function assertCycloneDx(bom: ReturnType<typeof serverBom>): void {
  assert.deepEqual([bom.bomFormat, bom.specVersion, bom.version], ['CycloneDX', '1.6', 1]);
  const all = [bom.metadata.component, ...bom.components];
  const references = all.map((each) => each['bom-ref']);
  assert.equal(new Set(references).size, references.length, 'each bom-ref is unique');
  for (const each of all) {
    assert.ok(['application', 'library', 'platform'].includes(each.type));
    assert.ok(each.name !== '' && each.version !== '');
    assert.match(each.purl, /^pkg:(?:npm\/(?:%40[\w.-]+\/)?[\w.-]+|generic\/node)@[\w.%+-]+$/);
    for (const { alg, content } of 'hashes' in each ? (each.hashes ?? []) : []) {
      assert.ok(['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'].includes(alg), alg);
      assert.match(content, /^(?:[a-f0-9]{40}|[a-f0-9]{64}|[a-f0-9]{96}|[a-f0-9]{128})$/);
    }
    const licenses = 'licenses' in each ? (each.licenses ?? []) : [];
    assert.ok(licenses.length <= 1 || licenses.every((license) => !('expression' in license)));
  }
  for (const { ref, dependsOn } of bom.dependencies) {
    assert.ok(references.includes(ref), ref);
    assert.equal(new Set(dependsOn).size, dependsOn.length);
    for (const each of dependsOn) assert.ok(references.includes(each), each);
  }
}

describe('serverBom()', () => {
  it('describes the production dependencies of the server as CycloneDX', () => {
    const bom = serverBom();
    assertCycloneDx(bom);
    const names = bom.components.map((each) => ('group' in each ? `${each.group}/${each.name}` : each.name));
    for (const name of ['@tenon/server', '@tenon/client', 'kysely', 'pg', 'commander', '@sigstore/verify', 'node']) {
      assert.ok(names.includes(name), name);
    }
    for (const name of ['@biomejs/biome', 'typescript', 'playwright-core', 'vite'])
      assert.ok(!names.includes(name), name);
  });

  it('writes the same bytes each time', () => {
    assert.equal(formatBom(serverBom()), formatBom(serverBom()));
  });

  it('lists what is installed, in that version', () => {
    const listed = serverBom().components.map(
      ({ purl }) => /^pkg:npm\/(.+)@([^@]+)$/.exec(decodeURIComponent(purl)) ?? [],
    );
    const byName = Map.groupBy(listed, ([, name = '']) => name);
    for (const [name, all] of byName) {
      const manifests = ['', 'packages/server', 'packages/cli']
        .map((folder) => join(root, folder, 'node_modules', name, 'package.json'))
        .filter((file) => existsSync(file));
      if (name === '' || manifests.length === 0) continue; // Node.js, and packages nested in others
      const versions = manifests.map((file) => JSON.parse(readFileSync(file, 'utf8')).version);
      assert.ok(
        all.some(([, , version]) => versions.includes(version)),
        `${name}: ${versions}`,
      );
    }
  });

  it('resolves nested packages, links, and two versions of one package', () => {
    const sha512 = Buffer.alloc(64, 1);
    const lock = {
      packages: {
        'packages/cli': { name: '@tenon/cli', version: '1.0.0', dependencies: { a: '1', '@tenon/b': '1' } },
        'packages/b': { name: '@tenon/b', version: '1.0.0', license: 'Apache-2.0', dependencies: { c: '2' } },
        'packages/b/node_modules/c': { version: '2.0.0' },
        'node_modules/@tenon/b': { link: true, resolved: 'packages/b' },
        'node_modules/a': {
          version: '1.0.0+x',
          license: '(MIT OR CC0-1.0)',
          integrity: `sha512-${sha512.toString('base64')}`,
          dependencies: { c: '1' },
        },
        'node_modules/c': { version: '1.0.0' },
        'node_modules/unused': { version: '1.0.0' },
      },
    };
    const bom = serverBom(lock, '26.0.0');
    assertCycloneDx(bom);
    assert.deepEqual(
      bom.components.map(({ purl }) => purl),
      [
        'pkg:npm/%40tenon/b@1.0.0',
        'pkg:npm/a@1.0.0%2Bx',
        'pkg:npm/c@1.0.0',
        'pkg:npm/c@2.0.0',
        'pkg:generic/node@26.0.0',
      ],
    );
    assert.deepEqual(bom.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/%40tenon/b'))?.dependsOn, [
      'pkg:npm/c@2.0.0',
    ]);
    const a = bom.components.find(({ name }) => name === 'a');
    assert.deepEqual(a, {
      type: 'library',
      'bom-ref': 'pkg:npm/a@1.0.0%2Bx',
      name: 'a',
      version: '1.0.0+x',
      hashes: [{ alg: 'SHA-512', content: sha512.toString('hex') }],
      licenses: [{ expression: '(MIT OR CC0-1.0)' }],
      purl: 'pkg:npm/a@1.0.0%2Bx',
    });
  });

  it('fails for a dependency that the lock file lacks', () => {
    const lock = { packages: { 'packages/cli': { name: '@tenon/cli', dependencies: { gone: '1' } } } };
    assert.throws(() => serverBom(lock), /The lock file has no gone, which packages\/cli needs/);
  });
});
