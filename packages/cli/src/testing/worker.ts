import { parentPort, workerData } from 'node:worker_threads';
import { callExports, runSimulation } from '@tenon/run-kit/simulation';
import type { ThreadMessage, ThreadTask } from './messages.ts';

/* The thread of an untrusted plugin. It runs one task. */

const send = (message: ThreadMessage) => parentPort?.postMessage(message);
const given = workerData as ThreadTask;
send({ type: 'begins' });
const result =
  given.kind === 'simulation'
    ? runSimulation(given.task, (coverage) => send({ type: 'coverage', coverage }))
    : callExports(given.task);
send({ type: 'ended', result });
