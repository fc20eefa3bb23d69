import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { raisedQuotas } from '../../../../test/helpers/raised-quotas.ts';
import { until } from '../../../../test/helpers/until.ts';
import type { Config } from '../../src/config/config.ts';
import { readAnswer, requestOf, type WireAnswer } from './wire.ts';

/** A server in a process of its own, on the data of a service of the test's, which makes users and tokens for it. */
export interface Served {
  readonly url: string;
  /** A metric's value, over all labels. */
  metric(name: string): Promise<number>;
  /** How many files and sockets it has open; `undefined` where the system doesn't tell. */
  openFiles(): Promise<number | undefined>;
  /** A connection, which is closed at the end at the latest. */
  connect(): Promise<Socket>;
  /** Sends a request on a connection of its own, and reads the answer. */
  ask(lines: readonly string[], body?: string | Buffer): Promise<WireAnswer>;
  /** Ends it by SIGTERM, in order. */
  stop(): Promise<void>;
}

const script = fileURLToPath(new URL('serve-child.ts', import.meta.url));

/**
 * @param settings `TENON_…` variables but the log's level and the metrics' port, which is one that is free
 * @param constants values of the configuration that no variable sets
 */
export async function serveApart(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  constants: Partial<Config> = {},
): Promise<Served> {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('TENON_'));
  const env = {
    ...Object.fromEntries(others),
    TENON_QUOTAS: raisedQuotas,
    ...settings,
    TENON_METRICS_PORT: '0',
    TENON_LOG_LEVEL: 'info',
    SERVE_CONSTANTS: JSON.stringify(constants),
  };
  const child = spawn(process.execPath, [script, dataDir], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-100_000);
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const url = await Promise.race([
    once(child.stdout.setEncoding('utf8'), 'data').then(([text]) => String(text).trim()),
    ended.then(() => assert.fail(`The server ended:\n${log}`)),
  ]);
  const metricsPort = await metricsPortIn(() => log);
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();

  const served: Served = {
    url,
    async metric(name) {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(([, value]) =>
        Number(value),
      );
      assert.ok(values.length > 0, `there is no metric ${name}`);
      return values.reduce((sum, value) => sum + value, 0);
    },
    openFiles: () =>
      readdir(`/proc/${child.pid}/fd`).then(
        (names) => names.length,
        () => undefined,
      ),
    async connect() {
      const socket = connect({ host: hostname, port: Number(port) });
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
      await once(socket, 'connect');
      return socket;
    },
    async ask(lines, body) {
      const socket = await served.connect();
      socket.write(requestOf([...lines, 'host: x'], body));
      try {
        return await readAnswer(socket, lines[0]?.startsWith('HEAD '));
      } finally {
        socket.destroy();
      }
    },
    async stop() {
      child.kill('SIGTERM');
      const end = await ended;
      for (const socket of sockets) socket.destroy();
      assert.deepEqual(end, [0, null], `The server said:\n${log}`);
    },
  };
  return served;
}

/** The log has it in the line that says that it listens, which comes by another pipe than the URL. */
async function metricsPortIn(log: () => string): Promise<number> {
  const message = () => `The log has no metrics port:\n${log()}`;
  return Number(await until(() => /"metricsPort":(\d+)/.exec(log())?.[1], { message }));
}

/** Waits until a metric of a server is at most `most`. */
export async function untilAtMost(served: Served, name: string, most: number): Promise<void> {
  await until(async () => (await served.metric(name)) <= most, { message: `${name} stays above ${most}` });
}
