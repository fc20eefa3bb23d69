import { readFileSync } from 'node:fs';
import process from 'node:process';
import { serveTasks, type TaskResponse } from '../workers/serve-tasks.ts';

/** The first of the user ids that systems leave unused: https://systemd.io/UIDS-GIDS. */
const firstUnusedId = 2_000_000_000;

/** The id without rights that Linux itself uses, for a user namespace that has no higher ids. */
const overflowId = 65_534;

const pageBytes = 4096;

/**
 * Serves one task, after this process has given up all rights. Call this from the main module of a process that `processWorkers()` starts
 * with `sandboxOptions()`.
 */
export function serveConfined<Task>(run: (task: Task) => TaskResponse<unknown>): void {
  serveTasks(run, {
    started: () => ({ dataBytes: readDataBytes() }),
    confine() {
      const user = dropUser();
      dropPermissions();
      dropSignals();
      return { user };
    },
  });
}

/** Linux counts these pages against `RLIMIT_DATA`. */
function readDataBytes(): number | undefined {
  try {
    return Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[5]) * pageBytes;
  } catch {
    return undefined;
  }
}

/** Gives up root. Each process has its own id, so that it can't send signals to the others. */
function dropUser(): boolean {
  if (process.getuid?.() !== 0) return false;
  for (const id of [firstUnusedId + process.pid, overflowId]) {
    try {
      process.setgroups?.([]);
      process.setgid?.(id);
      process.setuid?.(id);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPERM') return false; // root without capabilities
    }
  }
  return false;
}

interface Permission {
  drop(scope: string): void;
  has(scope: string): boolean;
}

/** All modules are loaded, and the thread that watches the server runs. */
function dropPermissions(): void {
  const { permission } = process as unknown as { readonly permission: Permission };
  for (const scope of ['fs', 'worker']) permission.drop(scope);
  for (const scope of ['fs', 'fs.read', 'fs.write', 'net', 'child', 'worker', 'wasi', 'addon', 'inspector']) {
    if (permission.has(scope)) throw new Error(`The process has the permission ${scope}`);
  }
}

/** Without its own user, this process may send signals to the server. The permission model doesn't restrict these functions. */
function dropSignals(): void {
  for (const name of ['kill', '_kill', '_debugProcess']) Reflect.deleteProperty(process, name);
}
