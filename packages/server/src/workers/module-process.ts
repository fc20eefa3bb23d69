import { countTypes } from '@tenon/instrument';
import { serveTasks } from './serve-tasks.ts';
import { runTask, type Task, type TaskResult } from './tasks.ts';

/**
 * V8 keeps every function, structure and array type that a process has ever seen, and ends the process at the two millionth. A
 * module may have a million, and its instrumented form has the same ones.
 */
const maxTypesSeen = 500_000;
let typesSeen = 0;

serveTasks<Task, TaskResult>((task) => {
  const result = runTask(task);
  if ('bytes' in task) typesSeen += countTypes(task.bytes);
  return { result, isSpent: typesSeen > maxTypesSeen };
});
