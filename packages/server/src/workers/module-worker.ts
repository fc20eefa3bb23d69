import { parentPort } from 'node:worker_threads';
import { runTask, type Task } from './tasks.ts';

/** The code that runs in each worker thread: a task comes, a result goes. */
parentPort?.on('message', (task: Task) => {
  const result = runTask(task);
  const moved = result.ok && 'instrumented' in result ? [result.instrumented.bytes.buffer] : [];
  parentPort?.postMessage(result, moved);
});
