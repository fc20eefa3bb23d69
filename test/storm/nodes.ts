import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { raisedQuotas } from '../helpers/raised-quotas.ts';
import { tenon } from '../helpers/server.ts';
import type { Notes } from './notes.ts';
import type { Chance } from './random.ts';

/** A `tenon serve`, which is started again whenever it ends, as a service manager would. */
export interface Node {
  readonly number: number;
  /** Where it listens; `undefined` while it doesn't. */
  readonly port: number | undefined;
  /** Whether it was told to go, was gone or stood still at that time or since. */
  wasDisturbedSince(ms: number): boolean;
  kill(signal: 'SIGKILL' | 'SIGTERM'): void;
  /** Has it stand still. */
  pause(ms: number): Promise<void>;
  /** Kills one of the processes that it has started. Where it can't be told which these are, it throws. */
  killWorker(chance: Chance): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

const restartMs = 100;

/** How long it takes until all have noticed that connections are gone. */
const goneMs = 500;

/** What has a node be wrong, where somebody wants to know whether that is found. */
const plant = join(import.meta.dirname, 'plant.ts');

/** How many lines of the log are shown when something was wrong. */
const shownLines = 20;

export function superviseNode(
  number: number,
  environment: Readonly<Record<string, string>>,
  notes: Notes,
  now: () => number,
): Node {
  let child: ChildProcess | undefined;
  let port: number | undefined;
  let sent: NodeJS.Signals | undefined;
  let sentMs = 0;
  let isPaused = false;
  let undisturbedMs = Number.POSITIVE_INFINITY;
  let isStopping = false;

  /** From a start to its end. */
  const run = async (dataDir: string): Promise<void> => {
    sent = undefined;
    const planting = environment.STORM_PLANT === undefined ? [] : ['--import', plant];
    const startedMs = now();
    const started = spawn(process.execPath, [...planting, tenon, 'serve', '--no-demo', '--port', '0'], {
      env: { PATH: process.env.PATH, TENON_DATA_DIR: dataDir, TENON_QUOTAS: raisedQuotas, ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    const exited = once(started, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const lines: string[] = [];
    let wasListening = false;
    createInterface(started.stderr).on('line', (line) => {
      lines.push(line);
      if (lines.length > shownLines) lines.shift();
      if (line.includes('"status":500')) notes.wrong(`node ${number} logs ${line}`);
      if (!line.includes('"msg":"listening"')) return;
      wasListening = true;
      notes.time('from a start to listening', now() - startedMs);
      if (child === started && sent === undefined) {
        port = (JSON.parse(line) as { port: number }).port;
        undisturbedMs = now();
      }
    });
    const [code, signal] = await exited;
    port = undefined;
    child = undefined;
    if (isStopping) return;
    if (sent === 'SIGTERM') notes.time('from SIGTERM to the end', now() - sentMs);
    const isAsked = sent === 'SIGKILL' ? signal === 'SIGKILL' : sent === 'SIGTERM' && code === 0;
    if (!wasListening) notes.count('a start that failed');
    else if (!isAsked) {
      const how = `code ${code}, signal ${signal}, after ${sent ?? 'nothing was sent'}`;
      notes.wrong(`node ${number} ended by itself: ${how}\n${lines.join('\n')}`);
    }
  };
  const ended = (async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tenon-storm-'));
    try {
      while (!isStopping) {
        await run(dataDir);
        await sleep(restartMs);
      }
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  })();
  const kill = (signal: 'SIGKILL' | 'SIGTERM'): void => {
    sent = signal;
    sentMs = now();
    port = undefined;
    child?.kill(signal);
  };
  return {
    number,
    get port() {
      return port; // also while it stands still, of which a balancer knows nothing
    },
    wasDisturbedSince: (ms) => isPaused || port === undefined || undisturbedMs >= ms,
    kill,
    async pause(ms) {
      const paused = child;
      isPaused = true;
      paused?.kill('SIGSTOP');
      await sleep(ms);
      paused?.kill('SIGCONT');
      isPaused = false;
      undisturbedMs = now();
    },
    async killWorker(chance) {
      const pid = child?.pid;
      const workers = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'))
        .split(' ')
        .filter((one) => one !== '');
      isPaused = true; // for those who ask on its connections
      process.kill(Number(chance.pick(workers)), 'SIGKILL');
      await sleep(goneMs);
      isPaused = false;
      undisturbedMs = now();
    },
    async stop() {
      isStopping = true;
      child?.kill('SIGCONT');
      kill('SIGKILL');
      await ended;
    },
  };
}
