import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPatternMatcher } from './pattern.ts';

function matching(patterns: readonly string[], name: string): string[] {
  const bytes = new TextEncoder().encode(`<${name}>`);
  const found: string[] = [];
  createPatternMatcher(patterns)(bytes, 1, bytes.length - 1, (pattern) => found.push(pattern));
  return found;
}

/** The same by way of a regular expression. */
function expected(pattern: string, name: string): boolean {
  const source = pattern.replace(/\\?./gsu, (token) => {
    if (token === '*') return '.*';
    if (token === '?') return '.';
    return (token.length > 1 && token.startsWith('\\') ? token.slice(1) : token).replace(
      /[$()*+.?[\\\]^{|}/-]/,
      '\\$&',
    );
  });
  return new RegExp(`^${source}$`, 'su').test(name);
}

describe('createPatternMatcher()', () => {
  for (const [pattern, yes, no] of [
    ['*', ['', 'a', 'über\n'], []],
    ['a*', ['a', 'ab', 'a*'], ['', 'ba']],
    ['*a', ['a', 'ba', 'aaa'], ['ab']],
    ['a*b*c', ['abc', 'abbc', 'axbxcxc'], ['acb', 'ab']],
    ['?', ['a', 'ü', '🙂'], ['', 'ab']],
    ['*?ü', ['xü', '🙂ü', 'üü'], ['ü']],
    ['core::fmt::*', ['core::fmt::write'], ['core::fmt', 'xcore::fmt::write']],
    ['operator\\*', ['operator*'], ['operator', 'operator\\*', 'operatorx']],
    ['a\\', ['a\\'], ['a']],
    ['a**b', ['ab', 'axb'], ['a']],
  ] as const) {
    it(`matches ${pattern} against the whole name`, () => {
      for (const name of yes) assert.deepEqual(matching([pattern], name), [pattern], name);
      for (const name of no) assert.deepEqual(matching([pattern], name), [], name);
    });
  }

  it('agrees with regular expressions on every short pattern and name', () => {
    const patterns = words(['a', 'ü', '*', '?', '\\'], 4);
    const names = words(['a', 'ü', '*'], 4);
    for (const name of names) {
      const wanted = patterns.filter((pattern) => expected(pattern, name));
      for (let at = 0; at < patterns.length; at += 500) {
        const some = patterns.slice(at, at + 500);
        assert.deepEqual(
          matching(some, name),
          some.filter((pattern) => wanted.includes(pattern)),
          name,
        );
      }
    }
  });

  it('takes at most the product of the lengths, where others take exponential time', () => {
    const name = new TextEncoder().encode('a'.repeat(2_000));
    const hostile = [`${'*a'.repeat(400)}*b`, `*${'a'.repeat(900)}b`];
    const product = hostile.reduce((total, pattern) => total + pattern.length * name.length, 0);
    createPatternMatcher(hostile, product)(name, 0, name.length, () => assert.fail());
  });

  it('says when it gives up, in the middle of a name too', () => {
    const name = new TextEncoder().encode('a'.repeat(1_000_000));
    const match = createPatternMatcher([`*${'a'.repeat(900)}b`], 1_000_000);
    const begin = performance.now();
    assert.throws(() => match(name, 0, name.length, () => assert.fail()), {
      code: 'invalid_config',
      message: /in 1000000 steps/,
    });
    assert.ok(performance.now() - begin < 10_000, 'the whole name would take a thousand times as long');
  });

  it('refuses more or longer patterns than it promises to take', () => {
    assert.throws(() => createPatternMatcher(['a'.repeat(1_001)]), { code: 'invalid_config', message: /1000 bytes/ });
    assert.throws(() => createPatternMatcher(Array.from({ length: 1_001 }, () => '*')), { code: 'invalid_config' });
  });
});

function words(letters: readonly string[], maxLength: number): string[] {
  let last = [''];
  const all = [''];
  for (let length = 1; length <= maxLength; length++) {
    last = last.flatMap((word) => letters.map((letter) => word + letter));
    all.push(...last);
  }
  return all;
}
