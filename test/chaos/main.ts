// A longer chaos test than in `npm run proof`: disrupts nodes and their stores at random under load.
//
//   node test/chaos/main.ts                            two minutes on PostgreSQL and an object store, with a random seed
//   node test/chaos/main.ts --minutes 5 --seed 7
//   node test/chaos/main.ts --environment embedded     nodes on a shared folder; `workers`: with two worker processes each
//   node test/chaos/main.ts --only paused              only disruptions whose name contains the text
//   node test/chaos/main.ts --fault stale-list         checks that a fault of `seeded-faults.ts` is detected; `all` checks each
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type ChaosOptions, environments, runChaos } from './run.ts';
import { seededFaults } from './seeded-faults.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    environment: { type: 'string', default: 'postgres' },
    only: { type: 'string' },
    fault: { type: 'string' },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))];
const { environment, only, fault } = values;
const isValid =
  minutes > 0 &&
  Number.isSafeInteger(seed) &&
  Object.hasOwn(environments, environment) &&
  (fault === undefined || fault === 'all' || Object.hasOwn(seededFaults, fault));
if (!isValid) {
  console.error('--minutes must be a number above 0, and --seed an integer');
  console.error(`--environment must be ${Object.keys(environments).join(' or ')}`);
  console.error(`--fault must be all, ${Object.keys(seededFaults).join(', ')}`);
  process.exit(2);
}
const options: ChaosOptions = { environment, seed, seconds: minutes * 60, only };
if (fault === undefined) await run();
else for (const name of fault === 'all' ? Object.keys(seededFaults) : [fault]) await detect(name);

async function run(): Promise<void> {
  console.log(`${minutes} minutes, seed ${seed}`);
  const { counts, longestMs, violations } = await runChaos(options);
  for (const [event, count] of [...counts].sort()) console.log(`${String(count).padStart(8)} ${event}`);
  for (const [operation, ms] of longestMs) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s maximum: ${operation}`);
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) process.exitCode = 1;
  else console.log('No violations.');
}

async function detect(name: string): Promise<void> {
  const { description = '', detectedBy = /^/, storeFault } = seededFaults[name] ?? {};
  const where = storeFault === undefined ? environment : 'postgres';
  const { violations } = await runChaos({ ...options, environment: where, seededFault: name });
  const detected = violations.find((violation) => detectedBy.test(violation));
  console.log(`${name} (${description}): ${detected === undefined ? 'NOT DETECTED' : `detected at ${detected}`}`);
  if (detected !== undefined) return;
  for (const violation of violations) console.error(violation);
  process.exitCode = 1;
}
