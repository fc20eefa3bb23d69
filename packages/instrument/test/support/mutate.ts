import assert from 'node:assert/strict';
import { encode } from '../../../../test/helpers/call-trees/encode.ts';
import { makeProgram } from '../../../../test/helpers/call-trees/make-program.ts';
import { createRandom, type Random } from '../../../../test/helpers/random.ts';
import { InstrumentError, type InstrumentOptions, instrument } from '../../src/index.ts';
import { samples } from './samples.ts';

/** Bytes that a format of counts and indices is likely to stumble over. */
const nasty = [0x00, 0x01, 0x0b, 0x40, 0x60, 0x7f, 0x80, 0xff];

/** One to three changes behind the preamble: bytes replaced, flipped, left out or put in. */
export function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  const mutant = Array.from(bytes);
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const at = 8 + random.below(mutant.length - 8);
    const how = random.below(5);
    if (how === 0) mutant[at] = random.below(256);
    else if (how === 1) mutant[at] = nasty[random.below(nasty.length)] as number;
    else if (how === 2) mutant[at] = ((mutant[at] as number) ^ (1 << random.below(8))) & 0xff;
    else if (how === 3) mutant.splice(at, 1 + random.below(4));
    else
      mutant.splice(
        at,
        0,
        ...Array.from({ length: 1 + random.below(4) }, () => nasty[random.below(nasty.length)] as number),
      );
  }
  return Uint8Array.from(mutant);
}

/**
 * What is promised for any bytes: a typed error with an offset, or an output that the engine accepts if it accepts the
 * input. True for the latter.
 */
export function checkAnyBytes(input: Uint8Array, what: string, options: InstrumentOptions = {}): boolean {
  const isValid = WebAssembly.validate(new Uint8Array(input));
  try {
    const { bytes } = instrument(input, options);
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

/** What is mutated: the samples, and modules of known programs, some of them with padded numbers. */
export async function mutationOriginals(): Promise<Uint8Array[]> {
  const programs = Array.from({ length: 200 }, (_, seed) => encode(makeProgram(seed), seed));
  const own = Object.values(await samples());
  // Every other mutant is one of a sample.
  return programs.flatMap((program, index) => [program, own[index % own.length] as Uint8Array]);
}

/** Checks the mutant of a seed. */
export function checkMutant(seed: number, originals: readonly Uint8Array[], options?: InstrumentOptions): boolean {
  const original = originals[seed % originals.length] as Uint8Array;
  return checkAnyBytes(mutate(original, createRandom(seed)), `mutation ${seed}`, options);
}
