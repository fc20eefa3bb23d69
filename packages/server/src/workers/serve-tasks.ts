import { readSync, writeSync } from 'node:fs';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { createMessageDecoder, encodeMessage, type MessageDecoder } from './messages.ts';

/** The file descriptor of the pipe that carries tasks to the process and results back. */
export const taskFd = 3;
/** The file descriptor of a pipe that stays open for as long as the server runs. */
export const lifelineFd = 4;

/** How long a process waits for the thread that watches the lifeline. */
const lifelineTimeoutMs = 10_000;

/** A worker process's response to one task. */
export interface TaskResponse<Result> {
  readonly result: Result;
  /** Whether the pool must replace this process before the next task. */
  readonly shouldRecycle: boolean;
}

/** The first message of a process that is confined before it serves. */
export interface Started {
  /** The size of its data, which counts against `RLIMIT_DATA`; `undefined` where it is unknown. */
  readonly dataBytes: number | undefined;
}

/**
 * Runs tasks one after another until the server exits. Call this from the main module of a worker process.
 *
 * The process waits for the next task in a blocking system call, so no code runs between two tasks. During a task, V8 may be busy for
 * minutes in code that can't be interrupted. A separate thread therefore watches the lifeline pipe and kills the process when the
 * server has exited.
 *
 * @param confinement for a process of a confined worker (`ProcessOptions.confine`): after its first message, the process waits until the server has limited it, then
 *   calls `confine()`, and sends what that returns
 */
export function serveTasks<Task, Result>(
  run: (task: Task) => TaskResponse<Result>,
  confinement?: { readonly started: () => Started; readonly confine: () => unknown },
): void {
  // The terminal sends these signals to the whole process group. Only the server decides when a worker ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const isWatching = watchLifeline();
  const decoder = createMessageDecoder();
  if (confinement !== undefined) {
    Atomics.wait(isWatching, 0, 0, lifelineTimeoutMs);
    writeMessage(confinement.started());
    readMessage(decoder);
    writeMessage(confinement.confine());
  }
  for (;;) writeMessage(run(readMessage(decoder) as Task));
}

/** Ends the process when the server has closed the pipe. */
function readMessage(decoder: MessageDecoder): unknown {
  for (;;) {
    const byteCount = readSync(taskFd, decoder.buffer);
    if (byteCount === 0) process.exit(0);
    const decoded = decoder.advance(byteCount);
    if (decoded !== undefined) return decoded.message;
  }
}

function writeMessage(message: unknown): void {
  const { head, attachments } = encodeMessage(message);
  for (const bytes of [head, ...attachments]) writeAll(bytes);
}

function writeAll(bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(taskFd, bytes, offset);
}

/** Starts the thread. @returns what becomes 1 when it runs, and has all memory and rights that it needs */
function watchLifeline(): Int32Array<SharedArrayBuffer> {
  const isWatching = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { Socket } = require('node:net');
    const { workerData } = require('node:worker_threads');
    const socket = new Socket({ fd: ${lifelineFd}, readable: true, writable: false });
    const end = () => process.kill(process.pid, 'SIGKILL');
    socket.on('error', end).on('close', end).resume();
    Atomics.store(workerData, 0, 1);
    Atomics.notify(workerData, 0);
  `;
  const resourceLimits = { maxOldGenerationSizeMb: 16 };
  new Worker(code, { eval: true, workerData: isWatching, resourceLimits }).unref();
  return isWatching;
}
