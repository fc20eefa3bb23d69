import { runTask } from './sandbox-task.ts';
import { serveConfined } from './serve-confined.ts';

serveConfined(runTask);
