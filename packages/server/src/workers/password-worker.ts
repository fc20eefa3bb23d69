import { parentPort } from 'node:worker_threads';
import { type PasswordTask, runPasswordTask } from './password-tasks.ts';

/** The code that runs in each worker thread for passwords: a task comes, a result goes. */
parentPort?.on('message', (task: PasswordTask) => {
  parentPort?.postMessage(runPasswordTask(task));
});
