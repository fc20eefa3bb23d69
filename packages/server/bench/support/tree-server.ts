import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/** `npm start` of a checkout, without npm. */
export interface TreeServer {
  readonly port: number;
  readonly pid: number;
  /** The time from the start of the process to the first successful response. */
  readonly startMs: number;
  stop(): Promise<void>;
}

const startTimeoutMs = 600_000;

export async function startTreeServer(
  tree: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<TreeServer> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const log = join(folder, 'log');
  const args = ['--production', 'packages/cli/bin/tenon.mjs', 'serve', '--data-dir', join(folder, 'data')];
  const startedMs = performance.now();
  const child = spawn(process.execPath, [join(tree, 'scripts/run.mjs'), ...args, '--port', String(port)], {
    env: { PATH: process.env.PATH, TENON_CREATE_APPS: 'all', ...environment },
    stdio: ['ignore', 'ignore', openSync(log, 'w')],
  });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  while (!(await isReady(port))) {
    const hasExited = child.exitCode !== null || child.signalCode !== null;
    if (hasExited || performance.now() - startedMs > startTimeoutMs) {
      child.kill('SIGKILL');
      throw new Error(`The server of ${tree} did not start:\n${readFileSync(log, 'utf8')}`);
    }
    await sleep(2);
  }
  const startMs = performance.now() - startedMs;
  return {
    port,
    pid: child.pid ?? 0,
    startMs,
    async stop() {
      child.kill('SIGTERM');
      const [code, signal] = await exited;
      if (code !== 0)
        throw new Error(`The server of ${tree} exited with ${signal ?? code}:\n${readFileSync(log, 'utf8')}`);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ port, host: '127.0.0.1', path: '/readyz', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });
}
