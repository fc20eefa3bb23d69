import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createMessageReader, encodeMessage } from './messages.ts';
import { type OpenWorker, PoolError } from './pool.ts';
import { type Answer, lifeline, taskChannel } from './serve-tasks.ts';

export interface ProcessOptions {
  /** The module that the process runs: it calls `serveTasks()`. */
  readonly script: URL;
  /** The largest JavaScript heap of the process, in MiB. */
  readonly maxHeapMiB: number;
}

/** So much of a task is copied at once, and waits to be written. */
const chunkBytes = 1_048_576;

/** So much of what a process says on stderr is kept, to tell why it ended. */
const maxComplaintBytes = 4_096;

/**
 * Workers that are processes. SIGKILL ends one at any time, where `terminate()` of a thread waits until the engine has validated a
 * module; and what crashes takes nothing else along. They get nothing of the environment, in which the server's secrets may be.
 */
export function processWorkers<Task, Result>({ script, maxHeapMiB }: ProcessOptions): OpenWorker<Task, Result> {
  return ({ onResult, onFault }) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${maxHeapMiB}`, fileURLToPath(script)], {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    // 'close' would wait for descendants that hold stdio; a process has none, and 'exit' means that it is gone.
    const gone = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => {
        if (child.pid === undefined) resolve();
      });
    });
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-maxComplaintBytes);
    });
    child.once('error', (error) => onFault(new PoolError('crashed', 'The worker process could not be run', error)));
    child.once('exit', (code, signal) => onFault(whyEnded(code, signal, complaint)));
    // Without descriptors for its pipes, Node.js starts no process and sets no `stdio`; 'error' follows.
    const stdio = (child.stdio as typeof child.stdio | undefined) ?? [];
    const channel = stdio[taskChannel] as Socket | undefined;
    const streams = [channel, stdio[lifeline], child.stderr].filter((stream) => stream != null) as Socket[];
    // What goes wrong with a pipe goes wrong with the process, which says so.
    for (const stream of streams) stream.on('error', () => {});
    if (channel !== undefined) receive(channel, ({ result, isSpent }: Answer<Result>) => onResult(result, isSpent));
    return {
      send(task) {
        if (channel !== undefined) void send(channel, task);
      },
      setRef(isNeeded) {
        for (const handle of [child, ...streams]) {
          if (isNeeded) handle.ref();
          else handle.unref();
        }
      },
      async end() {
        child.ref(); // an idle one alone would not keep this process alive until it has gone
        child.kill('SIGKILL');
        await gone;
        for (const stream of streams) stream.destroy();
      },
    };
  };
}

/**
 * Writes a task. Its bytes are copied a chunk at a time: the pool's caller may detach them when the task is given up, while the
 * kernel is still to be handed what was written.
 */
async function send(channel: Socket, task: unknown): Promise<void> {
  const { head, parts } = encodeMessage(task);
  const lengths = parts.map(({ length }) => length);
  channel.write(head);
  for (const [index, part] of parts.entries()) {
    for (let at = 0; at < (lengths[index] as number); at += chunkBytes) {
      if (channel.destroyed || part.length !== lengths[index]) return; // ended, or given up and detached
      if (!channel.write(part.slice(at, at + chunkBytes))) await once(channel, 'drain').catch(() => channel.destroy());
    }
  }
}

function receive<Message>(channel: Socket, onMessage: (message: Message) => void): void {
  const reader = createMessageReader();
  channel.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      const { room } = reader;
      const taken = Math.min(room.length, chunk.length - at);
      room.set(chunk.subarray(at, at + taken));
      at += taken;
      const whole = reader.advance(taken);
      if (whole !== undefined) onMessage(whole.message as Message);
    }
  });
}

/** V8 aborts a process whose heap, or whose other memory, is at its limit. */
function whyEnded(code: number | null, signal: NodeJS.Signals | null, complaint: string): PoolError {
  const cause = complaint === '' ? undefined : new Error(complaint);
  if (signal === 'SIGABRT' || code === 134) {
    return new PoolError('out_of_memory', 'The worker process ran out of memory', cause);
  }
  return new PoolError('crashed', `The worker process ended with ${signal ?? `code ${code}`}`, cause);
}
