import { parentPort, workerData } from 'node:worker_threads';
import type { RunMessage, RunTask } from './messages.ts';
import { createProgramRunner } from './program-runner.ts';

/** The code that runs in the thread that a traced program has for itself: it is told by {@link RunTask} what to do, once. */
const send = (message: RunMessage) => parentPort?.postMessage(message);
const task = workerData as RunTask;
const runner = await createProgramRunner(task, send);
send({ type: 'ended', result: runner() });
