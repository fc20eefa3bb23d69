import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { until } from '../../../../test/helpers/until.ts';

const script = fileURLToPath(new URL('./serve-child.ts', import.meta.url));

/** A server of several processes, in a process group of its own. */
export interface ServedByWorkers {
  readonly child: ChildProcess;
  readonly url: string;
  /** What is in `quickstart.env`. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly output: () => string;
  /** What was logged so far. */
  readonly log: () => LogLine[];
  /** The processes that serve, or have, by the number of their worker: the last one stands last. */
  pids(worker: number): number[];
  /** Resolves when none of its processes is left: all of them hold its output open. */
  readonly gone: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export interface LogLine {
  readonly msg: string;
  readonly level: number;
  readonly worker?: number;
  readonly pid?: number;
  readonly metricsPort?: number;
  readonly url?: string;
}

/** Starts `serve-child.ts`, and waits until it serves. */
export async function serveByWorkers(
  dataDir: string,
  workers: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServedByWorkers> {
  const child = spawn(process.execPath, [script, dataDir], {
    env: { PATH: process.env.PATH, TENON_WORKERS: String(workers), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const gone = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  while (!output.includes('\n')) {
    await Promise.race([once(child.stdout, 'data'), gone]);
    assert.ok(child.exitCode === null && child.signalCode === null, log);
  }
  const lines = (): LogLine[] => {
    const whole = log.slice(0, log.lastIndexOf('\n') + 1).split('\n');
    return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  };
  const served: ServedByWorkers = {
    child,
    url: output.trim(),
    values: parseEnv(readFileSync(join(dataDir, 'quickstart.env'), 'utf8')),
    output: () => output,
    log: lines,
    pids: (worker) =>
      lines().flatMap((line) => (line.worker === worker && line.msg === 'listening' ? [line.pid ?? 0] : [])),
    gone,
  };
  for (let worker = 2; worker <= workers; worker++)
    await until(() => served.pids(worker).length > 0, { message: () => log });
  return served;
}

/** Kills what may be left of it. */
export function killAll({ child }: ServedByWorkers): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // nothing is left
  }
}

/** An answer to a request over a connection. */
export interface ConnectionAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One connection that is kept, and so one worker, until it is closed. */
export interface Connection {
  ask(
    path: string,
    options?: {
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: Buffer | string;
    },
  ): Promise<ConnectionAnswer>;
  close(): void;
}

/** @param token what each request is made with, unless it says otherwise */
export function openConnection(url: string, token: string | undefined): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async ask(path, { method = 'GET', headers = {}, body } = {}) {
      const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const asking = request(url + path, { method, agent, headers: { ...authorization, ...headers } }).end(body);
      const [response] = await once(asking, 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() };
    },
    close: () => agent.destroy(),
  };
}
