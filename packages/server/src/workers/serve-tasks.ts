import { readSync, writeSync } from 'node:fs';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { createMessageDecoder, encodeMessage, type MessageDecoder } from './messages.ts';

/** The file descriptor of the pipe that carries tasks to the process and results back. */
export const taskFd = 3;
/** The file descriptor of a pipe that stays open for as long as the server runs. */
export const lifelineFd = 4;

/** A worker process's response to one task. */
export interface TaskResponse<Result> {
  readonly result: Result;
  /** Whether the pool must replace this process before the next task. */
  readonly shouldRecycle: boolean;
}

/**
 * Runs tasks one after another until the server exits. Call this from the main module of a worker process.
 *
 * The process waits for the next task in a blocking system call, so no code runs between two tasks. During a task, V8 may be busy for
 * minutes in code that can't be interrupted. A separate thread therefore watches the lifeline pipe and kills the process when the
 * server has exited.
 */
export function serveTasks<Task, Result>(run: (task: Task) => TaskResponse<Result>): void {
  // The terminal sends these signals to the whole process group. Only the server decides when a worker ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  watchLifeline();
  const decoder = createMessageDecoder();
  for (let byteCount = read(decoder); byteCount > 0; byteCount = read(decoder)) {
    const decoded = decoder.advance(byteCount);
    if (decoded === undefined) continue;
    const { head, attachments } = encodeMessage(run(decoded.message as Task));
    for (const bytes of [head, ...attachments]) writeAll(bytes);
  }
  process.exit(0);
}

function read({ buffer }: MessageDecoder): number {
  return readSync(taskFd, buffer);
}

function writeAll(bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(taskFd, bytes, offset);
}

function watchLifeline(): void {
  const code = `
    const { Socket } = require('node:net');
    const socket = new Socket({ fd: ${lifelineFd}, readable: true, writable: false });
    const end = () => process.kill(process.pid, 'SIGKILL');
    socket.on('error', end).on('close', end).resume();
  `;
  new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref();
}
