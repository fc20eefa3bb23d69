import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { volume } from '../../../test/helpers/volume.ts';
import { instrument } from '../src/index.ts';
import regressions from './regressions.json' with { type: 'json' };
import { checkAnyBytes, checkMutant, mutationOriginals } from './support/mutate.ts';
import { samples } from './support/samples.ts';

const mutationCount = volume(10_000, 100_000);

describe('instrument() on hostile input', async () => {
  const originals = await mutationOriginals();
  for (const [name, bytes] of Object.entries(await samples())) {
    it(`begins with ${name} that validates`, () => {
      assert.ok(checkAnyBytes(bytes, name));
    });

    it(`takes every prefix of ${name}`, () => {
      for (let length = 0; length < bytes.length; length++)
        checkAnyBytes(bytes.slice(0, length), `${length} bytes of ${name}`);
    });
  }

  it(`takes ${mutationCount} mutations of these and of 200 programs`, (test) => {
    let accepted = 0;
    for (let seed = 1; seed <= mutationCount; seed++) {
      if (checkMutant(seed, originals)) accepted++;
    }
    test.diagnostic(`${accepted} of them are valid modules`);
    assert.ok(accepted > mutationCount / 50, `only ${accepted} were valid modules: too few to show anything`);
  });

  for (const seed of regressions.mutations) {
    it(`still takes mutation ${seed}, which failed once`, () => {
      checkMutant(seed, originals);
    });
  }

  it('bounds what it keeps for sections, and for what is in them', () => {
    const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const sections = head.concat(new Array<number[]>(100_001).fill([0, 1, 0]).flat());
    assert.throws(() => instrument(Uint8Array.from(sections)), {
      code: 'module_too_complex',
      message: /at most 100,000 sections, found 100,001/,
    });
    const subsections = new Array<number[]>(50_000).fill([9, 0]).flat();
    const size = 5 + subsections.length;
    const name = [0, (size & 0x7f) | 0x80, ((size >> 7) & 0x7f) | 0x80, size >> 14, 4, 0x6e, 0x61, 0x6d, 0x65];
    const type = [1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 4, 1, 2, 0, 0x0b];
    const { report } = instrument(Uint8Array.from([...head, ...type, ...name].concat(subsections)));
    assert.equal(report.notes.length, 1);
  });

  it('takes counts that the bytes cannot hold without room for them', () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let id = 1; id <= 13; id++) {
      const section = [id, 6, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00];
      checkAnyBytes(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section]), `section ${id}`);
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
  });
});
