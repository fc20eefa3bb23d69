import type { RunMessage, RunRequest } from './messages.ts';
import { createOutputBuffer } from './output-buffer.ts';
import { runModule } from './run-module.ts';

/*
 * Runs one module once. The page then ends the worker. The server's policy for this script allows compiling WebAssembly,
 * and neither requests nor further scripts.
 */

// Stacks of failed programs are shown, and those of recursive programs are deep.
Object.assign(Error, { stackTraceLimit: 50 });

addEventListener('message', ({ data: request }: MessageEvent<RunRequest>) => {
  const send = (message: RunMessage): void => postMessage(message);
  const output = createOutputBuffer(send, () => performance.now());
  try {
    const result = runModule(request, { send, output });
    output.flush();
    send({ kind: 'done', result });
  } catch (error) {
    output.flush();
    send({ kind: 'fault', message: error instanceof Error ? error.message : String(error) });
  }
});
