import { parentPort } from 'node:worker_threads';
import { runTask, type Task, type TaskResult } from './tasks.ts';

/** The code that runs in each worker thread: a task comes, a result goes. */
parentPort?.on('message', (task: Task) => {
  const result = runTask(task);
  parentPort?.postMessage(result, movedWith(result));
  // A thread that has nothing to do collects no garbage. What was answered with is gone from here already.
  if ('bytes' in task && !task.bytes.buffer.detached) task.bytes.buffer.transfer(0);
});

/** What the main thread is given rather than a copy of. */
function movedWith(result: TaskResult): ArrayBuffer[] {
  if (!result.ok) return [];
  if ('instrumented' in result) return [result.instrumented.bytes.buffer];
  return 'report' in result ? [result.report.buffer] : [];
}
