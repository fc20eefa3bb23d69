// Has a storm rage for longer than the tests do: nodes and their stores fail at random under load.
//
//   node test/storm/main.ts                          two minutes on PostgreSQL and an object store, a seed that no run has had
//   node test/storm/main.ts --minutes 5 --seed 7     longer, and one that is known
//   node test/storm/main.ts --house embedded         on a folder that the nodes share; `workers`: with several processes each
//   node test/storm/main.ts --only 'stands still'    with those disasters alone that are called so
//   node test/storm/main.ts --plant note-dropped     with a fault of `plants.ts`: whether it is found, and when; `all` tries each
import process from 'node:process';
import { parseArgs } from 'node:util';
import { plants } from './plants.ts';
import { houses, runStorm, type StormOptions } from './run.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    house: { type: 'string', default: 'several' },
    only: { type: 'string' },
    plant: { type: 'string' },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))];
const { plant } = values;
const isRight =
  minutes > 0 &&
  Number.isSafeInteger(seed) &&
  Object.hasOwn(houses, values.house) &&
  (plant === undefined || plant === 'all' || Object.hasOwn(plants, plant));
if (!isRight) {
  console.error('Expected --minutes to be a number above 0, --seed to be a whole number,');
  console.error(
    `--house to be ${Object.keys(houses).join(' or ')}, and --plant to be all, ${Object.keys(plants).join(', ')}`,
  );
  process.exit(2);
}
const options: StormOptions = {
  house: values.house as StormOptions['house'],
  seed,
  seconds: minutes * 60,
  only: values.only,
};
if (plant === undefined) await weather();
else for (const one of plant === 'all' ? Object.keys(plants) : [plant]) await seek(one);

async function weather(): Promise<void> {
  console.log(`${minutes} minutes with the seed ${seed}`);
  const { counts, longest, faults } = await runStorm(options);
  for (const [what, times] of [...counts].sort()) console.log(`${String(times).padStart(8)} ${what}`);
  for (const [what, ms] of longest) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s at the most ${what}`);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
  else console.log('Every answer was right, or said honestly that there was none; all that was acknowledged is there.');
}

async function seek(name: string): Promise<void> {
  const { what = '', on = options.house } = plants[name] ?? {};
  const { faults } = await runStorm({ ...options, house: on, plant: name });
  console.log(`${name} (${what}), ${on}: ${faults[0] === undefined ? 'NOT FOUND' : `found at ${faults[0]}`}`);
  if (faults.length === 0) process.exitCode = 1;
}
