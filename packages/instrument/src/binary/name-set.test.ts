import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createNameSet } from './name-set.ts';

function addAll(names: readonly string[]): boolean[] {
  const encoded = names.map((name) => new TextEncoder().encode(name));
  const bytes = new Uint8Array(encoded.reduce((total, { length }) => total + length, 0));
  const set = createNameSet(bytes, names.length);
  let at = 0;
  return encoded.map((name) => {
    bytes.set(name, at);
    at += name.length;
    return set.add(at - name.length, at);
  });
}

describe('createNameSet()', () => {
  it('takes each name once, whatever its length', () => {
    const names = ['', 'a', 'ab', 'abc', 'abcd', 'abcde', 'abcdefgh', 'abcdefgi', 'ä', 'a'.repeat(1_000)];
    assert.deepEqual(addAll([...names, ...names]), [...names.map(() => true), ...names.map(() => false)]);
  });

  it('tells thousands of names apart', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `_ZN4core3fmt${index % 4_000}E`);
    assert.deepEqual(
      addAll(names),
      names.map((_, index) => index < 4_000),
    );
  });

  it('stays right where names were made to collide', () => {
    // Names of two words: whatever the first is, the second can bring the hash to the same value.
    const mix = (hash: number, word: number) => {
      const product = Math.imul(hash ^ word, 0x9e37_79b1);
      return product ^ (product >>> 15);
    };
    const names: Uint8Array[] = [];
    for (let first = 1; names.length < 200; first++) {
      const second = mix(8, first); // XOR of the hash with itself is zero
      names.push(new Uint8Array(Int32Array.of(first, second).buffer));
    }
    const bytes = new Uint8Array(names.flatMap((name) => [...name]));
    const set = createNameSet(bytes, 400);
    const add = (_: unknown, index: number) => set.add(8 * index, 8 * index + 8);
    const firstTime = names.map(add);
    assert.ok(firstTime.slice(0, 64).every((isNew) => isNew));
    assert.ok(names.map(add).every((isNew) => !isNew));
  });
});
