import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { migrateStore } from '../../src/migrate-store/migrate-store.ts';

/** Moves a store, and kills itself before a step: `node migrate-store-child.ts <settings as JSON> <step>`. */
const [settings = '', killBefore] = process.argv.slice(2);
const { from, to } = JSON.parse(settings);

await migrateStore({
  from,
  to,
  clock: Date.now,
  random: randomBytes,
  onStep(step) {
    if (step === killBefore) process.kill(process.pid, 'SIGKILL');
  },
});
