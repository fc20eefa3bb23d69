import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { copyStore } from '../../src/ops/copy/copy-store.ts';

/**
 * Copies a store, and kills itself: `node copy-child.ts <settings as JSON> <point>`. Points are counted from 1: each step, each batch
 * of rows and each piece of a content is one.
 */
const [settings = '', killAt = ''] = process.argv.slice(2);
const { from, to } = JSON.parse(settings);

let points = 0;
const point = (): void => {
  if (++points === Number(killAt)) process.kill(process.pid, 'SIGKILL');
};

await copyStore({
  from,
  to,
  clock: Date.now,
  random: randomBytes,
  onStep: point,
  signal: { throwIfAborted: point } as AbortSignal,
});
