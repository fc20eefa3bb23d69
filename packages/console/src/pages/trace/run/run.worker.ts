import type { RunMessage, RunRequest } from './messages.ts';
import { createOutputBuffer } from './output-buffer.ts';
import { runModule } from './run-module.ts';

/*
 * Runs one module once, and is ended after that. The policy that the server answers this script with lets it compile WebAssembly and
 * nothing else: no request, no further script.
 */

addEventListener('message', ({ data: request }: MessageEvent<RunRequest>) => {
  const tell = (message: RunMessage): void => postMessage(message);
  const output = createOutputBuffer(tell, () => performance.now());
  try {
    const result = runModule(request, {
      now: () => performance.now(),
      wallClock: () => performance.timeOrigin + performance.now(),
      random: (bytes) => void crypto.getRandomValues(bytes),
      sleep: (ms) => sleep(ms, request.stopFlag, output.flush),
      write: output.write,
      tell,
    });
    output.flush();
    tell({ kind: 'done', result });
  } catch (error) {
    output.flush();
    tell({ kind: 'fault', message: error instanceof Error ? error.message : String(error) });
  }
});

/** Waits without work where there is memory to wait at, which is written to when the run is to stop. */
function sleep(ms: number, stopFlag: SharedArrayBuffer | undefined, flush: () => void): void {
  flush();
  if (stopFlag !== undefined) {
    Atomics.wait(new Int32Array(stopFlag), 0, 0, ms);
    return;
  }
  for (const endMs = performance.now() + ms; performance.now() < endMs; );
}
