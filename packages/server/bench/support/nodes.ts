import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Readable } from 'node:stream';

const tenon = join(import.meta.dirname, '../../../cli/bin/tenon.mjs');

/** A `tenon serve`. */
export interface Node {
  readonly port: number;
  readonly pid: number;
  /** @throws Error when it doesn't end in order */
  stop(): Promise<void>;
}

export interface NodeOptions {
  /** For its data, and its log. */
  readonly folder: string;
  /** Its data, where another node has the same; a folder of its own without it. */
  readonly dataDir?: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Starts a server as an operator does, with the settings' defaults, the log too, except that every account may make applications.
 *
 * @returns when it listens
 */
export async function startNode({ folder, dataDir = join(folder, 'data'), environment }: NodeOptions): Promise<Node> {
  mkdirSync(folder, { recursive: true });
  const log = join(folder, 'log');
  const args = [tenon, 'serve', '--json', '--no-demo', '--port', '0', '--data-dir', dataDir];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, TENON_CREATE_APPS: 'all', ...environment },
    stdio: ['ignore', 'pipe', openSync(log, 'w')],
  });
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  const said = once(child.stdout as Readable, 'data') as Promise<[Buffer]>;
  const [line] = (await Promise.race([said, ended.then(() => undefined)])) ?? [];
  if (line === undefined) throw new Error(`A server did not start:\n${readFileSync(log, 'utf8')}`);
  const { port } = JSON.parse(line.toString()) as { port: number };
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      const [code, signal] = await ended;
      if (code !== 0) throw new Error(`A server ended with ${signal ?? code}:\n${readFileSync(log, 'utf8')}`);
    },
  };
}
