import { parentPort, workerData } from 'node:worker_threads';
import { runSimulation, type SimulationTask } from '@tenon/run-kit/simulation';
import type { SimulationMessage } from './messages.ts';

/* The thread of a simulation. It runs one task. */

const send = (message: SimulationMessage) => parentPort?.postMessage(message);
send({ type: 'begins' });
send({ type: 'ended', report: runSimulation(workerData as SimulationTask) });
