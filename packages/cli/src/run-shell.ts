import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import type { Environment } from './environment.ts';

/** Variables that other programs must not see. */
const secrets = ['TENON_TOKEN', 'TENON_API_KEY', 'TENON_ID_TOKEN'];

export interface ShellSetting {
  readonly folder: string;
  readonly environment: Environment;
  /** Ends it, with all that it has started. */
  readonly signal: AbortSignal;
}

/**
 * Has the system's shell run a line, `/bin/sh` or on Windows `cmd.exe`, as it is. What it writes goes to stderr; it has no stdin.
 *
 * @returns what it ends with; `null` when a signal ended it
 */
export function runShell(line: string, { folder, environment, signal }: ShellSetting): Promise<number | null> {
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !secrets.includes(name)));
  return new Promise((resolve, reject) => {
    const child = spawn(line, {
      shell: true,
      cwd: folder,
      env,
      stdio: ['ignore', process.stderr, process.stderr],
      detached: hasGroups, // as the leader of its own process group
    });
    const stop = () => stopGroup(child);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    child.on('error', reject);
    child.on('close', (code) => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason);
      else resolve(code);
    });
  });
}

const hasGroups = process.platform !== 'win32';

/** A shell that is ended leaves what it runs behind; its group is the shell and all of that. */
function stopGroup(child: ChildProcess): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    else child.kill('SIGTERM');
  } catch {
    // It has ended meanwhile.
  }
}
