import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ServiceOptions } from '../../packages/server/test/helpers/service.ts';
import { tenon } from './server.ts';
import { until } from './until.ts';

const script = fileURLToPath(new URL('../../packages/server/test/helpers/serve-child.ts', import.meta.url));

/** A mirror in a process of its own, with a data folder that outlives it. */
export interface MirrorProcess {
  readonly folder: string;
  /** A token for hosts. */
  readonly token: string;
  /** Where it answers. */
  url(): string;
  log(): string;
  start(): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
  metric(name: string): Promise<number>;
  isReady(): Promise<boolean>;
  /** Requests a path with the hosts' token. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Replaces the file that names the source. */
  write(content: MirrorFile): Promise<void>;
  /** Ends it in order, and removes the folder. */
  close(): Promise<void>;
}

export interface MirrorFile {
  readonly source: string;
  readonly token: string;
  readonly extensionPoints?: readonly string[];
}

export interface MirrorOptions {
  /** Another node of the same mirror, whose data folder and token this one uses. */
  readonly nodeOf?: MirrorProcess;
  readonly settings?: Readonly<Record<string, string>>;
  readonly constants?: ServiceOptions['config'];
}

/** Makes a mirror that was not started. */
export async function makeMirror(content: MirrorFile, options: MirrorOptions = {}): Promise<MirrorProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-mirror-'));
  const file = join(folder, 'mirror.json');
  const dataDir = join(options.nodeOf?.folder ?? folder, 'data');
  const write = (next: MirrorFile) => writeFile(file, JSON.stringify(next), { mode: 0o600 });
  await write(content);
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('TENON_'));
  const env = {
    ...Object.fromEntries(others),
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
    TENON_MIRROR_FILE: file,
    TENON_METRICS_PORT: '0',
    TENON_LOG_LEVEL: 'info',
    SERVE_CONSTANTS: JSON.stringify({ mirrorLeaseMs: 1500, ...options.constants }),
    ...options.settings,
  };
  const words = ['admin', 'host-token', 'create', '--json', ...(options.settings ? [] : ['--store', dataDir])];
  const createToken = async (): Promise<string> =>
    JSON.parse((await promisify(execFile)(process.execPath, [tenon, ...words], { env })).stdout).token;
  const token = options.nodeOf?.token ?? (await createToken());
  let child: ReturnType<typeof spawn> | undefined;
  let [url, log, metricsPort] = ['', '', ''];
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    const [code] = await ended;
    if (signal === 'SIGTERM') assert.equal(code, 0, log);
  };
  const get = (path: string, headers = {}) =>
    fetch(url + path, { headers: { authorization: `Bearer ${token}`, ...headers } });
  return {
    folder,
    token,
    url: () => url,
    log: () => log,
    async start() {
      [log, metricsPort] = ['', ''];
      const started = spawn(process.execPath, [script, dataDir], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      child = started;
      started.stderr.setEncoding('utf8').on('data', (text: string) => {
        log = (log + text).slice(-50_000);
        metricsPort ||= /"metricsPort":(\d+)/.exec(log)?.[1] ?? '';
      });
      const ended = once(started, 'exit').then(() => undefined);
      const said = await Promise.race([once(started.stdout.setEncoding('utf8'), 'data'), ended]);
      if (said === undefined) throw new Error(`The mirror ended:\n${log}`);
      url = String(said[0]).trim();
    },
    kill: () => end('SIGKILL'),
    async metric(name) {
      await until(() => metricsPort !== '');
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
      assert.ok(value !== undefined, `there is no metric ${name}`);
      return Number(value.replace('+Inf', 'Infinity'));
    },
    isReady: async () => (await fetch(`${url}/readyz`)).ok,
    get,
    write,
    async close() {
      await end('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
