import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender } from './contenders.ts';

/** Another project's server, installed into a folder. */
export interface Peer {
  readonly name: string;
  /** Gets it, and starts it. @throws Error when it can't be had here */
  start(folder: string): Promise<Contender>;
}

/** Runs a program to its end. @throws Error with what it said when it fails */
export async function runProgram(command: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null]; // a program that isn't there throws
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${said.trimEnd().slice(-2000)}`);
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

export interface RunningProgram {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a server, and waits until a path of it answers 200. */
export async function startProgram(
  command: string,
  args: readonly string[],
  { folder, readyUrl }: { readonly folder: string; readonly readyUrl: string },
): Promise<RunningProgram> {
  const log = join(folder, 'log');
  const output = openSync(log, 'w');
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', output, output],
  });
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  for (let tries = 0; ; tries++) {
    const isReady = (await fetch(readyUrl).catch(() => undefined))?.ok === true;
    if (isReady) return { pid: child.pid ?? 0, stop };
    if (child.exitCode !== null || tries > 600) {
      child.kill('SIGKILL');
      throw new Error(`${command} did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`);
    }
    await sleep(100);
  }
}

/** Asks once, while things are set up. @throws Error for another status */
export async function expect(status: number, url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, { redirect: 'error', ...init });
  if (response.status === status) return response;
  throw new Error(`${init.method ?? 'GET'} ${url}: ${response.status} ${await response.text()}`);
}
