import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const binary = fileURLToPath(new URL('../../bin/tenon.mjs', import.meta.url));

export interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when stdout has something that matches; rejects when the process ends before. */
  readonly says: (pattern: RegExp) => Promise<void>;
}

export interface StartSetting {
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  readonly cwd?: string;
  /** What the command line begins with. */
  readonly within?: readonly string[];
}

/** Starts the real program in a process of its own, with nothing in its environment but what is given. */
export function start(
  args: readonly string[],
  { environment = {}, nodeOptions = [], cwd, within = [] }: StartSetting = {},
): Running {
  const [program = '', ...rest] = [...within, process.execPath, ...nodeOptions, binary, ...args];
  const child = spawn(program, rest, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const look of waiting) look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
  });
  const says = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!pattern.test(stdout)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      ended.then(() => reject(new Error(`It ended without saying ${pattern}: ${stdout}${stderr}`)));
    });
  return { child, ended, says };
}
