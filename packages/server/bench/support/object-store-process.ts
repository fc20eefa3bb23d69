/** An object store in a process of its own. It tells its parent how to get at it. */
import process from 'node:process';
import { startObjectStore } from '../../test/helpers/s3.ts';

const store = await startObjectStore(['plugins']);
process.send?.(store.options('plugins'));
process.on('disconnect', async () => {
  await store.stop();
  process.exit();
});
