import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readArgument, showResults, whyNotCallable } from './arguments.ts';

describe('readArgument()', () => {
  const fine: readonly [type: string, text: string, value: number | bigint | null][] = [
    ['i32', '42', 42],
    ['i32', ' -2147483648 ', -2147483648],
    ['i32', '4294967295', 4294967295],
    ['i32', '0xFF', 255],
    ['i32', '-0x10', -16],
    ['i32', '1_000', 1000],
    ['i64', '-9223372036854775808', -(1n << 63n)],
    ['i64', '18446744073709551615', (1n << 64n) - 1n],
    ['i64', '0b101', 5n],
    ['f64', '1.5e3', 1500],
    ['f64', '-inf', Number.NEGATIVE_INFINITY],
    ['f32', 'NaN', Number.NaN],
    ['f32', 'Infinity', Number.POSITIVE_INFINITY],
    ['externref', 'whatever', null],
  ];
  for (const [type, text, value] of fine) {
    it(`reads ${text} as ${type}`, () => assert.deepEqual(readArgument(type, text), { value }));
  }

  const wrong: readonly [type: string, text: string, fault: RegExp][] = [
    ['i32', '', /whole number/],
    ['i32', '1.5', /whole number/],
    ['i32', '4294967296', /from -2147483648 to 4294967295/],
    ['i32', '-2147483649', /of 32 bits/],
    ['i64', '18446744073709551616', /of 64 bits/],
    ['i64', '0x', /whole number/],
    ['f64', '', /number/],
    ['f64', '1,5', /number/],
    ['f32', 'one', /number/],
  ];
  for (const [type, text, fault] of wrong) {
    it(`refuses ${JSON.stringify(text)} as ${type}`, () => {
      const read = readArgument(type, text);
      assert.match('fault' in read ? read.fault : '', fault);
    });
  }
});

describe('whyNotCallable()', () => {
  it('has words for what JavaScript has not, and for what nobody can write', () => {
    assert.equal(whyNotCallable(['i32', 'i64', 'f32', 'f64', 'externref', '(ref null 3)'], ['(ref 3)']), undefined);
    assert.match(whyNotCallable([], ['v128']) ?? '', /v128/);
    assert.match(whyNotCallable(['(ref 3)'], []) ?? '', /It takes \(ref 3\)/);
  });
});

describe('showResults()', () => {
  it('writes values of every kind, with their types', () => {
    assert.equal(showResults([], undefined), 'nothing');
    assert.equal(showResults(['i32'], -1), '-1 (i32)');
    assert.equal(showResults(['i64', 'f64'], [5n, -0]), '5 (i64), -0 (f64)');
    assert.equal(showResults(['externref'], null), 'null (externref)');
    assert.equal(
      showResults(['funcref'], () => 0),
      'a function (funcref)',
    );
    assert.equal(showResults(['externref'], { toString: () => '<script>' }), 'a reference (externref)');
  });
});
