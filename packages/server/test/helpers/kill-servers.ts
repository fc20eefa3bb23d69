import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '../../../../test/helpers/until.ts';

const script = fileURLToPath(new URL('serve-child.ts', import.meta.url));

/** What a server does that is killed meanwhile. */
export interface KilledWork {
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  /** How much it has done. */
  count(): number;
  isDone(): boolean;
  /** It is killed after so much of the work. */
  readonly step: number;
}

/** Starts servers with the data of one folder, each after the one before was killed, until the work is done. Returns how many. */
export async function killServers({ dataDir, environment, count, isDone, step }: KilledWork): Promise<number> {
  const env = { ...process.env, ...environment };
  let kills = 0;
  let child: ChildProcess | undefined;
  try {
    while (!isDone()) {
      const before = count();
      child = spawn(process.execPath, [script, dataDir], { env, stdio: 'ignore' });
      await Promise.race([until(() => count() >= before + step || isDone()), sleep(15_000)]);
      await sleep(Math.random() * 20);
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      kills++;
    }
  } finally {
    child?.kill('SIGKILL');
  }
  return kills;
}
