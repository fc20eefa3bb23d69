import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeSpan, smallTrace } from '../../test/support/make-span.ts';
import { foldedStacks } from './folded-stacks.ts';

describe('foldedStacks()', () => {
  it('gives each stack the time of its last function itself', () => {
    assert.equal(
      foldedStacks(smallTrace()),
      ['_start 3070', '_start;main 1412', '_start;main;parse(int) 1000000', '_start;main;run 11795518', ''].join('\n'),
    );
  });

  it('adds up to what the roots took', () => {
    const total = foldedStacks(smallTrace())
      .trimEnd()
      .split('\n')
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    assert.equal(total, 12_800_000);
  });

  it('writes what the format has no way to hold as something else', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 5, name: 'a;b\r\nc d' }),
      makeSpan({ id: 2, start: 6, end: 9, name: 'a:b c d' }),
    ];
    assert.equal(foldedStacks(spans), 'a:b c d 8\n');
  });

  it('counts what lies deeper for the deepest call that it shows', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) =>
      makeSpan({
        id: index + 1,
        ...(index > 0 && { parent: index }),
        start: index,
        end: 90_000,
        name: 'f',
        selfTimeNano: 1n,
      }),
    );
    assert.equal(foldedStacks(chain, { maxDepth: 3 }), 'f 1\nf;f 1\nf;f;f 19998\n');
    assert.equal(foldedStacks(chain).split('\n').length, 501);
  });

  it('leaves stacks without time of their own out', () => {
    const spans = [
      makeSpan({ id: 1, start: 0, end: 5, selfTimeNano: 0n }),
      makeSpan({ id: 2, parent: 1, start: 0, end: 5 }),
    ];
    assert.equal(foldedStacks(spans), 'f1;f2 5\n');
    assert.equal(foldedStacks([]), '');
  });
});
