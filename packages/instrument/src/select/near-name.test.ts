import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom, type Random } from '../../../../test/helpers/random.ts';
import { createNearNameSearch } from './near-name.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function nearest(wanted: string, names: readonly string[]): string | undefined {
  const search = createNearNameSearch(encode(wanted));
  for (const name of names) {
    const bytes = encode(`<${name}>`);
    search.offer(bytes, 1, bytes.length - 1);
  }
  const found = search.nearest();
  return found && new TextDecoder().decode(found);
}

/** The textbook's table, whole. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: a.length + 1 }, (_, column) => column);
  for (const [at, letter] of [...b].entries()) {
    const next = [at + 1];
    for (let column = 1; column <= a.length; column++) {
      const exchanged = (row[column - 1] as number) + (a[column - 1] === letter ? 0 : 1);
      next.push(Math.min(exchanged, (row[column] as number) + 1, (next[column - 1] as number) + 1));
    }
    row = next;
  }
  return row[a.length] as number;
}

describe('createNearNameSearch()', () => {
  it('finds the nearest of the names, the first of equals', () => {
    assert.equal(nearest('grete', ['count', 'gret', 'greet', 'great']), 'gret');
    assert.equal(nearest('malloc', ['free', 'dlmalloc', 'realloc', 'calloc']), 'calloc');
    assert.equal(nearest('env.logg', ['env.log']), 'env.log');
  });

  it('finds nothing where nothing is near', () => {
    assert.equal(nearest('greet', ['sprint', 'count_vowels', '']), undefined);
    assert.equal(nearest('a', ['b', 'ab']), undefined);
    assert.equal(nearest('', ['a']), undefined);
    assert.equal(nearest('x'.repeat(2_000), [`${'x'.repeat(1_999)}y`]), undefined);
  });

  it('agrees with the distance of the textbook', () => {
    const random = createRandom(7);
    for (let round = 0; round < 5_000; round++) {
      const [a, b] = [word(random), word(random)];
      const limit = Math.min(3, Math.floor((a.length + 1) / 3));
      assert.equal(nearest(a, [b]), limit > 0 && distance(a, b) <= limit ? b : undefined, `${a} ${b}`);
    }
  });

  it('gives up on a module made to keep it busy', () => {
    const name = encode(`${'ab'.repeat(240)}c`);
    const search = createNearNameSearch(encode(`x${'ab'.repeat(240)}y`));
    const begin = performance.now();
    for (let round = 0; round < 200_000; round++) search.offer(name, 0, name.length);
    assert.ok(performance.now() - begin < 30_000);
    search.offer(encode(`x${'ab'.repeat(240)}`), 0, 481);
    assert.notEqual(search.nearest()?.length, 482);
  });
});

function word(random: Random): string {
  return Array.from({ length: random.between(1, 11) }, () => random.pick(['a', 'b', 'c'])).join('');
}
