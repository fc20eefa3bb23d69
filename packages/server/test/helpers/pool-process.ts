import process from 'node:process';
import { serveTasks } from '../../src/workers/serve-tasks.ts';
import { localsBomb } from './slow-module.ts';

/** The tasks of the pool's tests. */
export type PoolTask = 'echo' | 'spin' | 'validate' | 'crash' | 'exit' | 'hoard' | 'last' | 'environment';

serveTasks<PoolTask, number>((task) => {
  if (task === 'spin') for (;;);
  if (task === 'validate') WebAssembly.validate(new Uint8Array(localsBomb(1_000_000)));
  if (task === 'crash') throw new Error('as requested');
  if (task === 'exit') process.exit(3);
  if (task === 'hoard') for (const all: object[][] = []; ; ) all.push(Array.from({ length: 1e5 }, (_, at) => ({ at })));
  const variables = Object.keys(process.env).filter((name) => name !== 'NODE_COMPILE_CACHE');
  const result = task === 'environment' ? variables.length : process.pid;
  return { result, shouldRecycle: task === 'last' };
});
