import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatValue, parseArgument, whyNotCallable } from './arguments.ts';

describe('parseArgument()', () => {
  const accepted: readonly [type: string, text: string, value: number | bigint | null][] = [
    ['i32', '42', 42],
    ['i32', '-1', -1],
    ['i32', '+7', 7],
    ['i32', ' -2147483648 ', -2147483648],
    ['i32', '4294967295', -1],
    ['i32', '0x80000000', -2147483648],
    ['i32', '0xFF', 255],
    ['i32', '-0x10', -16],
    ['i32', '1_000', 1000],
    ['i32', '0o17', 15],
    ['i64', '-9223372036854775808', -(1n << 63n)],
    ['i64', '18446744073709551615', -1n],
    ['i64', '-0x10', -16n],
    ['i64', '0b1_01', 5n],
    ['f32', '1.5e3', 1500],
    ['f64', '1_000.25', 1000.25],
    ['f64', '-0', -0],
    ['f64', '-inf', Number.NEGATIVE_INFINITY],
    ['f64', ' 1', 1],
    ['f32', 'NaN', Number.NaN],
    ['f32', 'Infinity', Number.POSITIVE_INFINITY],
    ['externref', 'anything', null],
  ];
  for (const [type, text, value] of accepted) {
    it(`accepts ${JSON.stringify(text)} as ${type}`, () => assert.deepEqual(parseArgument(type, text), { value }));
  }

  const refused: readonly [type: string, text: string, expected: RegExp][] = [
    ['i32', '', /integer/],
    ['i32', '1.5', /integer/],
    ['i32', '4294967296', /from -2147483648 to 4294967295/],
    ['i32', '-2147483649', /of 32 bits/],
    ['i32', '_1', /integer/],
    ['i32', '1__0', /integer/],
    ['i32', '1_', /integer/],
    ['i64', '18446744073709551616', /of 64 bits/],
    ['i64', '0x', /integer/],
    ['i64', '1n', /integer/],
    ['f64', '', /number/],
    ['f64', '_', /number/],
    ['f64', '1,5', /number/],
    ['f32', 'one', /number/],
  ];
  for (const [type, text, expected] of refused) {
    it(`refuses ${JSON.stringify(text)} as ${type}`, () => {
      const parsed = parseArgument(type, text);
      assert.match('expected' in parsed ? parsed.expected : '', expected);
    });
  }
});

describe('whyNotCallable()', () => {
  it('refuses v128 and references that are never null', () => {
    assert.equal(whyNotCallable(['i32', 'i64', 'f32', 'f64', 'externref', '(ref null 3)'], ['(ref 3)']), undefined);
    assert.match(whyNotCallable([], ['v128']) ?? '', /v128/);
    assert.match(whyNotCallable(['(ref 3)'], []) ?? '', /type \(ref 3\)/);
  });
});

describe('formatValue()', () => {
  it('formats values of every type', () => {
    const values = [-1, 5n, 0.1, -0, null, () => 0, { toString: () => '<script>' }];
    assert.deepEqual(values.map(formatValue), ['-1', '5', '0.1', '-0', 'null', 'a function', 'a reference']);
  });
});
