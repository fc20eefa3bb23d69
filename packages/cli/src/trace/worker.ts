import { parentPort, workerData } from 'node:worker_threads';
import { createRunner, createStopper, type LogLevel } from '@tenon/run-kit';
import { createRunSources } from '@tenon/run-kit/sources';
import { createDemangler } from '@tenon/trace/demangle';
import type { RunMessage, ThreadTask } from './messages.ts';
import { createStandardInput } from './standard-input.ts';
import { createWasiHost, loadWasi } from './wasi-host.ts';

/*
 * The thread of a traced program. It runs one task. It is a thread, because programs may never end, wait for input, or fill a pipe, and Ctrl-C must
 * still give a report: the main thread sets a flag in shared memory, which the hook of `enter` reads and throws. The main thread reads stdin,
 * because a blocking read can't be interrupted. Extism's host functions are our own, since the published host hides the instance.
 */

/** A plugin that logs without end would fill the memory, because the other thread reads messages more slowly. */
const maxLogs = 10_000;

// Stacks of failed programs are shown, and those of recursive programs are deep.
Error.stackTraceLimit = 50;

const task = workerData as ThreadTask;
const flags = new Int32Array(task.shared);
const send = (message: RunMessage) => parentPort?.postMessage(message);
let logs = 0;
const log = (level: LogLevel, text: string): void => {
  logs += 1;
  if (logs < maxLogs) send({ type: 'log', text: `${level}: ${text}` });
  else if (logs === maxLogs) send({ type: 'log', text: '… (further messages are not shown)' });
};
const stopper = createStopper(flags, (throws) => {
  if (throws === 1) send({ type: 'stops' });
});
const stdin = createStandardInput({
  port: task.stdin,
  flags,
  stopper,
  askForMore: () => send({ type: 'wants-input' }),
});
const NodeWasi = await loadWasi();
const run = createRunner(task.run, {
  createWasi(module) {
    stdin.rewind();
    return createWasiHost(NodeWasi, module, task, { stdin, stopper, flags });
  },
  log,
  stopper,
  demangle: createDemangler(task.demangler),
  sources: task.debugInfo && createRunSources(task.run.module, task.debugInfo),
});
send({ type: 'begins' });
send({ type: 'ended', result: run() });
