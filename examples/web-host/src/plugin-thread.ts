// A thread in which one plugin runs. What it takes and answers: plugin-runner.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { createPlugin } from '@extism/extism';

export interface Call {
  readonly number: number;
  readonly export: string;
  readonly input: string;
}

export interface Answer {
  readonly number: number;
  readonly output?: string;
  readonly error?: string;
}

// From here on it is the plugin's own time.
parentPort?.postMessage('begun');
const plugin = await createPlugin({ wasm: [{ module: workerData as WebAssembly.Module }] });

parentPort?.on('message', async (call: Call) => {
  try {
    const output = await plugin.call(call.export, call.input);
    answer({ number: call.number, output: output?.text() ?? '' });
  } catch (error) {
    answer({ number: call.number, error: error instanceof Error ? error.message : String(error) });
  }
});

function answer(answer: Answer): void {
  parentPort?.postMessage(answer);
}
