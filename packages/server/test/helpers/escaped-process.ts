import { writeSync } from 'node:fs';
import process from 'node:process';
import { serveConfined } from '../../src/simulations/serve-confined.ts';
import { encodeMessage } from '../../src/workers/messages.ts';
import { taskFd } from '../../src/workers/serve-tasks.ts';

/** What an escaped process tries. */
export interface EscapeAttempt {
  readonly name: keyof typeof attempts | keyof typeof connections;
  readonly argument?: string | number;
}

interface BuiltIns {
  readonly fs: typeof import('node:fs');
  readonly child_process: typeof import('node:child_process');
  readonly worker_threads: typeof import('node:worker_threads');
  readonly os: typeof import('node:os');
  readonly net: typeof import('node:net');
  readonly dgram: typeof import('node:dgram');
  readonly inspector: typeof import('node:inspector');
  readonly wasi: typeof import('node:wasi');
  readonly module: typeof import('node:module');
  readonly v8: typeof import('node:v8');
}

function builtIn<Name extends keyof BuiltIns>(name: Name): BuiltIns[Name] {
  return process.getBuiltinModule(name) as BuiltIns[Name];
}

// The types of Node.js and ECMAScript leave these out.
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
declare const WebAssembly: { readonly Memory: new (limits: { initial: number }) => Memory };
interface Hidden {
  readonly permission: { has(scope: string): boolean };
  binding(name: string): object;
}
const hidden = process as unknown as Hidden;

/** Blocks this thread. */
const pause = (ms?: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** What JavaScript can try that has escaped from WebAssembly into the runner's process. */
const attempts = {
  read: (path: string) => builtIn('fs').readFileSync(path, 'utf8'),
  list: (path: string) => builtIn('fs').readdirSync(path),
  stat: (path: string) => builtIn('fs').statSync(path).size,
  readLink: (path: string) => builtIn('fs').readlinkSync(path),
  write: (path: string) => builtIn('fs').writeFileSync(path, 'x'),
  remove: (path: string) => builtIn('fs').rmSync(path),
  changeFolder: (path: string) => process.chdir(path),
  run: (command: string) => builtIn('child_process').execSync(command),
  spawn: (command: string) => builtIn('child_process').spawnSync(command),
  fork: (path: string) => builtIn('child_process').fork(path),
  thread: () => new (builtIn('worker_threads').Worker)('0', { eval: true }),
  listen: () => builtIn('net').createServer().listen(0),
  inspect: () => builtIn('inspector').open(0),
  addon: (path: string) => process.dlopen({ exports: {} }, path),
  wasi: () => new (builtIn('wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }),
  snapshot: () => builtIn('v8').writeHeapSnapshot(),
  load: (path: string) => builtIn('module').createRequire('/')(path),
  evaluate: (code: string) => new Function(code)(),
  binding: () => hidden.binding('fs'),
  signal: (pid: number) => process.kill(pid, 0),
  becomeRoot: () => process.setuid?.(0),
  raisePriority: () => builtIn('os').setPriority(-20),
  environment: () => JSON.stringify(process.env),
  granted: () =>
    ['fs.read', 'fs.write', 'net', 'worker', 'child'].filter((scope) => hidden.permission.has(scope)).join(),
  user: () => `${process.getuid?.()}:${process.getgid?.()}`,
  pid: () => process.pid,
  loop: () => {
    for (;;);
  },
  sleep: () => pause(),
  exhaustHeap: () => {
    for (const all: object[][] = []; ; ) all.push(Array.from({ length: 1e5 }, (_, at) => ({ at })));
  },
  exhaustBuffers: () => {
    for (const all: Uint8Array[] = []; ; ) all.push(new Uint8Array(2 ** 24).fill(1));
  },
  /** Fills memories of 64 MiB. */
  exhaustMemories: () => {
    const all: Memory[] = [];
    try {
      for (;;)
        new Uint8Array(all[all.push(new WebAssembly.Memory({ initial: 1024 })) - 1]?.buffer as ArrayBuffer).fill(1);
    } catch {
      return all.length * 64;
    }
  },
  growMemory: (pages: number) => new WebAssembly.Memory({ initial: 1 }).grow(pages - 1),
  recurse: () => {
    const recurse = (): number => recurse() + 1;
    return recurse();
  },
  exit: (code: number) => process.exit(code),
  abort: () => process.abort(),
  returnMuch: () => 'x'.repeat(2 ** 23),
  writeErrors: () => {
    for (const text = 'x'.repeat(2 ** 16); ; ) {
      try {
        writeSync(2, text);
      } catch {
        pause(1); // the pipe is full
      }
    }
  },
  writeBytes: (base64: string) => {
    writeSync(taskFd, Buffer.from(base64, 'base64'));
    return pause(1000);
  },
  writeEndlessly: () => {
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(2 ** 20, 0);
    for (const bytes = Buffer.concat([lengths, Buffer.alloc(2 ** 20, '[')]); ; ) writeSync(taskFd, bytes);
  },
} satisfies Readonly<Record<string, (argument: never) => unknown>>;

/** Attempts that need the event loop, which no simulation can enter. */
const connections = {
  connect: (port: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    builtIn('net')
      .connect(port, '127.0.0.1', () => resolve('connected'))
      .once('error', reject);
    return promise;
  },
  connectSocket: (path: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    builtIn('net')
      .connect(path, () => resolve('connected'))
      .once('error', reject);
    return promise;
  },
  fetch: (url: string) => fetch(url).then(({ status }) => String(status)),
  datagram: (port: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = builtIn('dgram').createSocket('udp4').once('error', reject);
    socket.send('x', port, '127.0.0.1', (error) => (error ? reject(error) : resolve('sent')));
    return promise;
  },
} satisfies Readonly<Record<string, (argument: never) => Promise<string>>>;

serveConfined<EscapeAttempt>(({ name, argument }) => {
  if (Object.hasOwn(connections, name)) return enterEventLoop(connections[name as keyof typeof connections], argument);
  try {
    const got = (attempts[name as keyof typeof attempts] as (argument: unknown) => unknown)(argument);
    return { result: `got ${got}`, shouldRecycle: false };
  } catch (error) {
    return { result: errorText(error), shouldRecycle: false };
  }
});

function errorText(error: unknown): string {
  const { code, message, cause } = error as NodeJS.ErrnoException;
  return code ?? (cause === undefined ? message : errorText(cause));
}

/** Unwinds the loop that waits for tasks, so that the event loop runs. */
function enterEventLoop(attempt: (argument: never) => Promise<string>, argument: unknown): never {
  process.on('uncaughtException', () => {});
  const respond = (result: string): void => {
    writeSync(taskFd, encodeMessage({ result, shouldRecycle: false }).head);
  };
  try {
    attempt(argument as never).then(respond, (error) => respond(errorText(error)));
  } catch (error) {
    respond(errorText(error));
  }
  throw new Error('left the loop');
}
