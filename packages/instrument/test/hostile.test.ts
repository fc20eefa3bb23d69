import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InstrumentError, instrument } from '../src/index.ts';
import { createRandom } from './support/random.ts';
import { samples } from './support/samples.ts';

/** Bytes that a format of counts and indices is likely to stumble over. */
const nasty = [0x00, 0x01, 0x0b, 0x40, 0x60, 0x7f, 0x80, 0xff];

function mutate(bytes: Uint8Array, random: (below: number) => number): Uint8Array {
  const mutant = Array.from(bytes);
  for (let changes = 1 + random(3); changes > 0; changes--) {
    const at = 8 + random(mutant.length - 8);
    const how = random(5);
    if (how === 0) mutant[at] = random(256);
    else if (how === 1) mutant[at] = nasty[random(nasty.length)] as number;
    else if (how === 2) mutant[at] = ((mutant[at] as number) ^ (1 << random(8))) & 0xff;
    else if (how === 3) mutant.splice(at, 1 + random(4));
    else mutant.splice(at, 0, ...Array.from({ length: 1 + random(4) }, () => nasty[random(nasty.length)] as number));
  }
  return Uint8Array.from(mutant);
}

/** A typed error with an offset, or an output that the engine accepts if it accepts the input. True for the latter. */
function check(input: Uint8Array, what: string): boolean {
  const isValid = WebAssembly.validate(new Uint8Array(input));
  try {
    const { bytes } = instrument(input);
    if (!isValid) return false;
    assert.ok(WebAssembly.validate(new Uint8Array(bytes)), `${what}: the output validates as the input does`);
    return true;
  } catch (error) {
    assert.ok(error instanceof InstrumentError, `${what}: ${error}`);
    assert.ok(error.offset !== undefined && error.offset <= input.length, `${what}: ${error.message}`);
    assert.match(error.message, /\(at offset 0x[0-9a-f]+\)$/);
    if (isValid) assert.equal(error.code, 'unsupported_feature', `${what}: ${error.message}`);
    return false;
  }
}

describe('instrument() on hostile input', async () => {
  for (const [name, bytes] of Object.entries(await samples())) {
    it(`begins with ${name} that validates`, () => {
      assert.ok(check(bytes, name));
    });

    it(`takes every prefix of ${name}`, () => {
      for (let length = 0; length < bytes.length; length++) check(bytes.slice(0, length), `${length} bytes of ${name}`);
    });

    it(`takes 2,000 mutations of ${name}`, () => {
      let accepted = 0;
      for (let seed = 1; seed <= 2_000; seed++) {
        if (check(mutate(bytes, createRandom(seed)), `mutation ${seed} of ${name}`)) accepted++;
      }
      assert.ok(accepted > 20, `only ${accepted} mutations were valid modules: too few to show anything`);
    });
  }

  it('bounds what it keeps for sections, and for what is in them', () => {
    const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    const sections = head.concat(new Array<number[]>(100_001).fill([0, 1, 0]).flat());
    assert.throws(() => instrument(Uint8Array.from(sections)), {
      code: 'unsupported_feature',
      message: /100,001 sections/,
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
      check(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section]), `section ${id}`);
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
  });
});
