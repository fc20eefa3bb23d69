import { parentPort } from 'node:worker_threads';
import { type PasswordTask, runPasswordTask } from './password-tasks.ts';

// The main module of each password worker thread.
parentPort?.on('message', (task: PasswordTask) => {
  parentPort?.postMessage(runPasswordTask(task));
});
