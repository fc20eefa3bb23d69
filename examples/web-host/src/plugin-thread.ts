// A thread that runs one plugin. plugin-runner.ts sends it calls.
import { parentPort, workerData } from 'node:worker_threads';
import { createPlugin } from '@extism/extism';
import { tracePlugin } from './tracing.ts';

export interface ThreadData {
  readonly module: WebAssembly.Module;
  /** The options of tracing as JSON; without, nothing is traced. */
  readonly trace: string | undefined;
}

export interface Call {
  readonly number: number;
  readonly export: string;
  readonly input: string;
  /** The W3C trace context of the request. */
  readonly traceparent: string | undefined;
}

export interface Answer {
  readonly number: number;
  readonly output?: string;
  readonly error?: string;
}

// The time limit counts from here.
parentPort?.postMessage('begun');
const { module, trace } = workerData as ThreadData;
const tracing = trace === undefined ? undefined : tracePlugin(module, trace);
const plugin = await createPlugin({ wasm: [{ module }] }, { functions: tracing?.functions ?? {} });

parentPort?.on('message', async (call: Call) => {
  try {
    const run = () => plugin.call(call.export, call.input);
    const output = await (tracing?.call(call.export, call.traceparent, run) ?? run());
    answer({ number: call.number, output: output?.text() ?? '' });
  } catch (error) {
    answer({ number: call.number, error: error instanceof Error ? error.message : String(error) });
  }
});

function answer(answer: Answer): void {
  parentPort?.postMessage(answer);
}
