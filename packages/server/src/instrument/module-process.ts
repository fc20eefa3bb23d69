import { flushCompileCache } from 'node:module';
import { countTypes } from '@tenon/instrument';
import { serveTasks } from '../workers/serve-tasks.ts';
import { runTask, type Task, type TaskResult } from './module-tasks.ts';

/**
 * V8 never frees the function, struct and array types of modules, and aborts the process at two million types. A module may declare a
 * million types. Its instrumented form declares the same ones.
 */
const maxTypeCount = 500_000;
let typeCount = 0;

flushCompileCache(); // SIGKILL ends most of these processes

serveTasks<Task, TaskResult>((task) => {
  const result = runTask(task);
  if ('bytes' in task) typeCount += countTypes(task.bytes);
  return { result, shouldRecycle: typeCount > maxTypeCount };
});
