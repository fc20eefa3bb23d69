import process from 'node:process';

/** How much the tests do that rest on chance or on many repetitions: `npm run proof` sets `TEST_VOLUME=proof`. */
export const isProof: boolean = process.env.TEST_VOLUME === 'proof';

/** A number of sequences, programs, or mutations: the first in the quick run, the second in the proof. */
export function volume(quick: number, proof: number): number {
  return isProof ? proof : quick;
}
