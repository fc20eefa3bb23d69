import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { OptionError } from '../../bench/support/options.ts';
import { readScaleOptions } from '../../bench/support/scale-options.ts';

describe('readScaleOptions()', () => {
  it('has defaults, and takes sizes with commas', () => {
    const options = readScaleOptions(['--keys', '10,1000000', '--store', 'postgres']);
    if (options === 'help') throw new Error('unexpected help');
    assert.deepEqual([options.sizes, options.stores, options.rounds], [[10, 1_000_000], ['postgres'], 3]);
    assert.equal(readScaleOptions(['--help']), 'help');
  });

  it('says what is wrong with others, and with a file that nothing can be written to, before anything is measured', () => {
    const nowhere = join(tmpdir(), 'tenon-there-is-no-such-folder', 'a.svg');
    const faulty = [
      [['--keys', '10,x'], /--keys "x": expected whole numbers/],
      [['--keys', '0'], /--keys "0"/],
      [['--store', 'oracle'], /--store "oracle": expected embedded, postgres/],
      [['--seconds', 'x'], /--seconds "x"/],
      [['--rounds', '0'], /--rounds "0"/],
      [['--svg'], /--svg/],
      [['--svg', nowhere], /--svg ".*a\.svg": ENOENT/],
    ] as const;
    for (const [args, message] of faulty) {
      assert.throws(
        () => readScaleOptions(args),
        (error) => error instanceof OptionError && message.test(error.message),
        args.join(' '),
      );
    }
  });
});
