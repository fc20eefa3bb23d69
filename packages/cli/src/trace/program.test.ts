import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CliError } from '../errors.ts';
import { parseArguments } from './program.ts';

describe('parseArguments()', () => {
  it('parses one argument for each parameter that takes a value', () => {
    assert.deepEqual(parseArguments('f', ['i32', 'externref', 'i64'], ['7', '0x10']), [7, null, 16n]);
  });

  it('names the argument that is wrong', () => {
    assert.throws(
      () => parseArguments('f', ['externref', 'i32', 'f64'], ['1', '1,5']),
      (error: unknown) => error instanceof CliError && error.code === 'usage' && error.message.includes('Argument 2'),
    );
  });

  it('gives the number of arguments', () => {
    assert.throws(() => parseArguments('f', ['i32', 'f64'], ['1']), /f takes 2 arguments \(i32, f64\); got 1/);
    assert.throws(() => parseArguments('f', [], ['1']), /f takes no argument; got 1/);
  });
});
