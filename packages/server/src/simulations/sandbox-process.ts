import { enableCompileCache, flushCompileCache } from 'node:module';
import process from 'node:process';
import { serveConfined } from './serve-confined.ts';

const [, , cacheFolder] = process.argv;
if (cacheFolder !== undefined) enableCompileCache(cacheFolder);
const { runTask } = await import('./sandbox-task.ts');
if (cacheFolder !== undefined) flushCompileCache();
serveConfined(runTask);
