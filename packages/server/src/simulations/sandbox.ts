import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import type { UntrustedOptions } from '../workers/process-worker.ts';
import type { Started } from '../workers/serve-tasks.ts';
import type { CompileCache } from './compile-cache.ts';

const MiB = 2 ** 20;
const pageBytes = 65_536;

/** How the processes of simulations are confined. */
export type Protection =
  /** Node's permission model: no files, network, processes, threads, addons, or inspector. */
  | 'permissions'
  /** Resource limits of the system: memory, processor time, and no further files, sockets, or processes. */
  | 'limits'
  /** A user and group without any rights, different for each process. */
  | 'user';

export interface SandboxLimits {
  /** The memory of a simulation's modules. */
  readonly memoryBytes: number;
  readonly timeoutMs: number;
  /** The memory for modules in all their forms: bytes, compiled code. */
  readonly maxModuleBytes: number;
}

/** The JavaScript heap of the runner itself: reports, logs, and the engine's descriptions of modules. */
export const sandboxHeapMiB = 128;

const prlimit = ['/usr/bin/prlimit', '/bin/prlimit'].find((path) => existsSync(path));

const flags = [
  '--permission',
  // The process gives up these two, and the cache of compiled code, before it runs untrusted code: see serve-confined.ts.
  '--allow-fs-read=*',
  '--allow-worker',
  '--disallow-code-generation-from-strings',
  '--disable-sigusr1',
  '--no-warnings',
];

/** Returns how processes will be confined here, before any was started. Without `permissions`, nothing may run. */
export function availableProtections(): readonly Protection[] {
  const hasPermissions = process.allowedNodeEnvironmentFlags.has('--allow-net');
  return [
    ...(hasPermissions ? (['permissions'] as const) : []),
    ...(prlimit === undefined ? [] : (['limits'] as const)),
    ...(process.getuid?.() === 0 ? (['user'] as const) : []),
  ];
}

/**
 * @param onConfined called with the protections of each process that is ready. The system may refuse limits, or another user: a container
 *   may run as root without capabilities, or with a filter of system calls. Once limits were set, a process without them doesn't run
 */
export function sandboxOptions(
  limits: SandboxLimits,
  maxMessageBytes: number,
  onConfined: (protections: readonly Protection[]) => void,
  cacheFolder: CompileCache['folder'] = () => undefined,
): UntrustedOptions {
  let hasLimited = false;
  return {
    arguments(script) {
      const folder = cacheFolder();
      const memory = `--wasm-max-mem-pages=${Math.ceil(limits.memoryBytes / pageBytes)}`;
      return folder === undefined
        ? [...flags, memory, script]
        : [...flags, memory, `--allow-fs-write=${folder}`, script, folder];
    },
    maxMessageBytes,
    async limit(pid, started) {
      const isLimited = await setResourceLimits(pid, limits, started);
      if (hasLimited && !isLimited) throw new Error('The system refused resource limits, which it has set before');
      hasLimited ||= isLimited;
      return isLimited;
    },
    onConfined(confined, isLimited) {
      const has = { permissions: true, limits: isLimited, user: (confined as { readonly user: boolean }).user };
      onConfined(availableProtections().filter((protection) => has[protection]));
    },
  };
}

/**
 * Sets the resource limits of a process that has loaded its modules and started its threads: it needs no further file descriptor, thread,
 * or file. Unlike a limit of the address space, that of the data leaves out what V8 reserves without using it.
 *
 * @returns whether the system did it
 */
async function setResourceLimits(pid: number, limits: SandboxLimits, { dataBytes }: Started): Promise<boolean> {
  if (prlimit === undefined) return false;
  const allowance = limits.memoryBytes + sandboxHeapMiB * MiB + 4 * limits.maxModuleBytes;
  // Background compilation takes processor time too. The server's own timer ends a simulation much earlier.
  const cpuSeconds = 10 + 4 * Math.ceil(limits.timeoutMs / 1000);
  const values = {
    core: 0,
    cpu: cpuSeconds,
    ...(dataBytes === undefined ? {} : { data: dataBytes + allowance }),
    fsize: 0,
    memlock: 0,
    nofile: 0,
    nproc: 0,
  };
  const args = Object.entries(values).map(([name, value]) => `--${name}=${value}:${value}`);
  return new Promise((resolve) => {
    execFile(prlimit, [`--pid=${pid}`, ...args], { env: {} }, (error) => resolve(error === null));
  });
}
