import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RetiredWord, retiredWordFaults } from './retired-words.mjs';

describe('retiredWordFaults()', () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'words-'));
  });
  after(() => rm(root, { recursive: true }));

  async function faults(text: string, word: RetiredWord, name = 'a.ts'): Promise<string[]> {
    await writeFile(join(root, name), text);
    return retiredWordFaults(root, [name], [word]);
  }

  it('finds a whole identifier, with its line and the term to write', async () => {
    const word = { identifier: 'Memories', use: 'Cache', in: ['*.ts'] };
    assert.deepEqual(await faults('const a = 1;\nnew Memories();\n', word), [
      'a.ts:2: "Memories" is retired: write Cache',
    ]);
    assert.deepEqual(await faults('new MemoriesOf(memories, $Memories);', word), []);
  });

  it('takes a final * for a rest that begins with a capital letter', async () => {
    const word = { identifier: 'demand*', use: 'require*', in: ['*.ts'] };
    assert.equal((await faults('demandRole(); demandGuests(); demanding(); demand();', word)).length, 2);
  });

  it('takes a leading * for any beginning', async () => {
    const word = { identifier: '*Wish', use: '*Request', in: ['*.ts'] };
    assert.equal((await faults('CollectWish; a.myWish; Wish; wishes; CollectWishes;', word)).length, 2);
  });

  it('finds a phrase in any case, over the line break of a comment', async () => {
    const word = { phrase: 'at the most', use: 'at most', in: ['*.ts'] };
    assert.equal((await faults('/**\n * Ten at the\n * most. At the most.\n */', word)).length, 2);
    assert.equal((await faults('// at\n// the most', word)).length, 1);
    assert.equal((await faults('at the mostly', word)).length, 0);
  });

  it('leaves other files and exceptions alone', async () => {
    const word = { phrase: 'anew', use: 'again', in: ['*.ts'], except: { 'b.ts': 'quotes it' } };
    assert.deepEqual(await faults('anew', word, 'b.ts'), []);
    assert.deepEqual(await faults('anew', word, 'c.md'), []);
    assert.equal((await faults('anew', word)).length, 1);
  });
});
