import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createMessageDecoder, encodeMessage } from './messages.ts';
import { PoolError, type StartWorker } from './pool.ts';
import { lifelineFd, type TaskResponse, taskFd } from './serve-tasks.ts';

interface ProcessOptions {
  /** The main module of the process. It calls `serveTasks()`. */
  readonly script: URL;
  readonly maxHeapMiB: number;
}

const chunkBytes = 1_048_576;

/** How much of a process's stderr is kept for the error message when it crashes. */
const maxStderrChars = 4_096;

/**
 * Workers in separate processes. SIGKILL ends a process at once, whereas `terminate()` of a thread waits until V8 has validated the
 * current module; and a crash takes nothing else down. The processes get an empty environment, since the server's environment may hold
 * secrets.
 */
export function processWorkers<Task, Result>({ script, maxHeapMiB }: ProcessOptions): StartWorker<Task, Result> {
  return ({ onResult, onFailure }) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${maxHeapMiB}`, fileURLToPath(script)], {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    // 'exit' instead of 'close', which would also wait for descendants that hold stdio open.
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => {
        if (child.pid === undefined) resolve();
      });
    });
    let stderrText = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrText = (stderrText + text).slice(-maxStderrChars);
    });
    child.once('error', (error) => onFailure(new PoolError('crashed', 'The worker process failed', error)));
    child.once('exit', (code, signal) => onFailure(exitError(code, signal, stderrText)));
    // When Node.js has no file descriptors left for the pipes, it starts no process and leaves `stdio` unset. 'error' follows.
    const stdio = (child.stdio as typeof child.stdio | undefined) ?? [];
    const channel = stdio[taskFd] as Socket | undefined;
    const streams = [channel, stdio[lifelineFd], child.stderr].filter((stream) => stream != null) as Socket[];
    // A broken pipe means that the process has exited, which the 'exit' listener handles.
    for (const stream of streams) stream.on('error', () => {});
    if (channel !== undefined) {
      receive(channel, ({ result, shouldRecycle }: TaskResponse<Result>) => onResult(result, shouldRecycle));
    }
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
      async terminate() {
        child.ref(); // keeps the server process alive until an idle worker has exited
        child.kill('SIGKILL');
        await exited;
        for (const stream of streams) stream.destroy();
      },
    };
  };
}

/**
 * Writes a task. Attachments are copied chunk by chunk, because the caller may detach their buffers when the task is aborted, while
 * writes are still pending.
 */
async function send(channel: Socket, task: unknown): Promise<void> {
  const { head, attachments } = encodeMessage(task);
  const lengths = attachments.map(({ length }) => length);
  channel.cork(); // the head and the first attachment leave in one write
  process.nextTick(() => channel.uncork());
  channel.write(head);
  for (const [index, bytes] of attachments.entries()) {
    for (let offset = 0; offset < (lengths[index] as number); offset += chunkBytes) {
      const isDetached = bytes.length !== lengths[index];
      if (channel.destroyed || isDetached) return;
      const hasRoom = channel.write(bytes.slice(offset, offset + chunkBytes));
      if (!hasRoom) await once(channel, 'drain').catch(() => channel.destroy());
    }
  }
}

function receive<Message>(channel: Socket, onMessage: (message: Message) => void): void {
  const decoder = createMessageDecoder();
  channel.on('data', (chunk: Buffer) => {
    for (let offset = 0; offset < chunk.length; ) {
      const { buffer } = decoder;
      const byteCount = Math.min(buffer.length, chunk.length - offset);
      buffer.set(chunk.subarray(offset, offset + byteCount));
      offset += byteCount;
      const decoded = decoder.advance(byteCount);
      if (decoded !== undefined) onMessage(decoded.message as Message);
    }
  });
}

/** V8 aborts the process when its heap, or other memory that it manages, reaches its limit. */
function exitError(code: number | null, signal: NodeJS.Signals | null, stderrText: string): PoolError {
  const cause = stderrText === '' ? undefined : new Error(stderrText);
  if (signal === 'SIGABRT' || code === 134) {
    return new PoolError('out_of_memory', 'The worker process ran out of memory', cause);
  }
  return new PoolError('crashed', `The worker process exited with ${signal ?? `code ${code}`}`, cause);
}
