import { readSync, writeSync } from 'node:fs';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { createMessageReader, encodeMessage, type MessageReader } from './messages.ts';

/** The file descriptor by which tasks come and results go, and the one that is open for as long as the server runs. */
export const taskChannel = 3;
export const lifeline = 4;

/** What a task's answer is sent as. */
export interface Answer<Result> {
  readonly result: Result;
  /** Whether the process should do no further task. */
  readonly isSpent: boolean;
}

/**
 * The code of a process that does tasks, one after another, until the server ends. It waits for the next task in a system call, so
 * nothing runs in it between two tasks. While a task runs, the engine may be busy for minutes in code that nothing interrupts: a
 * thread of its own notices that the server has gone, and ends the process.
 */
export function serveTasks<Task, Result>(run: (task: Task) => Answer<Result>): void {
  // The terminal sends these to the whole group of processes; when a task ends is the server's to say.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  watchLifeline();
  const reader = createMessageReader();
  for (let byteCount = read(reader); byteCount > 0; byteCount = read(reader)) {
    const whole = reader.advance(byteCount);
    if (whole === undefined) continue;
    const { head, parts } = encodeMessage(run(whole.message as Task));
    for (const bytes of [head, ...parts]) writeAll(bytes);
  }
  process.exit(0);
}

function read({ room }: MessageReader): number {
  return readSync(taskChannel, room);
}

function writeAll(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(taskChannel, bytes, at);
}

function watchLifeline(): void {
  const code = `
    const { Socket } = require('node:net');
    const socket = new Socket({ fd: ${lifeline}, readable: true, writable: false });
    const end = () => process.kill(process.pid, 'SIGKILL');
    socket.on('error', end).on('close', end).resume();
  `;
  new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref();
}
