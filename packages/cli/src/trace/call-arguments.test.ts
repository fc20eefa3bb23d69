import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CliError } from '../errors.ts';
import { formatResults, parseArguments } from './call-arguments.ts';

describe('parseArguments()', () => {
  for (const [type, text, value] of [
    ['i32', '-1', -1],
    ['i32', '4294967295', -1],
    ['i32', '0x80000000', -2_147_483_648],
    ['i32', '+7', 7],
    ['i64', '-9223372036854775808', -(2n ** 63n)],
    ['i64', '18446744073709551615', -1n],
    ['i64', '-0x10', -16n],
    ['f32', '1.5e3', 1500],
    ['f64', '-0', -0],
    ['f64', '-inf', -Infinity],
    ['f64', 'NaN', Number.NaN],
  ] as const) {
    it(`reads ${text} as ${type}`, () => assert.ok(Object.is(parseArguments('f', [type], [text])[0], value)));
  }

  for (const [type, text] of [
    ['i32', '4294967296'],
    ['i32', '-2147483649'],
    ['i32', '1.5'],
    ['i32', ''],
    ['i32', '1_000'],
    ['i64', '18446744073709551616'],
    ['i64', '1n'],
    ['f64', ''],
    ['f64', ' 1'],
    ['f64', '1,5'],
    ['externref', '0'],
    ['v128', '0'],
  ] as const) {
    it(`refuses ${JSON.stringify(text)} as ${type}, and says which argument it is`, () => {
      assert.throws(
        () => parseArguments('f', ['i32', type], ['1', text]),
        (error: unknown) => error instanceof CliError && error.code === 'usage' && error.message.includes('Argument 2'),
      );
    });
  }

  it('says what an export takes when another number of arguments came', () => {
    assert.throws(() => parseArguments('f', ['i32', 'f64'], ['1']), /f takes 2 arguments \(i32, f64\), and 1 came/);
    assert.throws(() => parseArguments('f', [], ['1']), /f takes no argument, and 1 came/);
  });
});

describe('formatResults()', () => {
  it('writes a line for each value', () => {
    assert.equal(formatResults([1, -2n, 0.1, -0, null]), '1\n-2\n0.1\n-0\nnull\n');
    assert.equal(formatResults(7), '7\n');
    assert.equal(formatResults(undefined), '');
  });
});
