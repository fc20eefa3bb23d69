import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { raisedQuotas } from '../../../../test/helpers/raised-quotas.ts';
import type { Config } from '../../src/config/config.ts';

/** A server process on the data of a test's service, which the test kills and starts again. */
export interface KilledServer {
  /** Where it answers; `undefined` while it does not. */
  readonly url: string | undefined;
  /** Starts it. Resolves when it answers, or when it was killed before. @throws an error if it ends without a kill */
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Kills one of its processes of simulations. @returns whether there was one */
  killSimulation(): boolean;
}

const script = fileURLToPath(new URL('serve-child.ts', import.meta.url));

/** @param constants values of the configuration that no variable sets */
export function killedServer(dataDir: string, constants: Partial<Config>): KilledServer {
  let child: ChildProcess | undefined;
  let url: string | undefined;
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: join(dataDir, 'compiled'), // for quick starts
    TENON_QUOTAS: raisedQuotas,
    SERVE_CONSTANTS: JSON.stringify(constants),
  };
  return {
    get url() {
      return url;
    },
    async start() {
      const started = spawn(process.execPath, [script, dataDir], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child = started;
      let log = '';
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        log = (log + text).slice(-20_000);
      });
      const [said, ended] = [once(started.stdout.setEncoding('utf8'), 'data'), once(started, 'exit')];
      started.once('exit', () => {
        if (child === started) url = undefined;
      });
      const first = await Promise.race([said, ended.then(() => undefined)]);
      if (first !== undefined) url = String(first[0]).trim();
      else if (started.signalCode !== 'SIGKILL') throw new Error(`The server ended:\n${log}`);
    },
    async kill() {
      const killed = child;
      url = undefined;
      if (killed === undefined || killed.exitCode !== null || killed.signalCode !== null) return;
      const ended = once(killed, 'exit');
      killed.kill('SIGKILL');
      await ended;
    },
    killSimulation() {
      const pids = childrenOf(child?.pid).filter((pid) => read(`/proc/${pid}/cmdline`).includes('sandbox-process'));
      const pid = pids[Math.floor(Math.random() * pids.length)];
      try {
        return pid !== undefined && process.kill(pid, 'SIGKILL');
      } catch {
        return false; // it has ended
      }
    },
  };
}

const childrenOf = (pid: number | undefined): number[] =>
  read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
