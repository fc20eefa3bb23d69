import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newId } from './ids.ts';
import { isPluginName, isSemver } from './names.ts';
import {
  fromOciName,
  ociReferencesOf,
  ociRepositoryOf,
  ociTagOfSemver,
  ociTagsOf,
  parseOciTag,
  toOciName,
} from './oci-names.ts';

/** https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pulling-manifests */
const component = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/;
const maxRepositoryLength = 255 - 'registry.example.org:50000/'.length;

const table = [
  ['median', 'median'],
  ['a.b_c-d', 'a.b_c-d'],
  ['10', '10'],
  ['Median', 'x---median'],
  ['myPlugin', 'x--my-plugin'],
  ['a--b', 'x--a-2-2b'],
  ['a__b', 'x--a-1-1b'],
  ['a..b', 'x--a-0-0b'],
  ['a.', 'x--a-0'],
  ['a-B', 'x--a-2-b'],
  ['x--median', 'x--x-2-2median'],
  ['y--1', 'x--y-2-21'],
  ['A'.repeat(61), `x--${'-a'.repeat(61)}`],
] as const;

const characters = 'abzABZ019._-';

/** A linear congruential generator, so that the names are the same in each run. */
function* randomNames(count: number): Generator<string> {
  let state = 1;
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  while (count > 0) {
    const name = Array.from({ length: 1 + next(next(4) === 0 ? 100 : 6) }, () => characters[next(characters.length)]);
    if (!isPluginName(name.join(''))) continue;
    count--;
    yield name.join('');
  }
}

describe('toOciName()', () => {
  it('encodes names that OCI does not allow', () => {
    for (const [name, encoded] of table) {
      assert.equal(toOciName(name), encoded);
      assert.equal(fromOciName(encoded), name);
    }
  });

  it('returns different valid components for different names, which fromOciName() reverses', () => {
    const ids = [newId('app'), newId('extensionPoint'), newId('user')] as const;
    const names = new Map<string, string>();
    const longest = ['A', 'z', '9'].map((last) => `${'Z-'.repeat(49)}.${last}`);
    for (const name of [...randomNames(20_000), ...longest]) {
      const encoded = toOciName(name);
      assert.match(encoded, component);
      assert.equal(fromOciName(encoded), name);
      assert.equal(names.get(encoded) ?? name, name);
      names.set(encoded, name);
      assert.ok(ociRepositoryOf(...ids, name).length <= maxRepositoryLength);
    }
  });
});

describe('fromOciName()', () => {
  it('returns undefined for other texts', () => {
    const texts = [
      '',
      'Median',
      'a--b',
      'a__b',
      '.a',
      '../a',
      'x--',
      'x--median',
      'x---9a',
      'x--a-3',
      'x--a-',
      'y--',
      'y--1',
      'y--z',
    ];
    for (const text of [...texts, `y--${'z'.repeat(157)}`, `y--${'z'.repeat(100_000)}`, 'a\n', 'a/b', 'y--A']) {
      assert.equal(fromOciName(text), undefined, text.slice(0, 20));
    }
  });
});

describe('ociTagOfSemver()', () => {
  it('replaces the character that tags must not contain', () => {
    assert.equal(ociTagOfSemver('1.2.3-rc.1+build.5'), '1.2.3-rc.1_build.5');
    assert.ok(!isSemver('1.2.3_1'));
  });
});

describe('ociTagsOf()', () => {
  it('returns the number, then the semantic version', () => {
    assert.deepEqual(ociTagsOf({ number: 3, semver: null }), ['3']);
    assert.deepEqual(ociTagsOf({ number: 3, semver: '1.0.0+a' }), ['3', '1.0.0_a']);
  });
});

describe('parseOciTag()', () => {
  it('returns the version that a tag names', () => {
    for (const version of [
      { number: 12, semver: null },
      { number: 1, semver: '1.0.0-rc.1+a.b' },
    ]) {
      const tag = ociTagsOf(version).at(-1) as string;
      assert.deepEqual(parseOciTag(tag), version.semver === null ? version : { ...version, number: undefined });
    }
    for (const tag of ['latest', '0', '01', '1e3', '1234567890', '1.0', '1.0.0+a', '1.0.0_a_b', '_1.0.0', '']) {
      assert.equal(parseOciTag(tag), undefined, tag);
    }
  });
});

describe('ociReferencesOf()', () => {
  it('names a version by its tag, if it has one, and by its digest', () => {
    const names = { repository: 'localhost:3300/a/b', digest: 'sha256:0' };
    const byDigest = 'localhost:3300/a/b@sha256:0';
    assert.deepEqual(ociReferencesOf({ ...names, tag: '3' }, false), { byTag: 'localhost:3300/a/b:3', byDigest });
    assert.deepEqual(ociReferencesOf({ ...names, tag: '3' }, true), { byTag: undefined, byDigest });
    assert.deepEqual(ociReferencesOf({ ...names, tag: null }, false), { byTag: undefined, byDigest });
  });
});
