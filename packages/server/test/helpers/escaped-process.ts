import { writeSync } from 'node:fs';
import { serveConfined } from '../../src/simulations/serve-confined.ts';
import { taskFd } from '../../src/workers/serve-tasks.ts';

export interface EscapeAttempt {
  /** The body of an asynchronous function is not possible here, as the process has one synchronous task. */
  readonly name: keyof typeof attempts;
  readonly argument?: string | number;
}

const builtin = <Name extends keyof BuiltIns>(name: Name) => process.getBuiltinModule(name) as BuiltIns[Name];
interface BuiltIns {
  fs: typeof import('node:fs');
  child_process: typeof import('node:child_process');
  worker_threads: typeof import('node:worker_threads');
  os: typeof import('node:os');
  net: typeof import('node:net');
  dgram: typeof import('node:dgram');
  http: typeof import('node:http');
  inspector: typeof import('node:inspector');
  wasi: typeof import('node:wasi');
  module: typeof import('node:module');
  v8: typeof import('node:v8');
  sqlite: typeof import('node:sqlite');
  dns: typeof import('node:dns');
  vm: typeof import('node:vm');
}

const memoryOf = (initial: number) => new WebAssembly.Memory({ initial });

/** What JavaScript would try that has escaped from WebAssembly into the runner's process. Each returns what it got. */
const attempts = {
  read: (path: string) => builtin('fs').readFileSync(path, 'utf8').slice(0, 100),
  list: (path: string) => builtin('fs').readdirSync(path).join(),
  stat: (path: string) => builtin('fs').statSync(path).size,
  readLink: (path: string) => builtin('fs').readlinkSync(path),
  write: (path: string) => builtin('fs').writeFileSync(path, 'x'),
  remove: (path: string) => builtin('fs').rmSync(path),
  changeFolder: (path: string) => process.chdir(path),
  exec: (command: string) => builtin('child_process').execSync(command).toString(),
  spawn: (command: string) => builtin('child_process').spawnSync(command).error?.message ?? 'ran',
  fork: (path: string) => builtin('child_process').fork(path).pid,
  thread: () => new (builtin('worker_threads').Worker)('0', { eval: true }).threadId,
  connect: (port: number) => {
    const socket = builtin('net').connect(port, '127.0.0.1');
    return socket.on('error', () => {}).connecting;
  },
  connectUnix: (path: string) =>
    builtin('net')
      .connect(path)
      .on('error', () => {}).connecting,
  listen: () => builtin('net').createServer().listen(0).listening,
  datagram: () => builtin('dgram').createSocket('udp4').bind(0).address(),
  request: (url: string) =>
    builtin('http')
      .get(url)
      .on('error', () => {}).path,
  lookUp: () => builtin('dns').lookup('localhost', () => {}),
  inspect: () => builtin('inspector').open(0),
  addon: () => process.dlopen({ exports: {} }, '/tmp/x.node'),
  wasi: () => new (builtin('wasi').WASI)({ version: 'preview1', preopens: { '/': '/' } }).wasiImport.path_open?.name,
  database: (path: string) => new (builtin('sqlite').DatabaseSync)(path).isOpen,
  snapshot: () => builtin('v8').writeHeapSnapshot(),
  require: (path: string) => builtin('module').createRequire('/')(path),
  evaluate: (code: string) => new Function(code)(),
  binding: () => Object.keys((process as unknown as { binding(name: string): object }).binding('fs')).length,
  signal: (pid: number) => process.kill(pid, 0),
  becomeRoot: () => process.setuid?.(0),
  raisePriority: () => builtin('os').setPriority(-20),
  environment: () => JSON.stringify(process.env),
  grant: () => (process as unknown as { permission: { has(scope: string): boolean } }).permission.has('fs.read'),
  identity: () => `${process.getuid?.()}:${process.getgid?.()}:${process.getgroups?.()}`,
  descriptors: () => {
    const open: number[] = [];
    for (let fd = 0; fd < 100; fd++) {
      try {
        builtin('fs').fstatSync(fd);
        open.push(fd);
      } catch {
        // not open
      }
    }
    return open.join();
  },
  loop: () => {
    for (;;);
  },
  sleep: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  heap: () => {
    for (const all: object[][] = []; ; ) all.push(Array.from({ length: 1e5 }, (_, at) => ({ at })));
  },
  buffers: () => {
    for (const all: Uint8Array[] = []; ; ) all.push(new Uint8Array(2 ** 24).fill(1));
  },
  memory: (count: number) => {
    let total = 0;
    const all: WebAssembly.Memory[] = [];
    try {
      for (; all.length < count; total++) all.push(memoryOf(1024));
    } catch {
      // as much as there is
    }
    for (const { buffer } of all) new Uint8Array(buffer).fill(1);
    return total;
  },
  onePage: (pages: number) => memoryOf(1).grow(pages - 1),
  recurse: () => {
    const recurse = (): number => recurse() + 1;
    return recurse();
  },
  exit: (code: number) => process.exit(code),
  abort: () => process.abort(),
  flood: () => 'x'.repeat(2 ** 26),
  floodErrors: () => {
    const text = 'x'.repeat(2 ** 16);
    for (;;) writeSync(2, text);
  },
  raw: (base64: string) => {
    writeSync(taskFd, Buffer.from(base64, 'base64'));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    return 'after';
  },
  endlessMessage: () => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(2 ** 32 - 1, 0);
    head.writeUInt32LE(2 ** 32 - 1, 4);
    writeSync(taskFd, head);
    for (const text = Buffer.alloc(2 ** 16); ; ) writeSync(taskFd, text);
  },
} satisfies Readonly<Record<string, (argument: never) => unknown>>;

serveConfined<EscapeAttempt>(({ name, argument }) => {
  try {
    const got = (attempts[name] as (argument: unknown) => unknown)(argument);
    return { result: `got ${got}`, shouldRecycle: false };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { result: code ?? message, shouldRecycle: false };
  }
});
