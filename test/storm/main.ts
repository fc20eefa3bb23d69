// Has a storm rage for longer than the tests do: nodes, PostgreSQL and the object store fail at random under load.
//
//   node test/storm/main.ts                          two minutes, a seed that no run has had
//   node test/storm/main.ts --minutes 5 --seed 7     longer, and one that is known
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runStorm } from './run.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '2' }, seed: { type: 'string' } } });
const [minutes, seed] = [Number(values.minutes), Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))];
if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error('Expected --minutes to be a number above 0, and --seed to be a whole number');
  process.exit(2);
}
console.log(`${minutes} minutes with the seed ${seed}`);
const { counts, faults } = await runStorm({ seed, seconds: minutes * 60 });
for (const [what, times] of [...counts].sort()) console.log(`${String(times).padStart(8)} ${what}`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
else console.log('Every answer was right, or said honestly that there was none; all that was acknowledged is there.');
