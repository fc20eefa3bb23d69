import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createMessageDecoder, encodeMessage } from './messages.ts';
import { workerEnvironment } from './own-compile-cache.ts';
import { PoolError, type StartWorker } from './pool.ts';
import { lifelineFd, type Started, type TaskResponse, taskFd } from './serve-tasks.ts';

interface ProcessOptions {
  /** The main module of the process. It calls `serveTasks()`. */
  readonly script: URL;
  readonly maxHeapMiB: number;
  readonly untrusted?: UntrustedOptions | undefined;
}

/** For processes that run untrusted code. Each runs one task. */
export interface UntrustedOptions {
  /** Returns further flags of Node.js, the script, and its arguments. */
  arguments(script: string): readonly string[];
  /** The maximum length of a message from the process. A longer or malformed one fails the task. */
  readonly maxMessageBytes: number;
  /**
   * Limits a process that has loaded its modules, before it confines itself.
   *
   * @returns whether the system limits it
   * @throws if the process must not run
   */
  limit(pid: number, started: Started): Promise<boolean>;
  /** Called with what the process's own `confine()` returned, and what `limit()` did. */
  onConfined(confined: unknown, isLimited: boolean): void;
}

const chunkBytes = 1_048_576;

/** How much of a process's stderr is kept for the error message when it crashes. */
const maxStderrChars = 4_096;

/** How much stderr is read from an untrusted process. */
const maxUntrustedStderrChars = 65_536;

/** The niceness of untrusted processes: the server's own threads get about ten times as much processor time. */
const untrustedNiceness = 10;

/**
 * Workers in separate processes. SIGKILL ends a process at once, whereas `terminate()` of a thread waits until V8 has validated the
 * current module; and a crash takes nothing else down. The processes don't get the server's environment, since it may hold secrets.
 */
export function processWorkers<Task, Result>(options: ProcessOptions): StartWorker<Task, Result> {
  const { untrusted } = options;
  const script = fileURLToPath(options.script);
  return ({ onResult, onFailure }) => {
    const args = untrusted?.arguments(script) ?? [script];
    const child = spawn(process.execPath, [`--max-old-space-size=${options.maxHeapMiB}`, ...args], {
      env: untrusted === undefined ? workerEnvironment() : {},
      cwd: untrusted === undefined ? undefined : '/',
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    if (untrusted !== undefined) lowerPriority(child.pid);
    // 'exit' instead of 'close', which would also wait for descendants that hold stdio open.
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => {
        if (child.pid === undefined) resolve();
      });
    });
    let stderrText = '';
    let stderrLength = 0;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderrText = (stderrText + text).slice(-maxStderrChars);
      stderrLength += text.length;
      if (untrusted !== undefined && stderrLength > maxUntrustedStderrChars) child.stderr?.destroy();
    });
    child.once('error', (error) => onFailure(new PoolError('crashed', 'The worker process failed', error)));
    child.once('exit', (code, signal) => onFailure(exitError(code, signal, stderrText, untrusted !== undefined)));
    // When Node.js has no file descriptors left for the pipes, it starts no process and leaves `stdio` unset. 'error' follows.
    const stdio = (child.stdio as typeof child.stdio | undefined) ?? [];
    const channel = stdio[taskFd] as Socket | undefined;
    const streams = [channel, stdio[lifelineFd], child.stderr].filter((stream) => stream != null) as Socket[];
    // A broken pipe means that the process has exited, which the 'exit' listener handles.
    for (const stream of streams) stream.on('error', () => {});
    const ready = untrusted === undefined || channel === undefined ? undefined : Promise.withResolvers<void>();
    let isLimited = false;
    const limit = async (started: Started): Promise<void> => {
      if (channel === undefined || untrusted === undefined) return;
      isLimited = await untrusted.limit(child.pid as number, started);
      await send(channel, null);
    };
    const onMessage = createHandshake<TaskResponse<Result>>(
      ({ result, shouldRecycle }) => onResult(result, shouldRecycle || untrusted !== undefined),
      ready && [
        (started) => {
          const onRefused = (error: unknown): void =>
            onFailure(new PoolError('crashed', 'The worker process could not be limited', error));
          limit(started as Started).catch(onRefused);
        },
        (confined) => {
          untrusted?.onConfined(confined, isLimited);
          ready.resolve();
        },
      ],
    );
    if (channel !== undefined) {
      receive(channel, untrusted?.maxMessageBytes, onMessage, (error) => {
        onFailure(new PoolError('crashed', 'The worker process sent an invalid message', error));
      });
    }
    return {
      ready: ready?.promise,
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

/** Handles the first messages with the steps, in order, and all others with `onMessage`. */
function createHandshake<Message>(
  onMessage: (message: Message) => void,
  steps: readonly ((message: unknown) => void)[] = [],
): (message: unknown) => void {
  let count = 0;
  return (message) => {
    const step = steps[count++];
    if (step === undefined) onMessage(message as Message);
    else step(message);
  };
}

/** @param onInvalid called at most once, for a message that is too long or malformed; nothing is read after it */
function receive(
  channel: Socket,
  maxMessageBytes: number | undefined,
  onMessage: (message: unknown) => void,
  onInvalid: (error: unknown) => void,
): void {
  const decoder = createMessageDecoder(maxMessageBytes);
  const messagesOf = (chunk: Buffer): object[] => {
    const messages: object[] = [];
    for (let offset = 0; offset < chunk.length; ) {
      const { buffer } = decoder;
      const byteCount = Math.min(buffer.length, chunk.length - offset);
      buffer.set(chunk.subarray(offset, offset + byteCount));
      offset += byteCount;
      const decoded = decoder.advance(byteCount);
      if (decoded === undefined) continue;
      const { message } = decoded;
      if (typeof message !== 'object' || message === null) throw new TypeError('The message is not an object');
      messages.push(message);
    }
    return messages;
  };
  channel.on('data', (chunk: Buffer) => {
    let messages: object[];
    try {
      messages = messagesOf(chunk);
    } catch (error) {
      channel.removeAllListeners('data').pause();
      return onInvalid(error);
    }
    for (const message of messages) onMessage(message);
  });
}

function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, untrustedNiceness);
  } catch {
    // The process has exited already, or the system has no priorities.
  }
}

/**
 * V8 aborts the process when its heap, or other memory that it manages, reaches its limit. It writes the reason to stderr. Under resource
 * limits, it may also end by other signals, and untrusted code may make it abort for other reasons.
 */
function exitError(
  code: number | null,
  signal: NodeJS.Signals | null,
  stderrText: string,
  isUntrusted: boolean,
): PoolError {
  const cause = stderrText === '' ? undefined : new Error(stderrText);
  const isOutOfMemory = isUntrusted
    ? /out of memory|bad_alloc/i.test(stderrText)
    : signal === 'SIGABRT' || code === 134;
  if (isOutOfMemory) return new PoolError('out_of_memory', 'The worker process ran out of memory', cause);
  return new PoolError('crashed', `The worker process exited with ${signal ?? `code ${code}`}`, cause);
}
