import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { binary } from './binary.ts';

/** util-linux's `script` gives a program a terminal of its own. Other systems have another `script`, or none. */
export function hasScript(): boolean {
  if (process.platform !== 'linux') return false;
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, 'script'), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** What is typed, once the screen shows what it answers. */
export type Reply = readonly [shown: RegExp, typed: string];

export interface TerminalSetting {
  readonly environment: Readonly<Record<string, string>>;
  readonly replies?: readonly Reply[];
}

export interface InTerminal {
  readonly child: ChildProcess;
  /** What the screen has shown so far, with all that steers it. */
  readonly screen: () => string;
  readonly ended: Promise<{ readonly screen: string; readonly exitCode: number | null }>;
}

/** Runs the program in a terminal, and types each reply when it is its turn. */
export function inTerminal(args: readonly string[], { environment, replies = [] }: TerminalSetting): InTerminal {
  const command = [process.execPath, binary, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  const left = [...replies];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const [next] = left;
    if (next === undefined || !next[0].test(screen)) return;
    left.shift();
    child.stdin.write(next[1]);
  });
  const ended = new Promise<{ screen: string; exitCode: number | null }>((resolve) => {
    child.on('close', (exitCode) => resolve({ screen, exitCode }));
  });
  return { child, screen: () => screen, ended };
}
