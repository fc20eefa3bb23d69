import { spawn } from 'node:child_process';
import process from 'node:process';
import type { Environment } from './environment.ts';

/** What a program that others wrote has no business with. */
const secrets = ['TENON_TOKEN', 'TENON_API_KEY'];

export interface ShellSetting {
  readonly folder: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

/**
 * Has the system's shell run a line, `/bin/sh` or on Windows `cmd.exe`, as it is. What it writes goes to stderr.
 *
 * @returns what it ends with; `null` when a signal ended it
 */
export function runShell(line: string, { folder, environment, signal }: ShellSetting): Promise<number | null> {
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !secrets.includes(name)));
  return new Promise((resolve, reject) => {
    const child = spawn(line, { shell: true, cwd: folder, env, stdio: ['inherit', process.stderr, process.stderr] });
    const stop = () => void child.kill('SIGTERM');
    signal.addEventListener('abort', stop);
    child.on('error', reject);
    child.on('close', (code) => {
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason);
      else resolve(code);
    });
  });
}
