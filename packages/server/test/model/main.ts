// Holds the service against the model of versions for longer than the tests do.
//
//   node packages/server/test/model/main.ts                        100,000 sequences that no run has had
//   node packages/server/test/model/main.ts --sequences 1000000    more
//   node packages/server/test/model/main.ts --seed 12345           from this seed on: with --sequences 1, one that failed
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { openRunners } from './run.ts';

const { values } = parseArgs({
  options: { sequences: { type: 'string', default: '100000' }, seed: { type: 'string' } },
});
const count = Number(values.sequences);
/** Seeds of the tests are below. */
const firstSeed =
  values.seed === undefined ? 1_000_000 + Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(firstSeed)) {
  console.error('Expected --sequences to be a whole number above 0, and --seed to be a whole number');
  process.exit(2);
}
const runners = openRunners({ threads: Math.min(count, availableParallelism()) });
const tally = await runners.run({ firstSeed, count }).finally(() => runners.close());
console.log(`${count} sequences from seed ${firstSeed} on, and no disagreement:`);
for (const [name, times] of [...tally].sort()) console.log(`${String(times).padStart(9)} ${name}`);
