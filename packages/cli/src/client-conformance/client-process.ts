import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { Environment } from '../environment.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';

/** The plugins that a client shows: content addresses by name. */
export type ShownState = ReadonlyMap<string, string>;

export interface ClientCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Environment;
}

/** A client under test, in a process of its own. */
export interface ClientProcess {
  /** The latest state; `undefined` before the first. */
  readonly state: ShownState | undefined;
  /** All states, the oldest first. */
  readonly states: readonly ShownState[];
  /** What it wrote to stderr, the end at most. */
  readonly stderr: string;
  /** What is wrong with its output, in words. */
  readonly faults: readonly string[];
  /** How it ended, in words; `undefined` while it runs. */
  readonly ending: string | undefined;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
}

const maxLineChars = 16 * 1024 * 1024;
const maxStderrChars = 64 * 1024;
const hasGroups = process.platform !== 'win32';

/** @throws CliError `command_not_started` */
export async function startClient({ program, args, folder, environment }: ClientCommand): Promise<ClientProcess> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: hasGroups, // as the leader of its own process group
  });
  const states: ShownState[] = [];
  const faults: string[] = [];
  let [stderr, line] = ['', ''];
  let ending: string | undefined;

  function read(text: string): void {
    const lines = (line + text).split('\n');
    line = lines.pop() ?? '';
    for (const each of lines) {
      const state = parseState(each);
      if (state === undefined) faults.push(`a line of its stdout is no state: ${each.slice(0, 200)}`);
      else states.push(state);
    }
    if (line.length > maxLineChars) {
      faults.push('a line of its stdout is too long');
      line = '';
    }
  }

  child.stdout.setEncoding('utf8').on('data', read);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-maxStderrChars);
  });
  const ended = once(child, 'close');
  ended.then(
    ([code, signal]) => {
      ending = signal === null ? `exit code ${code}` : `${signal}`;
    },
    () => {},
  );
  try {
    await once(child, 'spawn');
  } catch (error) {
    const message = `${JSON.stringify(program)} can't be started: ${(error as Error).message}`;
    throw new CliError('command_not_started', message, { exitCode: exitCodes.usage, cause: error });
  }
  return {
    states,
    faults,
    get state() {
      return states.at(-1);
    },
    get stderr() {
      return stderr;
    },
    get ending() {
      return ending;
    },
    async kill() {
      if (ending !== undefined) return;
      killGroup(child);
      await ended;
    },
  };
}

/** A program that is started by a shell or a build tool ends with it. */
function killGroup(child: ChildProcess): void {
  try {
    if (hasGroups && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Reads `{"<name>": "<content address>"}`. A map, because names such as `__proto__` are keys, too. */
function parseState(line: string): ShownState | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every(([, address]) => typeof address === 'string') ? new Map(entries) : undefined;
}
