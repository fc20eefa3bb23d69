import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { raisedQuotas } from '../helpers/raised-quotas.ts';
import type { Random } from '../helpers/random.ts';
import { tenon } from '../helpers/server.ts';
import type { Report } from './report.ts';

/** A `tenon serve` process that is restarted whenever it exits, as by a service manager. */
export interface Node {
  readonly number: number;
  /** `undefined` while the node does not listen. A paused node still has its port, as for a load balancer. */
  readonly port: number | undefined;
  /** Whether the node was stopping, down or paused at some time since `ms`. */
  wasDisruptedSince(ms: number): boolean;
  kill(signal: 'SIGKILL' | 'SIGTERM'): void;
  pause(ms: number): Promise<void>;
  /**
   * Kills one of the node's worker processes.
   *
   * @throws Error without `/proc`
   */
  killWorker(random: Random): Promise<void>;
  /** Kills the node and does not restart it. */
  stop(): Promise<void>;
}

const restartDelayMs = 100;

/** After this time clients have noticed that a killed worker's connections are closed. */
const workerDisruptionMs = 500;

/** How many log lines a violation shows. */
const maxLogLines = 20;

export function superviseNode(
  number: number,
  settings: Readonly<Record<string, string>>,
  report: Report,
  now: () => number,
): Node {
  let child: ChildProcess | undefined;
  let port: number | undefined;
  let sentSignal: NodeJS.Signals | undefined;
  let sentSignalMs = 0;
  let isDisrupted = false;
  let undisruptedSinceMs = Number.POSITIVE_INFINITY;
  let isStopping = false;

  const runOnce = async (dataDir: string): Promise<void> => {
    sentSignal = undefined;
    const startedMs = now();
    const started = spawn(process.execPath, [tenon, 'serve', '--no-demo', '--port', '0'], {
      env: { PATH: process.env.PATH, TENON_DATA_DIR: dataDir, TENON_QUOTAS: raisedQuotas, ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child = started;
    const exited = once(started, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    const lines: string[] = [];
    let wasListening = false;
    createInterface(started.stderr).on('line', (line) => {
      lines.push(line);
      if (lines.length > maxLogLines) lines.shift();
      if (line.includes('"status":500')) report.violation(`node ${number} logged ${line}`);
      if (!line.includes('"msg":"listening"')) return;
      wasListening = true;
      report.time('start to listening', now() - startedMs);
      if (child === started && sentSignal === undefined) {
        port = (JSON.parse(line) as { port: number }).port;
        undisruptedSinceMs = now();
      }
    });
    const [code, signal] = await exited;
    port = undefined;
    child = undefined;
    if (isStopping) return;
    if (sentSignal === 'SIGTERM') report.time('SIGTERM to exit', now() - sentSignalMs);
    const isExpected = sentSignal === 'SIGKILL' ? signal === 'SIGKILL' : sentSignal === 'SIGTERM' && code === 0;
    if (!wasListening) report.count('failed start');
    else if (!isExpected) {
      const how = `code ${code}, signal ${signal}, after ${sentSignal ?? 'no signal'}`;
      report.violation(`node ${number} exited unexpectedly: ${how}\n${lines.join('\n')}`);
    }
  };
  const stopped = (async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'tenon-chaos-'));
    try {
      while (!isStopping) {
        await runOnce(dataDir);
        await sleep(restartDelayMs);
      }
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  })();
  const kill = (signal: 'SIGKILL' | 'SIGTERM'): void => {
    sentSignal = signal;
    sentSignalMs = now();
    port = undefined;
    child?.kill(signal);
  };
  return {
    number,
    get port() {
      return port;
    },
    wasDisruptedSince: (ms) => isDisrupted || port === undefined || undisruptedSinceMs >= ms,
    kill,
    async pause(ms) {
      const paused = child;
      isDisrupted = true;
      paused?.kill('SIGSTOP');
      await sleep(ms);
      paused?.kill('SIGCONT');
      isDisrupted = false;
      undisruptedSinceMs = now();
    },
    async killWorker(random) {
      const pid = child?.pid;
      const workers = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean);
      isDisrupted = true;
      process.kill(Number(random.pick(workers)), 'SIGKILL');
      await sleep(workerDisruptionMs);
      isDisrupted = false;
      undisruptedSinceMs = now();
    },
    async stop() {
      isStopping = true;
      child?.kill('SIGCONT');
      kill('SIGKILL');
      await stopped;
    },
  };
}
